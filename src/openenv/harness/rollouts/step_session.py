"""An environment's steps as tools: each call of a tool is an action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from openenv.client.results import StepResult
from openenv.env.tool_models import RESERVED_TOOL_NAMES, Tool
from openenv.harness.rollouts.client_session import (
    ClientSession,
    MessagesBuilder,
    RewardOf,
    VerifyBuilder,
)
from openenv.harness.rollouts.results import Message, ToolResult
from openenv.harness.rollouts.rollout_errors import ToolNotFound
from openenv.protocol.errors import ConfigurationError, Json

ActionBuilder: TypeAlias = Callable[[str, Json], Any]
"""The action that a call stands for, by the tool's name and the arguments."""
ResultBuilder: TypeAlias = Callable[[str, Json, StepResult[Any], Any], ToolResult]
"""A call's result, by the tool's name, the arguments, the step's result and the state."""


class StepEnvSessionAdapter(ClientSession):
    """An episode of an environment that is stepped, for a model that calls tools.

    It is reset when it is made; if anything fails then, the client is closed. By default a tool's
    result tells the model `tool_name`, `arguments`, `observation`, `reward` and `done`, and the
    episode's reward is the last step's.

    Args:
        client: its client, which becomes this session's own; closed with it.
        task: what the episode is about, for the builders.
        seed: given to the reset, if there is one.
        episode_id: likewise.
        tool_specs: the tools.
        action_builder: the action of a call; whatever it raises is the call's fault.
        initial_messages_builder: what the model is told first.
        tool_result_builder: what it is told of a step.
        verify_builder: how the episode is judged.
        reset_kwargs: what else the reset is given; it goes before `seed` and `episode_id`.
        reward: an episode's reward: the `"last"` step's, or the `"sum"` of all so far, which is
            then `return` in each call's `metadata`.

    Raises:
        ConfigurationError: a tool has a name that only the trainer may use, or that another has.
        OpenEnvError: the reset failed.
    """

    def __init__(  # noqa: PLR0913  # the published signature
        self,
        client: Any,
        *,
        task: Any = None,
        seed: int | None = None,
        episode_id: str | None = None,
        tool_specs: Sequence[Tool],
        action_builder: ActionBuilder,
        initial_messages_builder: MessagesBuilder,
        tool_result_builder: ResultBuilder | None = None,
        verify_builder: VerifyBuilder | None = None,
        reset_kwargs: Json | None = None,
        reward: RewardOf = "last",
    ) -> None:
        super().__init__(client, verify_builder, reward)
        self._action_of = action_builder
        self._result_of = tool_result_builder or self._plain_result
        try:
            self._tools = _by_name(tool_specs)
            first = self._begin(seed, episode_id, reset_kwargs)
            self._messages = initial_messages_builder(first, task)
        except BaseException:
            self.close()
            raise

    def initial_messages(self) -> list[Message]:
        """What the builder made of the reset."""
        return list(self._messages)

    def list_tools(self) -> list[Tool]:
        """The tools it was given."""
        return list(self._tools.values())

    def call_tool(self, name: str, arguments: Json) -> ToolResult:
        """Takes a step.

        Raises:
            ToolNotFound: there is no such tool.
            OpenEnvError: the step failed.
        """
        if name not in self._tools:
            raise ToolNotFound(f"unknown tool {name!r} (known: {', '.join(self._tools)})")
        result = self._act(self._action_of(name, arguments))
        return self._result_of(name, arguments, result, self._state)

    def _plain_result(
        self, name: str, arguments: Json, result: StepResult[Any], state: Any
    ) -> ToolResult:
        data = {
            "tool_name": name,
            "arguments": arguments,
            "observation": result.observation,
            "reward": result.reward,
            "done": result.done,
        }
        metadata = {**self._score.as_metadata(), "state": state}
        return ToolResult(data=data, done=result.done, metadata=metadata)


def _by_name(tools: Sequence[Tool]) -> dict[str, Tool]:
    names = [tool.name for tool in tools]
    reserved = sorted(RESERVED_TOOL_NAMES.intersection(names))
    if reserved:
        raise ConfigurationError(
            f"tools called {', '.join(reserved)} would control the episode, which is the "
            "trainer's; give them other names"
        )
    if len(set(names)) < len(names):
        raise ConfigurationError(f"two tools have one name: {names}")
    return dict(zip(names, tools, strict=True))
