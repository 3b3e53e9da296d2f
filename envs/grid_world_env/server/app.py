"""The Grid World environment's application, and the command that serves it."""

from __future__ import annotations

from grid_world_env.models import GridWorldAction, GridWorldObservation
from grid_world_env.server.grid_world_environment import GridWorldEnvironment
from openenv import create_app
from openenv.server.command import serve_command

app = create_app(
    GridWorldEnvironment, GridWorldAction, GridWorldObservation, env_name="grid_world_env"
)


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
