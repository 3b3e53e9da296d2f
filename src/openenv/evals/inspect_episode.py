"""One episode of a served environment, with its moves as tools of Inspect's."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from inspect_ai.tool import Tool, ToolDef, ToolError
from inspect_ai.util import StoreModel
from pydantic import Field

from openenv.client.fetching import fetched
from openenv.client.generic import GenericEnvClient
from openenv.client.results import StepResult
from openenv.evals.inspect_schema import tool_params
from openenv.evals.models import EvalFailed
from openenv.protocol.errors import ConfigurationError, InvalidRequest, Json, OpenEnvError

Moves = Literal["auto", "tools", "actions"]
"""How an agent moves: by the environment's tools, by its actions, or whichever there are."""

ACT = "act"
"""The tool that takes an action; the environments' own names `step` and `reset` are no tools."""

_BESIDE = {"metadata", "reward", "done", "truncated"}
"""Of an observation, what is the trainer's to see."""


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
        reward, wrong = result.reward, (result.metadata or {}).get("reward_error")
        if wrong is None and reward is not None and not math.isfinite(reward):
            wrong = f"the reward of step {len(self.rewards) + 1} is {reward}"
        self.rewards = [*self.rewards, None if wrong else reward]
        self.reward_error = self.reward_error or (str(wrong) if wrong else None)
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
        listed = [] if moves == "actions" else await self._listed()
        if moves == "tools" and not listed:
            raise ConfigurationError("the environment has no tools: give moves='actions'")
        found = [
            self._tool(tool["name"], tool.get("description") or tool["name"], tool["input_schema"])
            for tool in listed
        ]
        return found or [await self._act()]

    async def _listed(self) -> list[Json]:
        try:
            told = await self._client.step({"type": "list_tools"})
        except InvalidRequest:  # there is no such action: it knows nothing of tools
            return []
        tools = told.observation.get("tools")
        if not isinstance(tools, list):
            raise ConfigurationError(
                "give moves='actions': the environment took the question for its tools as an action"
            )
        return tools

    def _tool(self, name: str, description: str, schema: Json) -> Tool:
        async def call(**kwargs: Any) -> str:
            action = {"type": "call_tool", "tool_name": name, "arguments": kwargs}
            observation = (await self._step(action)).observation
            if error := observation.get("error"):
                raise ToolError(str(error.get("message") or error))
            return _told(observation.get("result"))

        return _as_tool(call, name, description, schema)

    async def _act(self) -> Tool:
        published = await asyncio.to_thread(fetched, self._client._endpoint, "/schema")
        schema = published["action"]
        fields = {name: each for name, each in schema["properties"].items() if name != "metadata"}

        async def act(**kwargs: Any) -> str:
            return seen((await self._step(kwargs)).observation)

        description = schema.get("description") or "Takes one action in the environment."
        return _as_tool(act, ACT, description, {**schema, "properties": fields})

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


def _as_tool(
    function: Callable[..., Awaitable[str]], name: str, description: str, schema: Json
) -> Tool:
    """A tool of Inspect's; one at a time, as a session takes them."""
    return ToolDef(function, name, description, tool_params(schema), parallel=False).as_tool()


def seen(observation: Json) -> str:
    """An observation for a model: its `text`, where it has one, else its fields as JSON."""
    text = observation.get("text")
    if isinstance(text, str) and text:
        return text
    return _json({name: value for name, value in observation.items() if name not in _BESIDE})


def _told(result: Any) -> str:
    """What a tool gave, for a model: MCP's text blocks as they are, all else as JSON."""
    blocks = result.get("content") if isinstance(result, dict) else None
    if isinstance(blocks, list) and all(isinstance(block, dict) for block in blocks):
        return "\n".join(
            str(block["text"]) if block.get("type") == "text" else _json(block) for block in blocks
        )
    return result if isinstance(result, str) else _json(result)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
