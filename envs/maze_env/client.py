"""The typed client of the Maze environment."""

from __future__ import annotations

from maze_env.models import MazeAction, MazeObservation, MazeState
from openenv import EnvClient


class MazeEnv(EnvClient[MazeAction, MazeObservation, MazeState]):
    """A maze of one's own."""
