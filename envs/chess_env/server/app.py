"""The chess environment's application, and the command that serves it."""

from __future__ import annotations

from chess_env.models import ChessAction, ChessObservation
from chess_env.server.chess_environment import ChessEnvironment
from openenv import create_app
from openenv.server.command import serve_command

app = create_app(ChessEnvironment, ChessAction, ChessObservation, env_name="chess_env")


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
