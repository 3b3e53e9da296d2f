"""An agent that is an HTTP server; its first argument says in which form it answers."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

FORM = sys.argv[1]


class Talk(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert self.path == "/message"
        assert self.headers["Authorization"] == f"Bearer {os.environ['OPENENV_HARNESS_TOKEN']}"
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        getattr(self, FORM)({"response": f"echo:{told['content']}", "done": False})

    def whole(self, response: dict[str, object]) -> None:
        self._head(200, "application/json; charset=utf-8")
        self._line({**response, "events": [{"type": "text_output", "data": {"text": "hm"}}]})

    def streamed(self, response: dict[str, object]) -> None:
        self._head(200, "application/x-ndjson")
        self._line({"type": "llm_chunk", "data": {"content": "ec"}})
        self._line({"type": "turn_complete", "data": response})

    def refuses(self, _response: object) -> None:
        self._head(503, "text/plain")
        self.wfile.write(b"no model today")

    def floods(self, response: dict[str, object]) -> None:
        flood()
        self.whole(response)

    def dies(self, _response: object) -> None:
        self._head(200, "application/x-ndjson")
        self._line({"type": "llm_chunk", "data": {"content": "ec"}})
        os._exit(9)

    def mumbles(self, _response: object) -> None:
        self._head(200, "application/json")
        self._line({"answer": 42})

    def _head(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()

    def _line(self, said: dict[str, object]) -> None:
        self.wfile.write(json.dumps(said).encode() + b"\n")
        self.wfile.flush()


def flood() -> None:
    """Writes much, and no end of a line."""
    sys.stdout.write("." * 3_000_000)
    sys.stdout.flush()


with HTTPServer(("127.0.0.1", 0), Talk) as server:
    if FORM == "floods":
        flood()
    sys.stderr.write(f"listening on http://127.0.0.1:{server.server_port}\n")
    sys.stderr.flush()
    server.serve_forever()
