"""HarnessEnvironment: an environment in which an agent of its own acts; a step is one turn."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import shutil
import tempfile
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from openenv.env.environment import Environment
from openenv.env.incidents import incident
from openenv.env.models import Action, Observation, State
from openenv.env.rewards import REWARD_ERROR
from openenv.env.tool_models import CallToolObservation, Tool, ToolErrorType
from openenv.env.toolbox import Toolbox
from openenv.env.tools import ToolContext, ToolFailure, ToolMode
from openenv.env.transforms import Transform
from openenv.harness.agents.adapter import AgenticHarnessAdapter
from openenv.harness.agents.bridge import HarnessMCPBridge, tools_in
from openenv.harness.agents.conflicts import resolve_tool_conflicts
from openenv.harness.agents.errors import (
    HarnessError,
    HarnessNotRunningError,
    HarnessStartupError,
    HarnessTurnTimeoutError,
)
from openenv.harness.agents.events import HarnessResponse
from openenv.harness.agents.offered import OfferedTools, settled
from openenv.harness.agents.turn import MAX_TURN_BYTES, Turn
from openenv.protocol.errors import ConcurrentCall, InvalidRequest
from openenv.protocol.saying import in_full
from openenv.settings import server_settings

logger = logging.getLogger("openenv.harness")

Json = dict[str, Any]
STOP_S = 20.0
"""How long an adapter may take to stop its agent, and beyond its own time to start it."""
CALL_S = 30.0
"""How long a call of a tool that is running at a turn's end is waited for."""


class HarnessAction(Action):
    """What an agent is told.

    Attributes:
        message: the message, which begins a turn.
    """

    message: str


class HarnessEnvironment(Environment[HarnessAction, Observation, State]):
    """An environment around an agent. A reset starts the agent afresh, a step is one turn of it.

    The environment's tools, those of `@tool` and of `mcp`, are the agent's for as long as a turn
    lasts. A turn's reward is the rubric's; without one it is the sum of what the tools gave, and
    none, with `reward_error` in the metadata, if that of a tool could not be computed. An agent
    that fails ends the episode: `done`, with `error` and `error_type` (`harness_crashed` or
    `turn_timeout`) in the metadata, and nothing of it is left running.

    A subclass overrides `reset_async` to begin a world of its own, and calls this one from there.

    Args:
        adapter: the agent; one of its own for each environment.
        mcp: a `fastmcp.FastMCP` with tools, or any object that has `list_tools` and `call_tool`.
        rubric: judges each turn.
        transform: as of any environment.

    Attributes:
        MAX_TURN_BYTES: how much the events of a turn may hold, as JSON; an agent that does more
            is taken for one gone wild.
    """

    IS_HARNESS: ClassVar[bool] = True
    MAX_TURN_BYTES: ClassVar[int] = MAX_TURN_BYTES

    def __init__(
        self,
        adapter: AgenticHarnessAdapter,
        mcp: Any = None,
        rubric: Callable[[Any, Any], Any] | None = None,
        transform: Transform[Observation] | None = None,
    ) -> None:
        super().__init__(transform=transform, rubric=rubric)
        self.adapter = adapter
        self._mcp = mcp
        self._source: Any = None if mcp is None else tools_in(mcp)
        self._offered: OfferedTools | None = None
        self._bridge: HarnessMCPBridge | None = None
        self._own_directory: str | None = None
        self._ending: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._turn: Turn | None = None
        self._in_turn = False
        self._turn_number = 0
        self._state = State()

    @property
    def state(self) -> State:
        """Where the episode stands; a step is a turn."""
        return self._state

    async def list_tools(self) -> list[Tool]:
        """The tools of `mcp`."""
        if self._source is None:
            return []
        tools: list[Tool] = await settled(Toolbox(self._source, self._of_mode).list_tools())
        return tools

    async def call_tool(
        self, name: str, arguments: Json, context: ToolContext | None = None
    ) -> CallToolObservation:
        """Calls a tool of `mcp`."""
        if self._source is None:
            raise ToolFailure(f"unknown tool {name!r}", ToolErrorType.TOOL_NOT_FOUND)
        offload = None if self._offered is None else self._offered.offload
        toolbox = Toolbox(self._source, self._of_mode, offload)
        called: CallToolObservation = await settled(toolbox.call_tool(name, arguments, context))
        return called

    def reset(self, *args: Any, **kwargs: Any) -> Observation:
        """Not here: `await reset_async()`."""
        raise TypeError("an agent is awaited: use reset_async()")

    def step(self, *args: Any, **kwargs: Any) -> Observation:
        """Not here: `await step_async(action)`."""
        raise TypeError("an agent is awaited: use step_async()")

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> Observation:
        """Ends the agent that runs, and starts it afresh.

        Args:
            seed: for a subclass.
            episode_id: the episode's name.
            **kwargs: for a subclass.

        Raises:
            HarnessStartupError: it could not be started; nothing is left of it.
        """
        await self._end_agent()
        await self._reset_rubric_async()
        self._turn_number = 0
        self._state = State(episode_id=episode_id or str(uuid.uuid4()))
        try:
            offered = await self._start_agent()
        except BaseException:
            await self._end_agent()
            raise
        named = {"harness": self.adapter.config.name, "injected_tools": offered}
        metadata = {"episode_id": self._state.episode_id, **named}
        return self._apply_transform(Observation(metadata=metadata))

    async def step_async(
        self, action: HarnessAction, timeout_s: float | None = None, **kwargs: Any
    ) -> Observation:
        """One turn; `turn_async` without anybody who follows it."""
        return await self.turn_async(action.message, timeout_s=timeout_s)

    async def turn_async(
        self,
        message: str,
        emit: Callable[[bytes], None] | None = None,
        *,
        timeout_s: float | None = None,
    ) -> Observation:
        """Gives the agent a message, and waits until it has answered.

        Args:
            message: what it is told.
            emit: takes each event as it happens, as a JSON object; the end is what is returned.
            timeout_s: how long the turn may take, if that is less than the configuration says.

        Returns:
            metadata: `response`, `turn_events` and `turn_number`, or how the agent failed.

        Raises:
            ConcurrentCall: a turn is running, which goes on.
        """
        if not isinstance(message, str):
            raise InvalidRequest(f"a message is text, got {type(message).__name__}")
        if self._in_turn:
            raise ConcurrentCall("the agent is in a turn; await its end before the next message")
        self._in_turn = True
        try:
            return await self._take_turn(message, emit, timeout_s)
        finally:
            self._in_turn = False

    async def _take_turn(
        self, message: str, emit: Callable[[bytes], None] | None, timeout_s: float | None
    ) -> Observation:
        self._turn_number += 1
        self._state.step_count = self._turn_number
        self._turn = turn = self._new_turn(emit)
        try:
            response = await self._run(turn, message, timeout_s)
        except Exception as error:  # noqa: BLE001  # whatever it is, the agent is in no known state
            await self._end_agent()
            return await self._failed(turn, error)
        except BaseException:  # the turn was cancelled
            await self._end_agent()
            raise
        action = HarnessAction(message=message)
        observation = self._observed(turn, response)
        return self._apply_transform(await self.rewarded_async(action, observation))

    def close(self) -> Awaitable[None]:  # type: ignore[override]
        """Ends the agent: on an event loop at once, and anyway when it is awaited."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return self._close()
        self._closing = loop.create_task(self._close())
        return self._closing

    async def _close(self) -> None:
        await self._end_agent()
        if self._source is not self._mcp:  # it was made here, of a FastMCP server
            await asyncio.to_thread(self._source.close)

    @property
    def _of_mode(self) -> ToolMode:
        """Whose tools show: a session says it."""
        mode: ToolMode = self.__dict__.get("_mode") or "simulation"
        return mode

    @property
    def _tool_timeout_s(self) -> float | None:
        """How long a call may run that says nothing else: a session says it, else a variable."""
        told: float | None = self.__dict__.get(
            "_tool_timeout", server_settings().limits.tool_timeout
        )
        return math.inf if told is None else told

    def _new_turn(self, emit: Callable[[bytes], None] | None) -> Turn:
        for_trainers = self._of_mode == "simulation"
        return Turn(emit, tells_rewards=for_trainers, max_bytes=self.MAX_TURN_BYTES)

    async def _run(self, turn: Turn, message: str, timeout_s: float | None) -> HarnessResponse:
        if not await self.adapter.is_alive():
            raise HarnessNotRunningError("the agent is not running; reset() starts it afresh")
        limit = self.adapter.config.session_timeout_s
        within_s = limit if timeout_s is None else min(limit, timeout_s)
        offered = self._offered
        if offered is not None:
            offered.is_turn = True
        try:
            response = await turn.take(self.adapter.send_message_streaming(message), within_s)
        finally:
            if offered is not None:
                offered.is_turn = False
        if offered is not None:
            await offered.rest(CALL_S)
        return response

    def _observed(self, turn: Turn, response: HarnessResponse) -> Observation:
        metadata: Json = {
            "response": response.response,
            "turn_events": turn.events,
            "turn_number": self._turn_number,
        }
        if self.rubric is None and turn.reward_error is not None:
            metadata[REWARD_ERROR] = turn.reward_error
        return Observation(done=response.done, reward=turn.reward, metadata=metadata)

    async def _failed(self, turn: Turn, error: Exception) -> Observation:
        is_late = isinstance(error, HarnessTurnTimeoutError)
        kind = "turn_timeout" if is_late else "harness_crashed"
        message = self._told(error, kind)
        metadata: Json = {
            "error": message,
            "error_type": kind,
            "turn_events": turn.events,
            "turn_number": self._turn_number,
        }
        if isinstance(error, HarnessError) and error.stderr and self._of_mode == "simulation":
            metadata["stderr"] = error.stderr
        if self.rubric is not None:
            judge = type(self.rubric).__name__
            metadata[REWARD_ERROR] = {"rubric": judge, "error": kind, "message": message}
        elif turn.reward_error is not None:
            metadata[REWARD_ERROR] = turn.reward_error
        reward = turn.reward if self.rubric is None else None
        return self._apply_transform(Observation(done=True, reward=reward, metadata=metadata))

    def _told(self, error: Exception, kind: str) -> str:
        """What is told of a failure; in production neither the author's text nor the agent's."""
        is_for_all = self._of_mode == "simulation"
        if isinstance(error, HarnessError):
            name = self.adapter.config.name
            logger.warning("%s failed (%s): %s", name, kind, error.in_full)
            return error.in_full if is_for_all else error.message
        _, opaque = incident(error, "the agent")
        return in_full(error) if is_for_all else opaque

    async def _start_agent(self) -> list[str]:
        """Starts the agent and what it needs; the names of the tools that it is offered."""
        adapter = self.adapter
        tools = await self._offer()
        url = None
        if tools:
            bridge = self._bridge
            assert bridge is not None
            url = await asyncio.to_thread(bridge.start)
            adapter.bridge_token = bridge.token
        await adapter.inject_tools(tools, url)
        directory = self._directory()
        patience_s = adapter.config.startup_timeout_s + STOP_S
        try:
            await asyncio.wait_for(adapter.start(directory), patience_s)
        except asyncio.TimeoutError:
            raise HarnessStartupError(f"the agent did not start within {patience_s:g} s") from None
        return [tool.name for tool in tools]

    async def _offer(self) -> list[Tool]:
        """Readies the tools for the agent; what it is to be told of each."""
        own = await settled(Toolbox(self, self._of_mode).list_tools())
        tools = resolve_tool_conflicts(own, self.adapter.BUILTIN_TOOL_NAMES)
        renames = {old.name: new.name for old, new in zip(own, tools, strict=True)}
        renames = {old: new for old, new in renames.items() if old != new}
        timeouts = Toolbox(self._source, self._of_mode).timeouts
        self._offered = offered = OfferedTools(
            self, renames, self._saw, mode=self._of_mode, timeouts=timeouts
        )
        offered.is_turn = False
        self._bridge = HarnessMCPBridge(offered, tool_timeout_s=self._tool_timeout_s)
        return tools

    def _saw(self, *call: Any) -> None:
        if self._turn is not None:
            self._turn.saw(*call)

    def _directory(self) -> str:
        """Where the agent is to run.

        Raises:
            HarnessStartupError: it can't be made.
        """
        wanted = self.adapter.config.working_directory
        try:
            if wanted is None:
                self._own_directory = tempfile.mkdtemp(prefix="openenv-harness-")
                return self._own_directory
            os.makedirs(wanted, exist_ok=True)
        except OSError as error:
            raise HarnessStartupError(
                f"the agent's working_directory can't be made: {error}; choose another, or None "
                "for one of its own for each episode"
            ) from error
        return wanted

    async def _end_agent(self) -> None:
        """Ends the agent and gives up what was made for it; also if nobody waits for that."""
        if self._ending is None or self._ending.done():
            self._ending = asyncio.ensure_future(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        try:
            await asyncio.wait_for(self.adapter.stop(), STOP_S)
        except Exception:
            logger.warning("stopping %s failed", self.adapter.config.name, exc_info=True)
        finally:
            await self._give_up()

    async def _give_up(self) -> None:
        bridge, self._bridge = self._bridge, None
        directory, self._own_directory = self._own_directory, None
        self._offered = None
        if bridge is not None:
            await asyncio.to_thread(bridge.stop)
        if directory is not None:
            await asyncio.to_thread(shutil.rmtree, directory, ignore_errors=True)
