"""Games of text: a Wordle that needs nothing, and TextArena's where it is installed."""

from textarena_env.client import TextArenaEnv
from textarena_env.models import (
    TextArenaAction,
    TextArenaMessage,
    TextArenaObservation,
    TextArenaState,
)
from textarena_env.rewards import RewardProvider, build_reward_providers

__all__ = [
    "RewardProvider",
    "TextArenaAction",
    "TextArenaEnv",
    "TextArenaMessage",
    "TextArenaObservation",
    "TextArenaState",
    "build_reward_providers",
]
