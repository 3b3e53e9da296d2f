"""The server's side of the Reasoning Gym environment."""

from reasoning_gym_env.server.reasoning_gym_environment import ReasoningGymEnvironment

__all__ = ["ReasoningGymEnvironment"]
