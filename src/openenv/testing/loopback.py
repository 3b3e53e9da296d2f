"""A real server in the test's own process."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from openenv.server.run import Server, server_for

_START_S = 30.0
_END_S = 30.0


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serves an application on a free port of this machine until the block ends.

    Args:
        app: an ASGI application, as `create_app` makes it.

    Yields:
        The server's address.

    Raises:
        RuntimeError: the server did not start or end within half a minute.
    """
    with running(app) as (url, _):
        yield url


@contextmanager
def running(app: Any) -> Iterator[tuple[str, Server]]:
    """As `serving`, with the server beside its address."""
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        server = server_for(app, listening)
        thread = threading.Thread(target=_run, args=(server, listening), name="openenv-serving")
        thread.start()
        try:
            _await_start(server, thread)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", server
        finally:
            server.should_exit = True
            thread.join(_END_S)
    if thread.is_alive():
        raise RuntimeError(f"the server did not end within {_END_S:g} s; does a step hang?")


def _run(server: Server, listening: socket.socket) -> None:
    with suppress(SystemExit):  # of a server that cannot start; it has said why
        server.run(sockets=[listening])


def _await_start(server: Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_S
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server ended while it started; its log says why")
        if time.monotonic() > deadline:
            raise RuntimeError(f"the server did not start within {_START_S:g} s")
        time.sleep(0.005)
