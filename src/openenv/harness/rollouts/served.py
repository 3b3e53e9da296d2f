"""Sessions of any served environment: by its own tools, or else by one that takes its actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from openenv.client.generic import GenericEnvClient
from openenv.client.results import StepResult
from openenv.env.tool_models import Tool
from openenv.harness.rollouts.acting import action_tool, seen
from openenv.harness.rollouts.calls import as_text
from openenv.harness.rollouts.client_session import ClientSession, RewardOf
from openenv.harness.rollouts.results import Message, ToolResult
from openenv.harness.rollouts.sessions import ResourceSessionFactory
from openenv.harness.rollouts.step_session import StepEnvSessionAdapter
from openenv.harness.rollouts.tool_session import ToolSessionAdapter
from openenv.protocol.errors import InvalidRequest, Json, ProtocolError


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
    """

    def __init__(
        self,
        base_url: str,
        *,
        options: Mapping[str, Any] | None = None,
        reward: RewardOf = "sum",
        wait_s: float = 0.0,
    ) -> None:
        self._base_url = base_url
        self._options = dict(options or {})
        self._reward: RewardOf = reward
        self._wait_s = wait_s
        self._action: Tool | None = None

    def create(
        self, task: Any, seed: int | None = None, episode_id: str | None = None
    ) -> ClientSession:
        """Begins an episode.

        Raises:
            OpenEnvError: the server refused, did not answer, or does not tell what an action is.
        """
        client = GenericEnvClient(base_url=self._base_url, wait_s=self._wait_s)
        common: dict[str, Any] = {
            "task": task,
            "seed": seed,
            "episode_id": episode_id,
            "initial_messages_builder": _introduction,
            "reset_kwargs": self._options,
            "reward": self._reward,
        }
        if self._action is None:
            session = _by_tools(client, common)
            if session is not None:
                return session
            self._action = action_tool(client._endpoint)
        tools = [self._action]
        return _ActionSession(client, tool_specs=tools, action_builder=_as_action, **common)


class _ActionSession(StepEnvSessionAdapter):
    """A session whose model sees the observations, and nothing beside them."""

    def _plain_result(
        self, name: str, arguments: Json, result: StepResult[Any], state: Any
    ) -> ToolResult:
        plain = super()._plain_result(name, arguments, result, state)
        return replace(plain, data=seen(result.observation))


def _by_tools(client: GenericEnvClient, options: dict[str, Any]) -> ToolSessionAdapter | None:
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


def _introduction(first: StepResult[Any], task: Any) -> list[Message]:
    begun = as_text(seen(first.observation))
    if isinstance(task, list):
        return [*task, {"role": "user", "content": begun}]
    parts = [] if task is None else [as_text(task)]
    return [{"role": "user", "content": "\n\n".join([*parts, begun])}]
