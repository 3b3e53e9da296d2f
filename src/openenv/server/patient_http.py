"""A connection that never says what it wants is closed."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_DEADLINE_S = 10.0
"""How long a request's head may take to arrive, and how long its body may make no progress."""


class PatientHTTP(H11Protocol):
    """uvicorn's HTTP/1.1, but patient only for so long with a half-sent request."""

    _overdue: asyncio.TimerHandle | None = None

    @property
    def _awaits_head(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    @property
    def _awaits_body(self) -> bool:
        return not self._awaits_head and self.cycle.more_body

    def connection_made(self, transport: Any) -> None:
        """Starts the clock."""
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        """Sets the clock to what is still missing of a request."""
        super().data_received(data)
        if self.transport.get_protocol() is not self:
            return  # the socket now belongs to the WebSocket
        if self._awaits_body:
            self._stop()
            self._start()
        elif not self._awaits_head:
            self._stop()
        elif self._overdue is None:
            self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the clock."""
        self._stop()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Hands the socket on, unless the WebSocket's own parser cannot read the request."""
        self._stop()
        super().handle_websocket_upgrade(event)
        websocket: Any = self.transport.get_protocol()
        if not websocket.handshake_initiated:
            self.send_400_response(
                "a WebSocket begins with a GET without a body, and with at most 128 headers, "
                "no line over 8192 bytes"
            )

    def shutdown(self) -> None:
        """Ends the connection after the running answer; half a request has none."""
        if self._awaits_body:
            self.transport.close()
        else:
            super().shutdown()

    def _start(self) -> None:
        self._overdue = self.loop.call_later(REQUEST_DEADLINE_S, self._give_up)

    def _stop(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None

    def _give_up(self) -> None:
        self._overdue = None
        if self._awaits_head or self._awaits_body:
            self.transport.close()
