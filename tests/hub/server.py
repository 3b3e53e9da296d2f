"""The Hub of `api.py` on a port. It fails as it is told to: with a status, a cut line, or late."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from tests.hub.api import FakeHub, Fault, Refusal, Request

_CHUNK = 1 << 14


class _Connection(BaseHTTPRequestHandler):
    """One connection: reads requests, meets faults, writes answers."""

    hub: FakeHub
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # an answer in one piece
    timeout = 15

    def _serve(self) -> None:
        url = urlsplit(self.path)
        fault = self.hub.fault_for(self.command, url.path)
        if fault and fault.status == 0 and not fault.performed:
            self._cut()
            return
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
        body = self._body()
        request = Request(self.command, url.path, parse_qs(url.query), body, token)
        status, headers, content = self._outcome(request, fault)
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = _serve

    def _outcome(self, request: Request, fault: Fault | None) -> tuple[int, dict[str, str], bytes]:
        if fault is not None:
            self.hub.ended.wait(fault.after_s)
            if not fault.performed:
                self.hub.requests.append(request)
                headers = {"X-Error-Message": fault.message} if fault.message else {}
                return fault.status, {**headers, **fault.headers}, fault.body
        try:
            content = json.dumps(self.hub.answer(request)).encode()
        except Refusal as refusal:
            return refusal.status, refusal.headers, b"{}"
        if fault is not None and fault.performed:
            return fault.status, fault.headers, b""
        return 200, {"Content-Type": "application/json"}, content

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _cut(self) -> None:
        if self.headers.get("Content-Length") or self.headers.get("Transfer-Encoding"):
            self.rfile.read1(_CHUNK)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Stays silent."""


@contextmanager
def fake_hub(hub: FakeHub | None = None) -> Iterator[FakeHub]:
    """A Hub that runs until the block ends; one that is new by default."""
    hub = hub or FakeHub()
    connection = type("Connection", (_Connection,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), connection) as server:
        server.daemon_threads = False  # so that its end waits for every connection's
        hub.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="fake-hub")
        thread.start()
        try:
            yield hub
        finally:
            hub.ended.set()
            server.shutdown()
            thread.join(10)
    assert not thread.is_alive(), "the Hub did not end"
