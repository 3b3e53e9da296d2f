"""A WebSocket on a plain socket: the calling thread itself sends and receives.

No thread stands between a caller and its answer. What must happen while nobody calls (answering
pings, noticing that the server left) is done for all sockets by one keeper thread.
"""

from __future__ import annotations

import contextlib
import http.client
import math
import socket
import ssl
import threading
import time
import weakref
from base64 import b64encode
from collections import deque
from typing import Any
from urllib.parse import unquote, urlsplit

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake, InvalidStatus
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from openenv.client.endpoint import Endpoint
from openenv.client.transports.keeper import keep
from openenv.protocol.client import raise_uninvited
from openenv.protocol.errors import ConnectFailed, OpenEnvError

CHUNK_BYTES = 65536
TICK_S = 1.0
"""How often a waiting call looks at its deadlines."""
MAX_UNINVITED = 16


class BlockingSocket:
    """One open connection. One call at a time; any thread may make it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._protocol = ClientProtocol(
            parse_uri(endpoint.ws_url), max_size=endpoint.max_message_bytes
        )
        self._turn = threading.Lock()
        self._messages: deque[bytes] = deque()
        self._parts: list[bytes] = []
        self._wait: float | None = None
        self._pong_due: float | None = None
        deadline = time.monotonic() + endpoint.connect_timeout
        self._socket = _open_socket(endpoint)
        try:
            self._shake_hands(deadline)
        except BaseException as error:
            self._socket.close()
            if isinstance(error, OSError) and not isinstance(error, ConnectFailed):
                raise endpoint.failed(error) from error
            raise
        self._quiet_since = time.monotonic()
        weakref.finalize(self, self._socket.close)
        keep(self)

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
                self._protocol.send_text(frame.encode())
                with contextlib.suppress(OSError):  # the server left; it may have said why
                    self._flush(deadline)
                return self._receive(deadline, timeout_s)
            except BaseException:
                self.abort()
                raise

    def close(self, goodbye: str, timeout_s: float) -> None:
        """Says goodbye and waits until the server has freed the session, or time is up."""
        deadline = time.monotonic() + timeout_s
        with contextlib.closing(self._socket), contextlib.suppress(OSError):
            if not self._turn.acquire(timeout=timeout_s):  # another thread's call hangs
                self._socket.shutdown(socket.SHUT_RDWR)
                return
            try:
                self._part(goodbye, deadline)
            finally:
                self._turn.release()

    def _part(self, goodbye: str, deadline: float) -> None:
        if not self._over:
            self._protocol.send_text(goodbye.encode())
            self._flush(deadline)
        while not self._over and (left := deadline - time.monotonic()) > 0:
            self._read(min(TICK_S, left))
            self._messages.clear()

    def abort(self) -> None:
        """Drops the connection without a word."""
        self._socket.close()

    def tend(self) -> bool:
        """Answers pings and notices the end while nobody calls; `False` once it is over."""
        if self._turn.acquire(blocking=False):
            try:
                while self._look(0.0):
                    pass
                if self._over:
                    self.abort()
            finally:
                self._turn.release()
        return not self._over

    @property
    def _over(self) -> bool:
        return self._protocol.state in (State.CLOSING, State.CLOSED)

    def _catch_up(self) -> None:
        """Takes in what came while nobody called: a parting word, at best.

        Raises:
            SessionLost: the server has closed the connection.
            SessionError: it said why.
            ProtocolError: it sent what nobody had asked for.
        """
        while self._look(0.0):
            pass
        if self._messages:
            raise_uninvited(self._messages.popleft())
        if self._over:
            raise self._closed()

    def _receive(self, deadline: float, timeout_s: float) -> bytes:
        while not self._messages:
            if self._over:
                raise self._closed()
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._endpoint.late(timeout_s)
            self._look(TICK_S if left > TICK_S else left)
        return self._messages.popleft()

    def _closed(self) -> OpenEnvError:
        end = self._protocol.close_rcvd or self._protocol.close_sent
        return self._endpoint.closed(end.code if end else None, end.reason if end else "")

    def _look(self, wait: float) -> bool:
        """Reads and keeps alive; whether there may be more. A fault is the connection's end."""
        try:
            more = self._read(wait)
            self._keep_alive()
        except OSError:
            self._protocol.receive_eof()
            return False
        return more

    def _read(self, wait: float) -> bool:
        """Takes in what the server has sent; `False` if it was nothing."""
        if wait != self._wait:
            self._socket.settimeout(wait)
            self._wait = wait
        try:
            data = self._socket.recv(CHUNK_BYTES)
        except (TimeoutError, BlockingIOError, ssl.SSLWantReadError):
            return False
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        self._quiet_since = time.monotonic()
        self._pong_due = None
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take(event)
        self._flush()
        return bool(data)

    def _take(self, frame: Frame) -> None:
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return
        self._parts.append(bytes(frame.data))
        if frame.fin:
            self._messages.append(b"".join(self._parts))
            self._parts.clear()
            if len(self._messages) > MAX_UNINVITED:
                self._protocol.fail(CloseCode.POLICY_VIOLATION, "too many uninvited messages")

    def _flush(self, deadline: float = math.inf) -> None:
        for data in self._protocol.data_to_send():
            if data:
                if self._wait != TICK_S:
                    self._socket.settimeout(TICK_S)
                    self._wait = TICK_S
                self._send_all(data, deadline)

    def _send_all(self, data: bytes, deadline: float) -> None:
        """As `sendall`, but a slow reader may take its time as long as it takes something."""
        view = memoryview(data)
        patience = self._endpoint.connect_timeout
        stalled_until = min(deadline, time.monotonic() + patience)
        while view:
            try:
                view = view[self._socket.send(view) :]
                stalled_until = min(deadline, time.monotonic() + patience)
            except (TimeoutError, ssl.SSLWantWriteError):
                if time.monotonic() > stalled_until:
                    raise

    def _keep_alive(self) -> None:
        """Pings a quiet connection; one that does not answer is given up."""
        endpoint = self._endpoint
        if endpoint.ping_interval is None or self._over:
            return
        now = time.monotonic()
        if self._pong_due is not None:
            if now > self._pong_due:
                self._protocol.fail(CloseCode.INTERNAL_ERROR, "keepalive ping timeout")
        elif now - self._quiet_since > endpoint.ping_interval:
            self._protocol.send_ping(b"openenv")
            self._flush()
            if endpoint.ping_timeout is not None:
                self._pong_due = now + endpoint.ping_timeout
            self._quiet_since = now

    def _shake_hands(self, deadline: float) -> None:
        request = self._protocol.connect()
        request.headers.update(self._endpoint.headers)
        self._protocol.send_request(request)
        self._flush()
        while self._protocol.state is State.CONNECTING and self._protocol.handshake_exc is None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._endpoint.failed(TimeoutError("the server did not answer in time"))
            self._read(left)
        if (problem := self._protocol.handshake_exc) is not None:
            if not isinstance(problem, InvalidStatus):
                raise self._endpoint.failed(problem) from None
            target = problem.response.headers.get("Location")
            why = f"{problem}, it points to {target}" if target else problem
            raise self._endpoint.failed(why, problem.response.status_code) from None


def _open_socket(endpoint: Endpoint) -> socket.socket:
    """A connected socket, through a proxy and TLS where the address asks for them."""
    url = urlsplit(endpoint.ws_url)
    host, secure = url.hostname or "", url.scheme == "wss"
    port = url.port or (443 if secure else 80)
    try:
        opened: Any = _through_proxy(endpoint, host, port) or socket.create_connection(
            (host, port), endpoint.connect_timeout
        )
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if secure:
            opened = ssl.create_default_context().wrap_socket(opened, server_hostname=host)
    except ConnectFailed:
        raise
    except (OSError, http.client.HTTPException, InvalidHandshake) as error:
        raise endpoint.failed(error) from error
    connection: socket.socket = opened
    return connection


def _through_proxy(endpoint: Endpoint, host: str, port: int) -> socket.socket | None:
    """A tunnel through the proxy that the environment names for this address, if it does."""
    if endpoint.proxy is None:
        return None
    proxy = urlsplit(endpoint.proxy)
    tunnel = http.client.HTTPConnection(
        proxy.hostname or "", proxy.port or 80, timeout=endpoint.connect_timeout
    )
    headers = {}
    if proxy.username is not None:
        login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
    tunnel.set_tunnel(host, port, headers)
    tunnel.connect()
    return tunnel.sock
