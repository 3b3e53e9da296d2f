"""The one episode that all visitors of a custom page share, and the record of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any

from pydantic import BaseModel, Field
from pydantic_core import from_json

from openenv.env.models import pack_state
from openenv.env.spec import EnvSpec
from openenv.protocol.errors import EnvironmentFailed, Json, ResetRequired, SessionError
from openenv.protocol.messages import Reply, Request
from openenv.protocol.values import encode
from openenv.server.calls import told
from openenv.server.web.viewers import Viewers

MAX_ACTION_LOGS = 1000
MAX_LOG_BYTES = 1024 * 1024
"""Of all that is in the record, together; the newest is kept whatever its size."""

Ask = Callable[[Request], Awaitable[Reply]]
"""Has the shared session answer a request."""


class ActionLog(BaseModel):
    """One action, and what followed.

    Attributes:
        timestamp: when, ISO 8601 in UTC.
        action: its fields, defaults included.
        observation: what was seen then.
        reward: the step's.
        done: the episode has ended.
        step_count: its number in the episode, from 1.
    """

    timestamp: str
    action: Json
    observation: Json
    reward: float | bool | str | None = None
    done: bool = False
    step_count: int


class EpisodeState(BaseModel):
    """Where the shared episode stands.

    Attributes:
        episode_id: the episode's name.
        step_count: its steps so far.
        current_observation: what was seen last.
        action_logs: its actions, the oldest first, at most 1000.
        is_reset: no step was taken since the last reset.
    """

    episode_id: str | None = None
    step_count: int = 0
    current_observation: Json | None = None
    action_logs: list[ActionLog] = Field(default_factory=list)
    is_reset: bool = True


class SharedEpisode:
    """Plays for whoever asks, one after the other, and keeps the record.

    Args:
        spec: the environment.
        ask: its session.

    Attributes:
        record: where the episode stands.
        viewers: who is told so.
    """

    def __init__(self, spec: EnvSpec, ask: Ask) -> None:
        self.record = EpisodeState()
        self.viewers = Viewers(self._frame)
        self._spec = spec
        self._ask = ask
        self._turn = asyncio.Lock()
        self._sizes: list[int] = []
        self._last_state: Json | None = None

    @property
    def last_state(self) -> Json:
        """The environment's state after the last reset or step; an untouched one before any."""
        return _untouched(self._spec) if self._last_state is None else self._last_state

    async def reset(self, keywords: Json) -> Json:
        """Begins an episode; gives its first observation, as `serialize_observation` does.

        Raises:
            SessionError: it could not.
        """
        async with self._turn:
            try:
                content = told(await self._ask(Request("reset", keywords)))
            except EnvironmentFailed:
                self.forget()
                raise
            self._sizes = []
            self.record = EpisodeState(
                episode_id=keywords.get("episode_id"), current_observation=content["observation"]
            )
            await self._look()
            self.viewers.changed()
        return content

    async def step(self, action: Json) -> Json:
        """Takes one action; gives what followed, as `serialize_observation` does.

        Raises:
            SessionError: it could not. An action that is not valid changes nothing.
        """
        async with self._turn:
            reply = await self._ask(Request("step", action))
            content = told(reply)
            self.record.step_count += 1
            self.record.is_reset = False
            self.record.current_observation = content["observation"]
            await self._look()
            self._write(action, content, len(reply.body) + len(encode(action)))
            self.viewers.changed()
        return content

    async def state(self) -> Json:
        """The environment's state; an untouched one where no episode has begun.

        Raises:
            SessionError: it could not be told.
        """
        async with self._turn:
            try:
                return told(await self._ask(Request("state")))
            except ResetRequired:
                return _untouched(self._spec)

    def forget(self) -> None:
        """There is no such episode any more."""
        self._sizes, self._last_state = [], None
        self.record = EpisodeState()
        self.viewers.changed()

    def _frame(self) -> str:
        update: Json = {"type": "state_update", "episode_state": self.record.model_dump()}
        return encode(update).decode()

    async def _look(self) -> None:
        """Reads the state; a session that cannot tell it has still played."""
        with suppress(SessionError):
            state = told(await self._ask(Request("state")))
            self._last_state = state
            self.record.episode_id = state.get("episode_id", self.record.episode_id)
            count = state.get("step_count")
            self.record.step_count = count if isinstance(count, int) else self.record.step_count

    def _write(self, action: Json, content: Json, size: int) -> None:
        log = ActionLog(
            timestamp=datetime.now(timezone.utc).isoformat(),
            action=_as_taken(self._spec, action),
            observation=content["observation"],
            reward=content["reward"],
            done=content["done"],
            step_count=self.record.step_count,
        )
        logs, sizes = self.record.action_logs, self._sizes
        logs.append(log)
        sizes.append(size)
        while len(logs) > MAX_ACTION_LOGS or (len(logs) > 1 and sum(sizes) > MAX_LOG_BYTES):
            del logs[0], sizes[0]


def _untouched(spec: EnvSpec) -> Json:
    """The state of an environment that nobody has touched; the usual one if its class has none."""
    try:
        state: Json = from_json(pack_state(spec.state()))
    except Exception:  # noqa: BLE001  # its author's own class
        return {"episode_id": None, "step_count": 0}
    return state


def _as_taken(spec: EnvSpec, data: Json) -> Json:
    """An action with its defaults filled in."""
    try:
        action: Any = spec.parse_action(data)
        taken: Json = action.model_dump(
            mode="json", exclude=None if action.metadata else {"metadata"}
        )
    except Exception:  # noqa: BLE001  # its author's own class; it was taken, whatever it is
        return data
    return taken
