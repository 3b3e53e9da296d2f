"""A Docker registry of our own: as much of its API as `docker push` needs."""

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class FakeRegistry:
    """What was pushed: blobs by digest, manifests by name and tag."""

    def __init__(self) -> None:
        self.host = ""
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[str, bytes] = {}
        self.refuses = False


class _Connection(BaseHTTPRequestHandler):
    registry: FakeRegistry
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # an answer in one piece
    timeout = 5

    def do_GET(self) -> None:
        if self.registry.refuses and self.path != "/v2/":
            self._answer(403, body=b'{"errors":[{"code":"DENIED","message":"denied"}]}')
        else:
            self._answer(200 if self.path == "/v2/" else 404)

    def do_HEAD(self) -> None:
        digest = self.path.rpartition("/")[2]
        blob = self.registry.blobs.get(digest)
        if blob is None:
            self._answer(404)
        else:
            self._answer(200, {"Docker-Content-Digest": digest}, length=len(blob))

    def do_POST(self) -> None:
        if self.registry.refuses:
            self._answer(403, body=b'{"errors":[{"code":"DENIED","message":"denied"}]}')
            return
        place = self.path.partition("?")[0].rstrip("/") + "/one-of-many"
        self._answer(202, {"Location": place, "Docker-Upload-UUID": "one", "Range": "0-0"})

    def do_PATCH(self) -> None:
        content = self._body()
        self.registry.blobs["sha256:" + hashlib.sha256(content).hexdigest()] = content
        self._answer(202, {"Location": self.path, "Range": f"0-{max(len(content) - 1, 0)}"})

    def do_PUT(self) -> None:
        content = self._body()
        url = urlsplit(self.path)
        if found := re.fullmatch(r"/v2/(.+)/manifests/(.+)", url.path):
            self.registry.manifests[f"{found[1]}:{found[2]}"] = content
            digest = "sha256:" + hashlib.sha256(content).hexdigest()
        else:
            digest = parse_qs(url.query)["digest"][0]
            if content:
                self.registry.blobs[digest] = content
            assert digest in self.registry.blobs
        self._answer(201, {"Location": self.path, "Docker-Content-Digest": digest})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(
        self,
        status: int,
        headers: dict[str, str] | None = None,
        body: bytes = b"",
        length: int | None = None,
    ) -> None:
        self.send_response(status)
        sized = {"Content-Length": str(len(body) if length is None else length)}
        for name, value in {**(headers or {}), **sized}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Stays silent."""


@contextmanager
def fake_registry() -> Iterator[FakeRegistry]:
    """A registry that runs until the block ends; Docker needs no TLS on loopback."""
    registry = FakeRegistry()
    connection = type("Connection", (_Connection,), {"registry": registry})
    with ThreadingHTTPServer(("127.0.0.1", 0), connection) as server:
        server.daemon_threads = False
        registry.host = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="fake-registry")
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join(10)
    assert not thread.is_alive(), "the registry did not end"
