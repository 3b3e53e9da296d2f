"""The 2048 environment's application, and the command that serves it."""

from __future__ import annotations

from game_2048_env.models import Game2048Action, Game2048Observation
from game_2048_env.server.game_2048_environment import Game2048Environment
from openenv import create_app
from openenv.server.command import serve_command

app = create_app(Game2048Environment, Game2048Action, Game2048Observation, env_name="game_2048_env")


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
