"""DirectWebSocket: a socket whose frames are answered where they arrive.

uvicorn hands each frame to an application through a queue and a task, and stops and starts reading
around each. That costs more than a whole step of a small environment. For `/ws` this protocol
calls who talks there directly instead, and cuts whole frames by itself; other applications see
plain ASGI.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.protocol import OPEN

from openenv.server.asgi import Receive, Send
from openenv.server.ws import DIRECT, Talk
from openenv.websocket_frames import Cutter, framed


class DirectWebSocket(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket protocol with a direct way for `/ws`."""

    _talk: Talk | None = None
    _cutter: Cutter | None = None
    _hasty = False
    _held = False
    _heard = False

    def data_received(self, data: bytes) -> None:
        """Takes in frames; before the handshake is done, what leads to it."""
        self._heard = True
        if self._cutter is not None:
            self._cutter.feed(data)
        else:
            self._hasty = self.handshake_initiated
            super().data_received(data)

    def handle_connect(self, event: Any) -> None:
        """Offers the direct way to the application."""
        super().handle_connect(event)
        if self.handshake_initiated and not self.close_sent:
            extensions: Any = self.scope["extensions"]
            extensions[DIRECT] = self._carrier

    async def send(self, message: Any) -> None:
        """Sends what an application says; a refusal in words ends the handshake, too."""
        await super().send(message)
        self.handshake_complete |= self.initial_response is not None and self.close_sent

    def start_keepalive(self) -> None:
        """The handshake is done: frames come from now on, unless some have come already."""
        super().start_keepalive()
        if self._talk is not None and not self._hasty:
            self._cutter = Cutter(
                masked=True,
                max_size=self.config.ws_max_size,
                take=self._take,
                leave=self._leave,
            )

    def send_keepalive_ping(self) -> None:
        """Asks for a sign of life; any will do."""
        self._heard = False
        super().send_keepalive_ping()

    def keepalive_timeout(self) -> None:
        """Ends the connection, unless something came, or would have if it had been read."""
        if not (self._heard or self._held):
            return super().keepalive_timeout()
        self.pong_timer = self.pending_ping_payload = None
        return self.schedule_ping()

    def send_receive_event_to_app(self) -> None:
        """Hands over a message that came in fragments, or to ASGI."""
        if self._talk is None:
            return super().send_receive_event_to_app()
        message = b"".join(self.frames)
        self.frames = []
        return self._take(self.curr_msg_data_type == "text", message)

    def _take(self, text: bool, payload: bytes) -> None:
        if self._talk is None:
            return None
        if not text:
            return self._talk.on_frame(payload)
        try:
            message = payload.decode()
        except UnicodeDecodeError:
            return self._refuse_text()
        return self._talk.on_frame(message)

    def _leave(self, data: bytes) -> bool:
        super().data_received(data)
        return self.conn.close_rcvd is None and self.conn.parser_exc is None

    def pause_writing(self) -> None:
        """The client reads slower than it asks."""
        super().pause_writing()
        self._regulate()
        if self._talk is not None:
            self._talk.choke(True)

    def resume_writing(self) -> None:
        """The client has caught up."""
        super().resume_writing()
        self._regulate()
        if self._talk is not None:
            self._talk.choke(False)

    def emit(self, frame: str | bytes) -> None:
        """Sends a text or a binary frame now, unless one side has said goodbye."""
        if self.conn.state is OPEN and not self.transport.is_closing():
            self.transport.writelines(framed(frame))

    def hold(self, on: bool) -> None:
        """Stops or goes on reading from the socket."""
        self._held = on
        self._regulate()

    def _regulate(self) -> None:
        """Reads only if the answers, and be they pongs, find their way."""
        if self.transport.is_closing():
            return
        if self._held or self.read_paused or not self.writable.is_set():
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def shutdown(self) -> None:
        """Ends the socket, unless its client is saying goodbye at this very moment."""
        try:
            super().shutdown()
        except InvalidState:
            self.transport.close()

    def _refuse_text(self) -> None:
        """Closes as RFC 6455 asks for text that is not UTF-8: the client's mistake, not ours."""
        if self._cutter is not None:
            self._cutter.stop()
        self.conn.fail(1007, "text that is not UTF-8")
        self.handle_parser_exception()

    def _carrier(self, receive: Receive, send: Send) -> DirectCarrier:
        return DirectCarrier(self, receive, send)


class DirectCarrier:
    """The `Carrier` of a `DirectWebSocket`."""

    def __init__(self, socket: DirectWebSocket, receive: Receive, send: Send) -> None:
        self._socket = socket
        self._receive = receive
        self._send = send
        self.emit = socket.emit
        self.hold = socket.hold

    def carry(self, talk: Talk) -> Coroutine[None, None, None]:
        """Lets frames go straight to who talks; gives what ends when the client leaves."""
        self._socket._talk = talk
        return self._until_gone()

    async def end(self) -> None:
        """Closes the socket normally."""
        self._socket._talk = None
        if not (self._socket.close_sent or self._socket.transport.is_closing()):
            await self._send({"type": "websocket.close", "code": 1000})

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "websocket.disconnect":
            pass
