"""The snake that grows with every fruit."""

from snake_env.client import SnakeEnv
from snake_env.models import SnakeAction, SnakeObservation, SnakeState

__all__ = ["SnakeAction", "SnakeEnv", "SnakeObservation", "SnakeState"]
