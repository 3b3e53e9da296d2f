"""The coding environment's application, and the command that serves it."""

from __future__ import annotations

from coding_env.models import CodeAction, CodeObservation
from coding_env.server.coding_environment import PythonCodeActEnv
from openenv import create_app
from openenv.server.command import serve_command

app = create_app(PythonCodeActEnv, CodeAction, CodeObservation, env_name="coding_env")


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
