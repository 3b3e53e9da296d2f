"""The Connect Four environment's application, and the command that serves it."""

from __future__ import annotations

from connect4_env.models import Connect4Action, Connect4Observation
from connect4_env.server.connect4_environment import Connect4Environment
from openenv import create_app
from openenv.server.command import serve_command

app = create_app(Connect4Environment, Connect4Action, Connect4Observation, env_name="connect4_env")


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
