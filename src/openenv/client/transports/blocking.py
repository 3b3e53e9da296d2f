"""A WebSocket on a plain socket: the calling thread itself sends and receives.

No thread stands between a caller and its answer. What must happen while nobody calls (answering
pings, noticing that the server left) is done for all sockets by one keeper thread.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import socket
import ssl
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from websockets.frames import CloseCode

from openenv.client.effects import Wait, late
from openenv.client.endpoint import Endpoint
from openenv.client.transports.dial import dial
from openenv.client.transports.keeper import keep
from openenv.client.transports.websocket import WebSocket
from openenv.protocol.client import raise_uninvited
from openenv.protocol.errors import ConnectFailed

CHUNK_BYTES = 65536
TICK_S = 1.0
"""How often a waiting call looks at its deadlines."""
MAX_UNINVITED = 16
"""In v1 nothing comes that was not asked for, but for a parting word."""
MAX_WAITING = 1024
"""Where answers may come while nobody calls, no more are read than this before somebody does."""
GIVE_WAY_S = 0.01
"""How long one steps aside for another thread: a lock alone is fair to nobody."""
NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class BlockingSocket:
    """One open connection. One call at a time; any thread may make it.

    `exchange` is all that v1 needs; with a subprotocol messages go either way at any time, by
    `send` and `receive`. Deadlines are times of `time.monotonic()`.

    Args:
        endpoint: where to, and on what terms.

    Raises:
        ConnectFailed: there is no connection.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._turn = threading.Lock()
        self._turn_is_wanted = False
        self._messages: deque[tuple[bool, bytes]] = deque()
        self._websocket = WebSocket(endpoint, _adding_to(self._messages))
        deadline = time.monotonic() + endpoint.connect_timeout
        self._socket = dial(endpoint)
        self._socket.setblocking(False)
        self._readable = _readiness(self._socket)
        self._writable = _readiness(self._socket, reading=False, writing=True)
        try:
            self._shake_hands(deadline)
        except BaseException as error:
            self._socket.close()
            if isinstance(error, OSError) and not isinstance(error, ConnectFailed):
                raise endpoint.failed(error) from error
            raise
        self._finalizer: Any = weakref.finalize(self, self._socket.close)
        keep(self)

    @property
    def subprotocol(self) -> str | None:
        """What the server chose of what was offered."""
        return self._websocket.subprotocol

    def exchange(self, frame: str, timeout_s: float) -> bytes:
        """Sends a frame and returns the frame that answers it.

        Whatever goes wrong, the connection is dropped: a late answer can never be taken for
        another's.

        Raises:
            ReplyTimeout: no answer came in time.
            SessionLost: the server closed the connection.
            SessionError: the server had said why it would.
        """
        deadline = time.monotonic() + timeout_s
        with self._turn:
            try:
                self._catch_up()
                with contextlib.suppress(OSError):  # the server left; it may have said why
                    self._write(self._websocket.frame(frame), deadline)
                answer = self._next(deadline)
                if answer is None:
                    raise self._endpoint.late(timeout_s)
                return answer[1]
            except BaseException:
                self.abort()
                raise

    def send(self, frame: str | bytes, deadline: float) -> None:
        """Sends a frame; if the server has left meanwhile, `receive` tells.

        Raises:
            ReplyTimeout: the server did not take it in time; the connection is dropped.
            SessionLost: the connection is closed.
        """
        begun = time.monotonic()
        self._turn_is_wanted = True
        with self._turn:
            self._turn_is_wanted = False
            if self._is_over:
                if self._messages:  # it may have said why it left
                    return
                raise self._websocket.end
            try:
                self._write(self._websocket.frame(frame), deadline)
            except TimeoutError as error:
                self.abort()
                raise late(Wait(round(time.monotonic() - begun, 2))) from error
            except OSError:  # the server left; it may have said why
                pass
            except BaseException:
                self.abort()
                raise

    def receive(self, deadline: float) -> str | bytes | None:
        """The next message; `None` if none has come in time, and the connection goes on.

        A deadline in the past gives what has come already. It may end early when another thread
        has something to say.

        Raises:
            SessionLost: the connection is closed, and every message was received.
        """
        self._turn_is_wanted = True
        with self._turn:
            self._turn_is_wanted = False
            try:
                if (message := self._next(deadline, gives_way=True)) is not None:
                    text, payload = message
                    return payload.decode() if text else payload
            except UnicodeDecodeError as error:
                self._websocket.fail(CloseCode.INVALID_DATA, "text that is not UTF-8")
                self.abort()
                raise self._websocket.end from error
            except BaseException:
                self.abort()
                raise
        if self._turn_is_wanted:
            time.sleep(GIVE_WAY_S)
        return None

    def keep(self, heartbeat: str | bytes, farewell: str | bytes) -> None:
        """What to send when it is quiet, and when nobody holds the connection any more."""
        self._websocket.heartbeat = heartbeat
        self._finalizer.detach()
        self._finalizer = weakref.finalize(
            self, _part_from, self._socket, b"".join(self._websocket.frame(farewell)), os.getpid()
        )

    def close(self, goodbye: str | bytes | None, timeout_s: float) -> None:
        """Says goodbye and waits until the server has freed the session, or time is up.

        Args:
            goodbye: the message that has the server do so; `None` if nothing is to be waited for.
            timeout_s: for how long.
        """
        deadline = time.monotonic() + timeout_s
        with contextlib.closing(self._socket), contextlib.suppress(OSError):
            if not self._turn.acquire(timeout=timeout_s):  # another thread's call hangs
                self._socket.shutdown(socket.SHUT_RDWR)
                return
            try:
                self._part(goodbye, deadline)
            finally:
                self._turn.release()

    def abort(self) -> None:
        """Drops the connection without a word."""
        self._socket.close()

    def tend(self) -> bool:
        """Answers pings and notices the end while nobody calls; `False` once it is over."""
        if self._turn.acquire(blocking=False):
            try:
                while self._has_room() and not self._is_over and self._look(0.0):
                    pass
                if self._is_over:
                    self.abort()
            finally:
                self._turn.release()
        return not self._is_over

    @property
    def _is_over(self) -> bool:
        """Whether it has ended. The number of a descriptor that was closed may be another's by now.

        Any thread may drop the connection, so what tells is the socket, not its protocol's state.
        """
        return self._websocket.is_over or self._socket.fileno() < 0

    def _part(self, goodbye: str | bytes | None, deadline: float) -> None:
        websocket = self._websocket
        if not self._is_over:
            if goodbye is None:
                websocket.say_goodbye()
            else:
                self._write(websocket.frame(goodbye), deadline)
            self._flush(deadline)
        while not self._is_over and (left := deadline - time.monotonic()) > 0:
            self._read(min(TICK_S, left))
            self._flush(deadline)
            self._messages.clear()

    def _catch_up(self) -> None:
        """Takes in what came while nobody called: a parting word, at best.

        Raises:
            SessionLost: the server has closed the connection.
            SessionError: it said why.
            ProtocolError: it sent what nobody had asked for.
        """
        while not self._is_over and self._look(0.0):
            pass
        if self._messages:
            raise_uninvited(self._messages.popleft()[1])
        if self._is_over:
            raise self._websocket.end

    def _next(self, deadline: float, *, gives_way: bool = False) -> tuple[bool, bytes] | None:
        while not self._messages and not (gives_way and self._turn_is_wanted):
            if self._is_over:
                raise self._websocket.end
            left = deadline - time.monotonic()
            self._look(TICK_S if left > TICK_S else max(left, 0.0))
            if left <= 0:
                break
        return self._messages.popleft() if self._messages else None

    def _look(self, wait: float) -> bool:
        """Reads and keeps alive; whether there may be more. A fault is the connection's end."""
        try:
            more = self._read(wait)
            if not more:
                self._websocket.keep_alive(time.monotonic())
            if unsent := self._websocket.unsent:
                self._answer(unsent)
        except OSError:
            self._websocket.receive(b"")
            return False
        return more

    def _answer(self, unsent: int) -> None:
        """Sends pongs and the like now or at the next look: one server must not hold up all."""
        if self._writable(0.0):
            self._flush()
        elif unsent > MAX_WAITING:
            self._websocket.fail(CloseCode.POLICY_VIOLATION, "pings, but it takes no pongs")

    def _read(self, wait: float) -> bool:
        """Takes in what the server has sent; `False` if it was nothing."""
        if not self._readable(wait):
            return False
        try:
            data = self._socket.recv(CHUNK_BYTES)
        except NOT_NOW:
            return False
        self._websocket.receive(data)
        if len(self._messages) > MAX_UNINVITED and self.subprotocol is None:
            self._websocket.fail(CloseCode.POLICY_VIOLATION, "too many uninvited messages")
        return bool(data)

    def _flush(self, deadline: float = math.inf) -> None:
        if pieces := self._websocket.outgoing():
            self._write(pieces, deadline)

    def _write(self, pieces: list[bytes], deadline: float) -> None:
        """Sends all, though the server may take its time as long as it takes something.

        Raises:
            OSError: it took nothing more, or has left.
        """
        for piece in pieces:
            sent = self._try_to_send(piece)
            if sent < len(piece):
                self._write_slowly(memoryview(piece)[sent:], deadline)

    def _write_slowly(self, rest: memoryview, deadline: float) -> None:
        """Reads meanwhile: a server that is not read may be waiting for just that."""
        patience = self._endpoint.connect_timeout
        stalled_at = time.monotonic() + patience
        await_movement = _readiness(self._socket, writing=True)
        while rest:
            now = time.monotonic()
            if now > min(deadline, stalled_at):
                raise TimeoutError("the server takes nothing more")
            await_movement(min(deadline - now, TICK_S))
            self._read(0.0)
            if self._is_over:
                raise ConnectionError("the server has left")
            if sent := self._try_to_send(rest):
                rest = rest[sent:]
                stalled_at = time.monotonic() + patience

    def _try_to_send(self, data: bytes | memoryview) -> int:
        try:
            return self._socket.send(data)
        except NOT_NOW:
            return 0

    def _has_room(self) -> bool:
        waiting = self._messages
        return len(waiting) < MAX_WAITING and (
            sum(len(payload) for _, payload in waiting) < self._endpoint.max_message_bytes
        )

    def _shake_hands(self, deadline: float) -> None:
        websocket = self._websocket
        self._flush(deadline)
        while websocket.is_connecting:
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._endpoint.failed(TimeoutError("the server did not answer in time"))
            self._read(left)
        if (failure := websocket.failure) is not None:
            raise failure from None


def _part_from(connection: socket.socket, farewell: bytes, owner: int) -> None:
    """Says a last word, if there is room for it, and closes; a forked child has no say."""
    with contextlib.suppress(OSError):
        if os.getpid() == owner:
            connection.send(farewell)
    connection.close()


def _adding_to(messages: deque[tuple[bool, bytes]]) -> Callable[[bool, bytes], object]:
    """Keeps each message, and no hold on the socket: it must go when its client goes."""
    return lambda text, payload: messages.append((text, payload))


def _readiness(
    connection: socket.socket, *, reading: bool = True, writing: bool = False
) -> Callable[[float], object]:
    """Gives what waits, for so many seconds at most, until there is something to do.

    Args:
        connection: the socket.
        reading: waits until there is something to read.
        writing: waits until there is room to write.
    """
    if hasattr(select, "poll"):
        poller = select.poll()
        events = (select.POLLIN if reading else 0) | (select.POLLOUT if writing else 0)
        poller.register(connection, events)

        def wait_for(wait: float) -> object:
            return poller.poll(wait * 1000)

    else:  # Windows, where a descriptor's number sets no limit
        read, written = [connection] * reading, [connection] * writing

        def wait_for(wait: float) -> object:
            return any(select.select(read, written, [], wait))

    if reading and isinstance(connection, ssl.SSLSocket):
        return lambda wait: connection.pending() or wait_for(wait)
    return wait_for
