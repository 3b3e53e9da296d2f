"""A connection that never says what it wants is closed."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_DEADLINE_S = 10.0
"""How long a new connection may take to send its first request's head."""


class PatientHTTP(H11Protocol):
    """uvicorn's HTTP/1.1, but patient only for so long with a half-sent request."""

    _overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Starts the clock."""
        super().connection_made(transport)
        self._overdue = self.loop.call_later(REQUEST_DEADLINE_S, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the clock."""
        self._stop()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Stops the clock: the socket now belongs to the WebSocket."""
        self._stop()
        super().handle_websocket_upgrade(event)

    def _stop(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None

    def _give_up(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()
