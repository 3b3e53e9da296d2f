"""The page of a server elsewhere, and servers elsewhere that are none of environments."""

import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from websockets.sync.server import Server, ServerConnection, serve

from openenv.client.endpoint import Endpoint
from openenv.project.page.application import application
from openenv.server.run import listen, server_for
from tests.serving import PATIENCE_S, Served, eventually

_UNHEARD = logging.Logger("unheard")  # the library calls a cut connection an error of its own
_UNHEARD.disabled = True


@contextmanager
def page_of(url: str, token: str | None = None, key: str | None = None) -> Iterator[Served]:
    """The page against a server, until the block ends."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    endpoint = Endpoint(url, headers, connect_timeout=PATIENCE_S)
    with listen("127.0.0.1", 0) as listening:
        app = application(endpoint, local=True, key=key)
        server = server_for(app, listening, quiet=True)
        server.config.ws_max_size = endpoint.max_message_bytes
        thread = threading.Thread(target=server.run, args=([listening],), name="test-page")
        thread.start()
        try:
            eventually(lambda: server.started or not thread.is_alive())
            yield Served(server, cast(Any, None), listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)
    assert not thread.is_alive(), "the page did not end"


@contextmanager
def sockets(talk: Callable[[ServerConnection], None], **options: Any) -> Iterator[str]:
    """A server of WebSockets that talks as it is told; its address."""
    listening = serve(talk, "127.0.0.1", 0, compression=None, logger=_UNHEARD, **options)
    with listening as server, _running(server):
        yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"


@contextmanager
def website(status: int, headers: dict[str, str], body: bytes = b"<html>") -> Iterator[str]:
    """A server that answers every request alike; its address."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server, _running(server):
        yield f"http://127.0.0.1:{server.server_address[1]}"


@contextmanager
def _running(server: Server | ThreadingHTTPServer) -> Iterator[None]:
    """Serves on a thread of its own until the block ends."""
    thread = threading.Thread(target=server.serve_forever, name="test-server")
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join(PATIENCE_S)


def nobody() -> str:
    """An address at which nothing answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"http://127.0.0.1:{listening.getsockname()[1]}"
