"""A server's own tools, as a session."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from openenv.client.results import StepResult
from openenv.env.tool_content import plain_result
from openenv.env.tool_models import RESERVED_TOOL_NAMES, CallToolAction, ListToolsAction, Tool
from openenv.harness.rollouts.client_session import (
    ClientSession,
    MessagesBuilder,
    RewardOf,
    VerifyBuilder,
)
from openenv.harness.rollouts.results import Message, ToolResult
from openenv.protocol.errors import Json, ProtocolError
from openenv.rollout.policies.acting import as_text

_TOOL = TypeAdapter(Tool)


class ToolSessionAdapter(ClientSession):
    """An episode of an environment that has tools, whichever they are.

    Works with any client whose server has tools, such as `MCPToolClient` and `GenericEnvClient`.
    Calls go to the trainer's own session, so that their rewards and the episode's end come with
    them. The episode is reset when the session is made; if anything fails then, the client is
    closed.

    Args:
        client: its client, which becomes this session's own; closed with it.
        task: what the episode is about; by default the first message: a conversation as it is,
            anything else as what the user says.
        seed: given to the reset, if there is one.
        episode_id: likewise.
        initial_messages_builder: what the model is told first, by the reset's result and the task.
        verify_builder: how the episode is judged; by default by its reward.
        reset_kwargs: what else the reset is given; it goes before `seed` and `episode_id`.
        reward: an episode's reward: the `"last"` call's, or the `"sum"` of all so far.

    Raises:
        OpenEnvError: the reset failed, or the server has no tools.
    """

    def __init__(  # noqa: PLR0913  # as StepEnvSessionAdapter
        self,
        client: Any,
        *,
        task: Any = None,
        seed: int | None = None,
        episode_id: str | None = None,
        initial_messages_builder: MessagesBuilder | None = None,
        verify_builder: VerifyBuilder | None = None,
        reset_kwargs: Json | None = None,
        reward: RewardOf = "last",
    ) -> None:
        super().__init__(client, verify_builder, reward)
        try:
            first = self._begin(seed, episode_id, reset_kwargs)
            self._tools = listed(self._client.step(ListToolsAction()))
            self._messages = (initial_messages_builder or _as_conversation)(first, task)
        except BaseException:
            self.close()
            raise

    def initial_messages(self) -> list[Message]:
        """What the builder made of the reset, or the task."""
        return list(self._messages)

    def list_tools(self) -> list[Tool]:
        """The server's tools."""
        return list(self._tools)

    def call_tool(self, name: str, arguments: Json) -> ToolResult:
        """Calls a tool of the server; what the server says is wrong is the result's `error`.

        Raises:
            OpenEnvError: the server did not answer.
        """
        result = self._act(CallToolAction(tool_name=name, arguments=arguments))
        called = _fields(result.observation)
        data, wrong = plain_result(called.get("result"))
        error = called.get("error")
        if error is not None:
            wrong = str(_fields(error).get("message") or error)
        return ToolResult(data, result.done, self._score.as_metadata(), wrong)


def _as_conversation(first: StepResult[Any], task: Any) -> list[Message]:
    if task is None:
        return []
    if isinstance(task, list):
        return list(task)
    return [{"role": "user", "content": as_text(task)}]


def listed(result: StepResult[Any]) -> list[Tool]:
    """The tools that a server has listed, but for those that would control the episode.

    Raises:
        ProtocolError: it answered with something else.
    """
    try:
        tools = [
            _TOOL.validate_python(_fields(tool)) for tool in _fields(result.observation)["tools"]
        ]
    except (KeyError, TypeError, ValidationError) as error:
        raise ProtocolError(
            f"the server answered list_tools with something else: {error}"
        ) from error
    return [tool for tool in tools if tool.name not in RESERVED_TOOL_NAMES]


def _fields(value: Any) -> Json:
    """The fields of something that may be a model, or plain as the wire has it."""
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    return value if isinstance(value, dict) else {}
