"""Where pages are: at servers of this process, behind prefixes, in frames of other pages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fastapi import FastAPI

from openenv.server.app import create_app
from tests.serving import Served, serving, serving_app


def page_of(served: Served, prefix: str = "") -> str:
    """The address of a server's page."""
    return f"http://127.0.0.1:{served.port}{prefix}/web/"


@contextmanager
def served_page(env: Any, **options: Any) -> Iterator[str]:
    """Serves an environment with its page; the page's address."""
    with serving(env, web=True, **options) as served:
        yield page_of(served)


@contextmanager
def served_under(prefix: str, env: Any, **options: Any) -> Iterator[Served]:
    """Serves an environment with its page under a path of another application."""
    inner = create_app(env, web=True, **options)
    outer = FastAPI(lifespan=inner.router.lifespan_context)
    outer.state.openenv = inner.state.openenv
    outer.mount(prefix, inner)
    with serving_app(outer) as served:
        yield served


@contextmanager
def other_site(html: str) -> Iterator[str]:
    """A page of another origin; its address."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = html.encode() if self.path == "/" else b""
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join(10)
