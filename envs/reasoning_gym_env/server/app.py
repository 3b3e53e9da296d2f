"""The Reasoning Gym environment's application, and the command that serves it."""

from __future__ import annotations

from openenv import create_app
from openenv.server.command import serve_command
from reasoning_gym_env.models import ReasoningGymAction, ReasoningGymObservation
from reasoning_gym_env.server.reasoning_gym_environment import ReasoningGymEnvironment

app = create_app(
    ReasoningGymEnvironment,
    ReasoningGymAction,
    ReasoningGymObservation,
    env_name="reasoning_gym_env",
)


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
