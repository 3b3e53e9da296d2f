"""WebSocket: a client's end of one, without I/O; blocking and awaiting transports share it."""

from __future__ import annotations

import time
from collections.abc import Callable

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import CLOSED, CLOSING, CONNECTING, OPEN
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from openenv.client.endpoint import Endpoint
from openenv.protocol.errors import ConnectFailed, OpenEnvError
from openenv.websocket_frames import Cutter, framed

CARRIES_DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)
END_OF_HEAD = b"\r\n\r\n"


class WebSocket:
    """Bytes in, messages out: the handshake, the frames, the signs of life, and the end.

    `outgoing()` has something to send after any other call.

    Args:
        endpoint: where to, and on what terms.
        take: gets each message: whether it is text, and its payload.

    Attributes:
        heartbeat: the message that asks for a sign of life, instead of a ping; of equal answers to
            it only the first is handed over.
    """

    def __init__(self, endpoint: Endpoint, take: Callable[[bool, bytes], object]) -> None:
        self._endpoint = endpoint
        self._take = take
        self._protocol = ClientProtocol(
            parse_uri(endpoint.ws_url),
            subprotocols=[Subprotocol(each) for each in endpoint.subprotocols] or None,
            max_size=endpoint.max_message_bytes,
        )
        self._cutter = Cutter(
            masked=False, max_size=endpoint.max_message_bytes, take=take, leave=self._leave
        )
        self._tail: bytes | None = b""
        self._parts: list[bytes] = []
        self._text = False
        self._quiet_since = time.monotonic()
        self._answer_due: float | None = None
        self._asked: list[bytes] = []
        self._answer: bytes | None = None
        self.heartbeat: str | bytes | None = None
        request = self._protocol.connect()
        request.headers.update(endpoint.headers)
        self._protocol.send_request(request)

    @property
    def is_connecting(self) -> bool:
        """Whether the server's answer to the handshake is awaited."""
        return self._protocol.state is CONNECTING and self._protocol.handshake_exc is None

    @property
    def is_over(self) -> bool:
        """Whether one side has said goodbye, or is gone."""
        return self._protocol.state in (CLOSING, CLOSED)

    @property
    def subprotocol(self) -> str | None:
        """What the server chose of what was offered."""
        return self._protocol.subprotocol

    @property
    def failure(self) -> ConnectFailed | None:
        """Why the handshake failed, if it did."""
        problem = self._protocol.handshake_exc
        if not isinstance(problem, InvalidStatus):
            return None if problem is None else self._endpoint.failed(problem)
        target = self.redirected_to
        why = f"{problem}, it points to {target}" if target else problem
        return self._endpoint.failed(why, problem.response.status_code)

    @property
    def redirected_to(self) -> str | None:
        """Where a refusal points to, if it does."""
        problem = self._protocol.handshake_exc
        if not isinstance(problem, InvalidStatus):
            return None
        return problem.response.headers.get("Location")

    @property
    def end(self) -> OpenEnvError:
        """How it ended."""
        end = self._protocol.close_rcvd or self._protocol.close_sent
        return self._endpoint.closed(end.code if end else None, end.reason if end else "")

    def receive(self, data: bytes) -> None:
        """Takes in what the server sent; nothing means that it will send no more."""
        self._quiet_since = time.monotonic()
        self._answer_due = None
        if not data:
            self._protocol.receive_eof()
        elif self._tail is None:
            self._cutter.feed(data)
        else:
            self._shake_hands(self._tail, data)

    @property
    def unsent(self) -> int:
        """How many pieces `outgoing()` would give."""
        return len(self._asked) + len(self._protocol.writes)

    def outgoing(self) -> list[bytes]:
        """What is to be sent besides messages: the handshake, pongs, signs of life, the goodbye."""
        if not self.unsent:
            return []
        asked, self._asked = self._asked, []
        return [piece for piece in self._protocol.data_to_send() if piece] + asked

    def frame(self, message: str | bytes) -> list[bytes]:
        """A message's frame, to be sent whole."""
        return framed(message, masked=True)

    def say_goodbye(self) -> None:
        """Ends the connection in good order."""
        self._protocol.send_close(CloseCode.NORMAL_CLOSURE)

    def fail(self, code: CloseCode, reason: str) -> None:
        """Ends the connection for a fault of the other side; what it still sends is dropped."""
        if not self.is_over:
            self._protocol.fail(code, reason)
            self._cutter.stop()

    def pause(self, now: float) -> float | None:
        """How long `keep_alive` may wait before it is called again; `None` for ever."""
        interval = self._endpoint.ping_interval
        if interval is None:
            return None
        due = self._answer_due
        left = self._quiet_since + interval - now if due is None else min(interval, due - now)
        return max(left, 0.0)

    def keep_alive(self, now: float) -> None:
        """Asks for a sign of life after some quiet; without one the connection is given up."""
        interval = self._endpoint.ping_interval
        if interval is None or self._protocol.state is not OPEN:
            return
        if self._answer_due is not None:
            if now >= self._answer_due:
                self.fail(CloseCode.INTERNAL_ERROR, "keepalive ping timeout")
        elif now >= self._quiet_since + interval:
            self._ask()
            self._quiet_since = now
            if self._endpoint.ping_timeout is not None:
                self._answer_due = now + self._endpoint.ping_timeout

    def _ask(self) -> None:
        if self.heartbeat is None:
            self._protocol.send_ping(b"openenv")
        else:
            self._asked = self.frame(self.heartbeat)
            self._cutter.take = self._sift

    def _sift(self, text: bool, payload: bytes) -> None:
        """What comes first after a heartbeat answers it; the same answer again is no news."""
        self._cutter.take = self._take
        if payload != self._answer:
            self._answer = payload
            self._take(text, payload)

    def _shake_hands(self, tail: bytes, data: bytes) -> None:
        """Has `websockets` read the answer's head; frames may follow at its heels."""
        joined = tail + data
        found = joined.find(END_OF_HEAD)
        if found < 0:
            self._tail = joined[-3:]
            self._protocol.receive_data(data)
            return
        self._tail = None
        end = found + len(END_OF_HEAD) - len(tail)
        self._protocol.receive_data(data[:end])
        self._protocol.events_received()
        if self._protocol.state is not OPEN:
            self._cutter.stop()
        self._cutter.feed(data[end:])

    def _leave(self, data: bytes) -> bool:
        protocol = self._protocol
        protocol.receive_data(data)
        for event in protocol.events_received():
            if isinstance(event, Frame) and event.opcode in CARRIES_DATA:
                self._join(event)
        return protocol.close_rcvd is None and protocol.parser_exc is None

    def _join(self, fragment: Frame) -> None:
        if fragment.opcode is not Opcode.CONT:
            self._text = fragment.opcode is Opcode.TEXT
        self._parts.append(bytes(fragment.data))
        if fragment.fin:
            message = b"".join(self._parts)
            self._parts.clear()
            self._take(self._text, message)
