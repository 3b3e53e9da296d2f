"""The OpenSpiel environment's application, and the command that serves it."""

from __future__ import annotations

from openenv import create_app
from openenv.server.command import serve_command
from openspiel_env.models import OpenSpielAction, OpenSpielObservation
from openspiel_env.server.openspiel_environment import OpenSpielEnvironment

app = create_app(
    OpenSpielEnvironment, OpenSpielAction, OpenSpielObservation, env_name="openspiel_env"
)


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
