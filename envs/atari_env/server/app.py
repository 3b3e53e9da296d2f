"""The Atari environment's application, and the command that serves it."""

from __future__ import annotations

from atari_env.models import AtariAction, AtariObservation
from atari_env.server.atari_environment import AtariEnvironment
from openenv import create_app
from openenv.server.command import serve_command

app = create_app(AtariEnvironment, AtariAction, AtariObservation, env_name="atari_env")


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
