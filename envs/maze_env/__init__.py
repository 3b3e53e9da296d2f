"""A maze to find the way out of."""

from maze_env.client import MazeEnv
from maze_env.models import MazeAction, MazeObservation, MazeState

__all__ = ["MazeAction", "MazeEnv", "MazeObservation", "MazeState"]
