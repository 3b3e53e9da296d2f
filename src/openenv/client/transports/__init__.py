"""What carries a client's frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from openenv.protocol.envelope import Frame


class BlockingTransport(Protocol):
    """One open connection whose calls block."""

    @property
    def subprotocol(self) -> str | None:
        """What was agreed to speak on it; `None` is v1."""

    def exchange(self, frame: str, timeout_s: float) -> str | bytes:
        """v1: sends a frame and returns its answer; on any error it drops the connection."""

    def close(self, goodbye: str | None, timeout_s: float) -> None:
        """v1: says goodbye and waits until the session is freed, or time is up.

        Args:
            goodbye: a message that has the server close the connection; `None` for a plain goodbye.
            timeout_s: for how long.
        """

    def send(self, frame: Frame, deadline: float) -> None:
        """v2: sends a frame, by a deadline on the monotonic clock.

        Raises:
            SessionLost: the connection has ended.
        """

    def receive(self, deadline: float) -> Frame | None:
        """v2: the next frame, `None` if none came in time; errors as `send`."""

    def keep(self, heartbeat: Frame, farewell: Frame) -> None:
        """v2: what to send when it is quiet, and when nobody holds the connection any more."""

    def abort(self) -> None:
        """Drops the connection without a word."""


class AwaitingTransport(Protocol):
    """One open connection whose calls are awaited; otherwise as a `BlockingTransport`."""

    @property
    def subprotocol(self) -> str | None:
        """As of a `BlockingTransport`."""

    async def exchange(self, frame: str, timeout_s: float) -> str | bytes:
        """As of a `BlockingTransport`."""

    async def close(self, goodbye: str | None, timeout_s: float) -> None:
        """As of a `BlockingTransport`."""

    async def transmit(
        self,
        frames: list[Frame],
        receive: Callable[[Frame], None],
        done: Callable[[], bool],
        deadline: float,
    ) -> bool:
        """v2: sends frames and has those received that come, until it is done; whether it is.

        Raises:
            SessionLost: the connection has ended.
        """

    def keep(self, heartbeat: Frame, farewell: Frame) -> None:
        """As of a `BlockingTransport`."""

    def abort(self) -> None:
        """As of a `BlockingTransport`."""
