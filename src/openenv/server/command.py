"""The command that a package's `server/app.py` offers: `--host`, `--port`, serve."""

from __future__ import annotations

import argparse
from typing import Any

from openenv.server.run import serve_app


def serve_command(app: Any) -> None:
    """Serves an application as its command line says, until SIGTERM or Ctrl-C.

    Args:
        app: the ASGI application. `--host` is this machine alone by default, `--port` is 8000.
    """
    parser = argparse.ArgumentParser(description="Serves this environment.")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 inside a container")
    parser.add_argument("--port", type=int, default=8000, help="0 picks a free one")
    options = parser.parse_args()
    serve_app(app, options.host, options.port)
