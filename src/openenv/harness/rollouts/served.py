"""Sessions of any served environment: by its own tools, or else by one that takes its actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

from pydantic import BaseModel

from openenv.client.env_client import EnvClient
from openenv.client.generic import GenericEnvClient
from openenv.client.results import StepResult
from openenv.env.tool_models import Tool
from openenv.harness.rollouts.client_session import ClientSession, MessagesBuilder, RewardOf
from openenv.harness.rollouts.results import Message, ToolResult
from openenv.harness.rollouts.sessions import ResourceSessionFactory
from openenv.harness.rollouts.step_session import StepEnvSessionAdapter
from openenv.harness.rollouts.tool_session import ToolSessionAdapter
from openenv.protocol.errors import ConfigurationError, InvalidRequest, Json, ProtocolError
from openenv.rollout.policies.acting import action_tool, as_text, seen

Moves: TypeAlias = Literal["auto", "tools", "actions"]
"""How a model moves: by the environment's tools, by its actions, or by tools where it has some."""


def shown(observation: Any) -> str:
    """An observation as a model reads it."""
    return as_text(_seen(observation))


def _seen(observation: Any) -> Any:
    return seen(observation.model_dump() if isinstance(observation, BaseModel) else observation)


def _introduction(first: StepResult[Any], task: Any) -> list[Message]:
    begun = shown(first.observation)
    if isinstance(task, list):
        return [*task, {"role": "user", "content": begun}]
    parts = [] if task is None else [as_text(task)]
    return [{"role": "user", "content": "\n\n".join([*parts, begun])}]


class ServedSessions(ResourceSessionFactory[ClientSession]):
    """Makes sessions of whatever a server serves, without a line for the environment.

    A model calls the environment's own tools; where it has none, one tool `act` takes the fields
    of its actions. It is told the task, if there is one, and the first observation.

    Args:
        base_url: the server's address.
        options: what each reset is given beside the seed and the episode's name.
        reward: an episode's reward: the `"sum"` of its steps', its return, as nothing is known of
            the environment; or its `"last"`, as other sessions have it.
        wait_s: how long to queue when the server is full; 0 fails at once.
        moves: `"tools"`, `"actions"`, or `"auto"`: tools where the environment has some. Some
            environments have both, and pay for one kind only.
        introduction: what the model is told first, by the reset's result and the task.
        client: makes the clients, by `base_url` and `wait_s`: a client class.
    """

    def __init__(  # noqa: PLR0913  # each is a user's to set
        self,
        base_url: str,
        *,
        options: Mapping[str, Any] | None = None,
        reward: RewardOf = "sum",
        wait_s: float = 0.0,
        moves: Moves = "auto",
        introduction: MessagesBuilder = _introduction,
        client: Callable[..., EnvClient[Any, Any, Any]] = GenericEnvClient,
    ) -> None:
        if moves not in get_args(Moves):
            raise ConfigurationError(f"moves must be one of {get_args(Moves)}, got {moves!r}")
        self._base_url = base_url
        self._options = dict(options or {})
        self._reward: RewardOf = reward
        self._wait_s = wait_s
        self._moves = moves
        self._introduction = introduction
        self._client = client
        self._action: Tool | None = None

    def create(
        self, task: Any, seed: int | None = None, episode_id: str | None = None
    ) -> ClientSession:
        """Begins an episode.

        Raises:
            OpenEnvError: the server refused, did not answer, or does not tell what an action is.
        """
        return self.begin(self.connect(), task, {"seed": seed, "episode_id": episode_id})

    def connect(self) -> EnvClient[Any, Any, Any]:
        """A client of the server, which connects at its first call."""
        return self._client(base_url=self._base_url, wait_s=self._wait_s)

    def begin(
        self, client: EnvClient[Any, Any, Any], task: Any, options: Mapping[str, Any]
    ) -> ClientSession:
        """Begins an episode on a client, which may have played others before.

        Args:
            client: the client; closed with the session, and if anything fails.
            task: what the episode is about.
            options: what this reset is given beside what each is; `None` counts as nothing.

        Raises:
            OpenEnvError: as `create`.
        """
        given = {name: value for name, value in options.items() if value is not None}
        common: dict[str, Any] = {
            "task": task,
            "initial_messages_builder": self._introduction,
            "reset_kwargs": {**self._options, **given},
            "reward": self._reward,
        }
        if self._moves == "tools":
            return ToolSessionAdapter(client, **common)
        if self._moves == "auto" and self._action is None:
            session = _by_tools(client, common)
            if session is not None:
                return session
        if self._action is None:
            self._action = action_tool(client._endpoint)
        tools = [self._action]
        return _ActionSession(client, tool_specs=tools, action_builder=_as_action, **common)


class _ActionSession(StepEnvSessionAdapter):
    """A session whose model sees the observations, and nothing beside them."""

    def _plain_result(
        self, name: str, arguments: Json, result: StepResult[Any], state: Any
    ) -> ToolResult:
        plain = super()._plain_result(name, arguments, result, state)
        return replace(plain, data=_seen(result.observation))


def _by_tools(
    client: EnvClient[Any, Any, Any], options: dict[str, Any]
) -> ToolSessionAdapter | None:
    """A session by the server's tools; `None` if it has none."""
    try:
        session = ToolSessionAdapter(client, **options)
    except (InvalidRequest, ProtocolError):  # whatever is wrong with the reset shows again
        return None
    if session.list_tools():
        return session
    session.close()
    return None


def _as_action(name: str, arguments: Json) -> Json:
    return arguments
