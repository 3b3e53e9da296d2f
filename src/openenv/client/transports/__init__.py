"""What carries a client's frames."""

from __future__ import annotations

from typing import Protocol


class BlockingTransport(Protocol):
    """One open connection whose calls block."""

    def exchange(self, frame: str, timeout_s: float) -> str | bytes:
        """Sends a frame and returns its answer; on any error it drops the connection."""

    def close(self, goodbye: str, timeout_s: float) -> None:
        """Says goodbye and waits until the session is freed, or time is up."""

    def abort(self) -> None:
        """Drops the connection without a word."""


class AwaitingTransport(Protocol):
    """One open connection whose calls are awaited."""

    async def exchange(self, frame: str, timeout_s: float) -> str | bytes:
        """As of a `BlockingTransport`."""

    async def close(self, goodbye: str, timeout_s: float) -> None:
        """As of a `BlockingTransport`."""

    def abort(self) -> None:
        """As of a `BlockingTransport`."""
