"""HTTP answers that are whole in time: a server that sends a byte now and then holds nobody up."""

from __future__ import annotations

import io
import socket
import time
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.request import (
    BaseHandler,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    Request,
    build_opener,
)


def opener(*handlers: BaseHandler | type[BaseHandler]) -> OpenerDirector:
    """Opens addresses as urllib does, but the timeout is of a whole answer, not of each byte.

    Args:
        handlers: over urllib's own.
    """
    return build_opener(_OpensHTTP, _OpensHTTPS, *handlers)


class _Timely(io.RawIOBase):
    """What a socket receives until its timeout, from now on, is over."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw = raw
        self._socket = sock
        timeout_s = sock.gettimeout()
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._deadline is not None:
            remaining_s = self._deadline - time.monotonic()
            if remaining_s <= 0:
                raise TimeoutError("its answer was not whole in time")
            self._socket.settimeout(remaining_s)
        count: int | None = self._raw.readinto(buffer)
        return count

    def close(self) -> None:
        super().close()
        self._raw.close()


class _Answer(HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_Timely(self.fp.detach(), sock))


class _Connection(HTTPConnection):
    response_class = _Answer


class _SecureConnection(HTTPSConnection):
    response_class = _Answer


class _OpensHTTP(HTTPHandler):
    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_Connection, req)


class _OpensHTTPS(HTTPSHandler):
    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_SecureConnection, req)
