"""One episode of a served environment, with its moves as tools of Inspect's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from inspect_ai.tool import Tool, ToolDef, ToolError
from inspect_ai.util import StoreModel
from pydantic import Field

from openenv.client.generic import GenericEnvClient
from openenv.client.results import StepResult
from openenv.env.tool_content import plain_result
from openenv.env.tool_models import Tool as Described
from openenv.evals.inspect_schema import tool_params
from openenv.evals.models import EvalFailed
from openenv.harness.rollouts.client_session import reward_error
from openenv.harness.rollouts.tool_session import listed
from openenv.protocol.errors import (
    ConfigurationError,
    InvalidRequest,
    Json,
    OpenEnvError,
    ProtocolError,
)
from openenv.rollout.policies.acting import action_tool, as_text, seen

Moves = Literal["auto", "tools", "actions"]
"""How an agent moves: by the environment's tools, by its actions, or whichever there are."""


class Outcome(StoreModel):
    """What an episode gave, in the store of its sample, so that it stands in the log.

    Attributes:
        rewards: of each step; `None` where it gave none.
        reward_error: why a step's reward could not be computed.
        done: the episode has ended.
        truncated: a limit ended it, not its own rules.
    """

    rewards: list[float | None] = Field(default_factory=list)
    reward_error: str | None = None
    done: bool = False
    truncated: bool = False

    def add(self, result: StepResult[Any]) -> None:
        """Takes a step down."""
        failure = reward_error(result)
        self.rewards = [*self.rewards, None if failure else result.reward]
        if failure and self.reward_error is None:
            self.reward_error = str(failure.get("message") or failure)
        self.done, self.truncated = result.done, result.truncated


class Episode:
    """A client's episode, from its reset on.

    Args:
        client: an open client.
        outcome: where its steps are taken down.
    """

    def __init__(self, client: GenericEnvClient, outcome: Outcome) -> None:
        self._client = client
        self.outcome = outcome

    async def tools(self, moves: Moves) -> list[Tool]:
        """What the agent may do.

        Raises:
            ConfigurationError: they are to be tools, and the environment has none.
        """
        found = [] if moves == "actions" else await self._listed()
        if moves == "tools" and not found:
            raise ConfigurationError("the environment has no tools: give moves='actions'")
        return [self._tool(tool) for tool in found] or [await self._act()]

    async def _listed(self) -> list[Described]:
        try:
            return listed(await self._client.step({"type": "list_tools"}))
        except InvalidRequest:  # there is no such action: it knows nothing of tools
            return []
        except ProtocolError as error:
            raise ConfigurationError(
                "give moves='actions': the environment took the question for its tools as an action"
            ) from error

    def _tool(self, tool: Described) -> Tool:
        async def call(**kwargs: Any) -> str:
            action = {"type": "call_tool", "tool_name": tool.name, "arguments": kwargs}
            observation = (await self._step(action)).observation
            value, wrong = plain_result(observation.get("result"))
            if error := observation.get("error"):
                wrong = str(error.get("message") or error)
            if wrong is not None:
                raise ToolError(wrong)
            return as_text(value)

        return _as_tool(call, tool)

    async def _act(self) -> Tool:
        async def act(**kwargs: Any) -> str:
            return as_text(seen((await self._step(kwargs)).observation))

        return _as_tool(act, await asyncio.to_thread(action_tool, self._client._endpoint))

    async def _step(self, action: Json) -> StepResult[Json]:
        """Takes a step down, or tells the model why there was none."""
        if self.outcome.done:
            raise ToolError("the episode is over")
        try:
            result = await self._client.step(action)
        except InvalidRequest as error:
            raise ToolError(error.message) from error
        except OpenEnvError as error:  # Inspect would tell the model of some, and go on
            steps = len(self.outcome.rewards)
            raise EvalFailed(f"the episode broke off after {steps} steps: {error}") from error
        self.outcome.add(result)
        return result


def _as_tool(function: Callable[..., Awaitable[str]], tool: Described) -> Tool:
    """A tool of Inspect's; one at a time, as a session takes them."""
    parameters = tool_params(tool.input_schema)
    description = tool.description or tool.name
    return ToolDef(function, tool.name, description, parameters, parallel=False).as_tool()
