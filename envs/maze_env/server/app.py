"""The Maze environment's application, and the command that serves it."""

from __future__ import annotations

from maze_env.models import MazeAction, MazeObservation
from maze_env.server.maze_environment import MazeEnvironment
from openenv import create_app
from openenv.server.command import serve_command

app = create_app(MazeEnvironment, MazeAction, MazeObservation, env_name="maze_env")


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
