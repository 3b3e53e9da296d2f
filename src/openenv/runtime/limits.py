"""Limits: every bound of a server, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from openenv.protocol.errors import ConfigurationError

DEFAULT_CAPACITY = 64
MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """The bounds of one server. Times are in seconds, `None` is no limit.

    Attributes:
        capacity: sessions that may exist at once, those that start, close or hang included.
        waiting: clients that may queue for a slot when they ask to.
        max_wait: the longest that one may queue.
        step_timeout: the longest that a step, or a look at the state, may run.
        tool_timeout: the longest that a call of a tool may run, unless the tool or its caller say
            otherwise, which may be up to `step_timeout`. The session lives on.
        reset_timeout: the longest that a reset, or building the environment, may run.
        idle_timeout: how long a session with an open socket may do nothing. A trainer may be
            busy for minutes between steps, so there is no limit by default: the socket's own
            keep-alive tells the living from the dead.
        unattached_timeout: how long a session that no socket holds (made over HTTP) may do
            nothing.
        close_grace: how long closing an environment is waited for.
        drain_grace: how long running steps may go on after the server was told to stop.
        max_message_bytes: the largest message that is read.
        resume_grace: how long a session waits for a client that was cut off; 0 ends it at once.
        eviction_age: how long one has waited, at least, when a new client is given its slot.
        max_channels: sessions that one socket may hold.
        max_reply_bytes: the largest reply that is sent, unless the client asked for less.
    """

    capacity: int = DEFAULT_CAPACITY
    waiting: int = 256
    max_wait: float = 600.0
    step_timeout: float | None = 3600.0
    tool_timeout: float | None = 30.0
    reset_timeout: float | None = 3600.0
    idle_timeout: float | None = None
    unattached_timeout: float | None = 1800.0
    close_grace: float = 10.0
    drain_grace: float = 30.0
    max_message_bytes: int = 16 * MEGABYTE
    resume_grace: float = 300.0
    eviction_age: float = 30.0
    max_channels: int = 4096
    max_reply_bytes: int = 100 * MEGABYTE

    def __post_init__(self) -> None:
        if self.capacity < 1:
            raise ConfigurationError(
                f"a server must hold at least 1 session, got max_concurrent_envs={self.capacity}"
            )
        for name in (
            *("step_timeout", "tool_timeout", "reset_timeout"),
            *("idle_timeout", "unattached_timeout"),
        ):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ConfigurationError(f"{name} must be more than 0 seconds, got {value!r}")
        for name in (
            *("waiting", "max_wait", "close_grace", "drain_grace"),
            *("resume_grace", "eviction_age"),
        ):
            if getattr(self, name) < 0:
                raise ConfigurationError(f"{name} must be 0 or more, got {getattr(self, name)!r}")
        self._require_room()

    def _require_room(self) -> None:
        if self.max_message_bytes < 1:
            raise ConfigurationError(
                f"a message must be allowed at least 1 byte, got {self.max_message_bytes} "
                "(max_message_bytes, OPENENV_MAX_MESSAGE_MB)"
            )
        for name in ("max_channels", "max_reply_bytes"):
            if getattr(self, name) < 1:
                raise ConfigurationError(f"{name} must be at least 1, got {getattr(self, name)!r}")

    def published(self) -> dict[str, int | float | None]:
        """What a client needs to know to choose its own deadlines and sizes; times in seconds."""
        return {
            "max_message_bytes": self.max_message_bytes,
            "step_timeout_s": self.step_timeout,
            "tool_timeout_s": self.tool_timeout,
            "reset_timeout_s": self.reset_timeout,
            "idle_timeout_s": self.idle_timeout,
            "resume_grace_s": self.resume_grace,
            "max_channels": self.max_channels,
        }
