"""How many sessions a server holds, as configuration and as a report."""

from __future__ import annotations

from pydantic import Field, model_validator
from typing_extensions import Self

from openenv.protocol.wire import BaseMessage


class ConcurrencyConfig(BaseMessage):
    """How many sessions a server holds, and for how many seconds one may do nothing."""

    max_concurrent_envs: int = Field(default=1, ge=1)
    session_timeout: float | None = Field(default=None, gt=0)


class ServerCapacityStatus(BaseMessage):
    """How full a server is."""

    active_sessions: int = Field(ge=0)
    max_sessions: int = Field(ge=1)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.active_sessions > self.max_sessions:
            raise ValueError("active_sessions must not exceed max_sessions")
        return self

    @property
    def available_slots(self) -> int:
        """Sessions that could still be opened."""
        return self.max_sessions - self.active_sessions

    @property
    def is_at_capacity(self) -> bool:
        """Whether none could."""
        return self.available_slots == 0

    @classmethod
    def from_counts(cls, active: int, max_sessions: int) -> Self:
        """The report for these numbers."""
        return cls(active_sessions=active, max_sessions=max_sessions)


class SessionInfo(BaseMessage):
    """One session, for those who watch a server. Times are seconds since the epoch."""

    session_id: str
    created_at: float
    last_activity_at: float
    step_count: int = Field(default=0, ge=0)
    environment_type: str
