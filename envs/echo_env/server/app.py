"""The echo environment's application, and the command that serves it."""

from __future__ import annotations

import argparse

from echo_env.models import EchoAction, EchoObservation
from echo_env.server.echo_environment import EchoEnvironment
from openenv import create_app
from openenv.server.run import serve_app

app = create_app(EchoEnvironment, EchoAction, EchoObservation, env_name="echo_env")


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="0.0.0.0", help="the address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="0 picks a free one")
    options = parser.parse_args()
    serve_app(app, host=options.host, port=options.port)


if __name__ == "__main__":
    main()
