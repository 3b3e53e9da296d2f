"""The Snake environment's application, and the command that serves it."""

from __future__ import annotations

from openenv import create_app
from openenv.server.command import serve_command
from snake_env.models import SnakeAction, SnakeObservation
from snake_env.server.snake_environment import SnakeEnvironment

app = create_app(SnakeEnvironment, SnakeAction, SnakeObservation, env_name="snake_env")


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
