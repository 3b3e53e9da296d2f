"""A server that goes wrong as FAULT says: `exit`, `sleep:S`, `status:N`, `memory`, `silent`."""

import http.server
import os
import sys
import time

kind, _, value = os.environ.get("FAULT", "").partition(":")
sys.stdout.write(f"the fault is {kind or 'none'}\n")
sys.stdout.flush()
if kind == "exit":
    sys.exit("the level file is missing")
if kind == "sleep":
    time.sleep(float(value))
if kind == "memory":
    filled = b"x" * (1 << 30)


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if kind == "silent":
            time.sleep(3600)
        body = repr(dict(os.environ)).encode()
        self.send_response(int(value) if kind == "status" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


http.server.ThreadingHTTPServer(("0.0.0.0", 8000), Answer).serve_forever()
