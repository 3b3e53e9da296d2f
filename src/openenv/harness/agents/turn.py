"""Turn: what happens while an agent answers one message."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable
from typing import Any

from openenv.env.rewards import REWARD_ERROR
from openenv.env.tool_content import plain_result
from openenv.env.tool_models import CallToolObservation, ToolError, ToolErrorType
from openenv.harness.agents.adapter import response_of
from openenv.harness.agents.errors import (
    HarnessError,
    HarnessNotRunningError,
    HarnessTurnTimeoutError,
)
from openenv.harness.agents.events import HarnessEvent, HarnessEventType, HarnessResponse
from openenv.protocol.values import encode

logger = logging.getLogger("openenv.harness")

Json = dict[str, Any]
MAX_TURN_BYTES = 8 << 20
"""How much the events of a turn may hold, as JSON, unless the environment says otherwise."""
MAX_RESULT_BYTES = 64 << 10
"""How much of a tool's result an event keeps."""
ORIGIN = "origin"
"""Says of an event who has seen it happen, if that was not the agent."""


class Turn:
    """The events of one turn: kept in order, and told as they come, but for its end.

    Args:
        emit: takes each event but `turn_complete` as JSON, on this event loop.
        tells_rewards: the events of calls have what these have given.
        max_bytes: how much the events may hold, as JSON; more is a failure.

    Attributes:
        events: what has happened so far, as plain JSON objects.
        rewards: what the environment's tools have given.
        reward_error: why a tool's reward could not be computed, of the first of those; the turn
            has none then.
        is_done: a tool has ended the episode.
    """

    def __init__(
        self,
        emit: Callable[[bytes], None] | None = None,
        *,
        tells_rewards: bool = True,
        max_bytes: int = MAX_TURN_BYTES,
    ) -> None:
        self.events: list[Json] = []
        self.rewards: list[float] = []
        self.reward_error: Any = None
        self.is_done = False
        self._emit = emit
        self._tells_rewards = tells_rewards
        self._max_bytes = max_bytes
        self._loop = asyncio.get_running_loop()
        self._size = 0
        self._taking: asyncio.Task[HarnessResponse] | None = None

    async def take(self, stream: AsyncIterator[HarnessEvent], timeout_s: float) -> HarnessResponse:
        """Follows the agent to the end of its turn.

        Args:
            stream: what it does.
            timeout_s: how long it may take, in seconds.

        Raises:
            HarnessTurnTimeoutError: it took longer.
            HarnessError: it ended before its turn was complete, or did more than can be kept.
            Exception: the adapter has raised it.
        """
        self._taking = taking = asyncio.ensure_future(self._follow(stream))
        try:
            await asyncio.wait([taking], timeout=timeout_s)
        finally:
            is_late = not taking.done()
            if is_late:
                taking.cancel()
                await asyncio.wait([taking])
        if is_late:
            raise HarnessTurnTimeoutError(f"the turn was not complete within {timeout_s:g} s")
        if taking.cancelled():
            raise self._too_much()
        return taking.result()

    def saw(self, name: str, arguments: Json, observation: CallToolObservation | None) -> None:
        """Keeps what the environment sees of a call of its tools; from any thread."""
        event = _called(name, arguments, observation)
        if not self._tells_rewards:
            event.data.pop("reward", None)
            event.data.pop(REWARD_ERROR, None)
        self._loop.call_soon_threadsafe(self._saw, event, observation)

    @property
    def reward(self) -> float | None:
        """The sum of what the tools have given; `None` if that is nothing, or one's has failed."""
        return sum(self.rewards) if self.rewards and self.reward_error is None else None

    def _saw(self, event: HarnessEvent, observation: CallToolObservation | None) -> None:
        self._keep(event)
        if observation is not None:
            self.is_done |= observation.done or observation.truncated
            self._count(*_reward_of(observation))
        if self._size > self._max_bytes and self._taking is not None:
            self._taking.cancel()

    def _count(self, reward: float | None, failure: Any) -> None:
        if reward is not None:
            self.rewards.append(reward)
            failure = _no_finite("the sum of the tools' rewards", sum(self.rewards))
        if self.reward_error is None:
            self.reward_error = failure

    async def _follow(self, stream: AsyncIterator[HarnessEvent]) -> HarnessResponse:
        try:
            async for event in stream:
                if not isinstance(event, HarnessEvent):
                    raise HarnessError(f"the adapter gave {type(event).__name__}, no HarnessEvent")
                if event.type is HarnessEventType.TURN_COMPLETE:
                    return self._completed(event)
                self._keep(_of_agent(event))
                if self._size > self._max_bytes:
                    raise self._too_much()
        finally:
            closing = getattr(stream, "aclose", None)
            if closing is not None:
                await closing()
        raise HarnessNotRunningError("the agent ended before its turn was complete")

    def _completed(self, event: HarnessEvent) -> HarnessResponse:
        response = response_of([event])
        is_done = response.done or self.is_done  # a tool may have ended the episode, too
        said = {**event.data, "response": response.response, "done": is_done}
        self._keep(_of_agent(event.model_copy(update={"data": said})))
        return HarnessResponse(response=response.response, done=is_done)

    def _keep(self, event: HarnessEvent) -> None:
        if self._size > self._max_bytes:
            return
        told = event.model_dump(mode="json")
        written = encode(told)
        self._size += len(written)
        if self._size > self._max_bytes:
            return
        self.events.append(told)
        if self._emit is not None and event.type is not HarnessEventType.TURN_COMPLETE:
            self._emit(written)

    def _too_much(self) -> HarnessError:
        return HarnessError(
            f"the agent did more in one turn than can be kept: {self._max_bytes} bytes of events "
            "(MAX_TURN_BYTES of the environment's class)"
        )


def _of_agent(event: HarnessEvent) -> HarnessEvent:
    """An event without the origin that an agent may have given it: it can't speak for others."""
    said = {name: value for name, value in event.data.items() if name != ORIGIN}
    return event.model_copy(update={"data": said})


def _called(name: str, arguments: Json, observation: CallToolObservation | None) -> HarnessEvent:
    """The event of a call that begins, or of one that has ended with an observation."""
    data: Json = {ORIGIN: "environment", "tool_name": name}
    if observation is None:
        data["arguments"] = _short(arguments)
        return HarnessEvent(type=HarnessEventType.TOOL_CALL, data=data)
    value, wrong = plain_result(observation.result)
    error = observation.error
    if error is None and wrong is not None:
        error = ToolError(error_type=ToolErrorType.EXECUTION_ERROR, message=wrong)
    data["result"] = _short(value)
    data["error"] = None if error is None else error.model_dump(mode="json")
    reward, failure = _reward_of(observation)
    data |= {"reward": reward, "done": observation.done}
    if failure is not None:
        data[REWARD_ERROR] = failure
    return HarnessEvent(type=HarnessEventType.TOOL_RESULT, data=data)


def _reward_of(observation: CallToolObservation) -> tuple[float | None, Any]:
    """What a call has given, or why that could not be computed."""
    failure = observation.metadata.get(REWARD_ERROR)
    reward = observation.reward
    if failure is None and reward is not None:
        failure = _no_finite(f"the reward of {observation.tool_name}", float(reward))
    return (None if failure is not None or reward is None else float(reward)), failure


def _no_finite(what: str, reward: float) -> Json | None:
    """The failure that a number is, which is no reward."""
    if math.isfinite(reward):
        return None
    message = f"{what} is {reward}, which is no finite number"
    return {"rubric": None, "error": "ValueError", "message": message}


def _short(value: object) -> object:
    """A value, or the beginning of its JSON where that is long."""
    text = encode(value)
    if len(text) <= MAX_RESULT_BYTES:
        return value
    return {"cut": text[:MAX_RESULT_BYTES].decode(errors="ignore"), "bytes": len(text)}
