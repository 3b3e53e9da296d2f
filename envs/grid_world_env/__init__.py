"""A walk over a small grid to its goal."""

from grid_world_env.client import GridWorldEnv
from grid_world_env.models import (
    GridWorldAction,
    GridWorldObservation,
    GridWorldState,
    MoveAction,
)

__all__ = [
    "GridWorldAction",
    "GridWorldEnv",
    "GridWorldObservation",
    "GridWorldState",
    "MoveAction",
]
