"""The TextArena environment's application, and the command that serves it."""

from __future__ import annotations

from openenv import create_app
from openenv.server.command import serve_command
from textarena_env.models import TextArenaAction, TextArenaObservation
from textarena_env.server.textarena_environment import TextArenaEnvironment

app = create_app(
    TextArenaEnvironment, TextArenaAction, TextArenaObservation, env_name="textarena_env"
)


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
