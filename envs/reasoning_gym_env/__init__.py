"""Questions of Reasoning Gym: made to order, and scored."""

from reasoning_gym_env.client import ReasoningGymEnv
from reasoning_gym_env.models import (
    ReasoningGymAction,
    ReasoningGymObservation,
    ReasoningGymState,
)

__all__ = [
    "ReasoningGymAction",
    "ReasoningGymEnv",
    "ReasoningGymObservation",
    "ReasoningGymState",
]
