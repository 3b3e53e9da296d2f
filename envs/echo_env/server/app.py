"""The echo environment's application, and the command that serves it."""

from __future__ import annotations

from echo_env.models import EchoAction, EchoObservation
from echo_env.server.echo_environment import EchoEnvironment
from openenv import create_app
from openenv.server.command import serve_command

app = create_app(EchoEnvironment, EchoAction, EchoObservation, env_name="echo_env")


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
