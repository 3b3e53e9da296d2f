"""OfferedTools: an environment's tools as the agent in it is offered them."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Mapping
from typing import Any

from openenv.env.tool_models import CallToolObservation, Tool, ToolErrorType
from openenv.env.toolbox import Toolbox
from openenv.env.tools import ToolContext, ToolFailure, ToolMode
from openenv.runtime.worker import ToolThread

Json = dict[str, Any]
LOOK_S = 0.005
Watch = Callable[[str, Json, CallToolObservation | None], None]
"""Told of each call when it begins, and with its observation when it has ended."""


class OfferedTools:
    """The tools under the agent's names, one call at a time.

    Calls that come outside of a turn are refused: what an agent does belongs to a turn of its
    episode, or nobody would know of it.

    What blocks in a tool does so in a thread of its own, until `close`; it is interrupted where
    its caller gives up.

    Args:
        owner: whose tools they are, an `Environment` or any object with tools.
        renames: the name that the agent knows, by the environment's; the others stay.
        watch: told of each call, in the thread that makes it.
        mode: for whom the server is.
        timeouts: how long calls may run, in seconds, of tools that the owner lists itself.
        farewell: called by `close`.

    Attributes:
        is_turn: whether calls are taken.
        offload: makes the blocking calls.
    """

    def __init__(
        self,
        owner: object,
        renames: Mapping[str, str] | None = None,
        watch: Watch | None = None,
        *,
        mode: ToolMode = "simulation",
        timeouts: Mapping[str, float] | None = None,
        farewell: Callable[[], object] = lambda: None,
    ) -> None:
        self.is_turn = True
        self.offload = ToolThread("openenv-harness-tools")
        self._toolbox = Toolbox(owner, mode, self.offload)
        self._renames = dict(renames or {})
        self._originals = {new: old for old, new in self._renames.items()}
        self._watch = watch
        self._timeouts = dict(timeouts or {})
        self._farewell = farewell
        self._one_at_a_time = asyncio.Lock()
        self._is_calling = False

    @property
    def timeouts(self) -> dict[str, float]:
        """How long calls may run, in seconds, for the tools that say so."""
        own = {**self._timeouts, **self._toolbox.timeouts}
        return {self._renames.get(name, name): seconds for name, seconds in own.items()}

    async def list_tools(self) -> list[Tool]:
        """What the agent is told of each."""
        return [
            tool.model_copy(update={"name": self._renames.get(tool.name, tool.name)})
            for tool in await settled(self._toolbox.list_tools())
        ]

    async def call_tool(
        self, name: str, arguments: Json, context: ToolContext | None = None
    ) -> CallToolObservation:
        """Calls one, after the call that is running.

        Raises:
            ToolFailure: there is none of that name, or it is not the agent's turn.
        """
        original = self._originals.get(name, name)
        if original in self._renames and name == original:
            raise ToolFailure(f"unknown tool {name!r}", ToolErrorType.TOOL_NOT_FOUND)
        async with self._one_at_a_time:
            if not self.is_turn:
                raise ToolFailure(
                    "your turn is over: the environment's tools can be called from when a message "
                    "has come until you have answered it"
                )
            self._is_calling = True
            try:
                return await self._watched(name, original, arguments, context)
            finally:
                self._is_calling = False

    async def rest(self, within_s: float) -> None:
        """Waits until no call is running, but not for ever."""
        deadline = time.monotonic() + within_s
        while self._is_calling and time.monotonic() < deadline:  # noqa: ASYNC110  # another loop's
            await asyncio.sleep(LOOK_S)

    def close(self) -> None:
        """Lets go of the thread, and of what was made for the tools."""
        self.offload.stop()
        self._farewell()

    async def _watched(
        self, name: str, original: str, arguments: Json, context: ToolContext | None
    ) -> CallToolObservation:
        self._tell(name, arguments, None)
        try:
            calling = self._toolbox.call_tool(original, arguments, context)
            called: CallToolObservation = await settled(calling)
        except asyncio.CancelledError:
            given_up = ToolFailure("the call was given up", ToolErrorType.TIMEOUT)
            self._tell(name, arguments, self._toolbox.failed(name, given_up))
            raise
        observation = called.model_copy(update={"tool_name": name})
        self._tell(name, arguments, observation)
        return observation

    def _tell(self, name: str, arguments: Json, observation: CallToolObservation | None) -> None:
        if self._watch is not None:
            self._watch(name, arguments, observation)


async def settled(value: Any) -> Any:
    """A value, awaited if it has to be."""
    return await value if inspect.isawaitable(value) else value
