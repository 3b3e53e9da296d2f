"""The typed client of the grid world."""

from __future__ import annotations

from grid_world_env.models import (
    GridWorldAction,
    GridWorldObservation,
    GridWorldState,
    MoveAction,
)
from openenv import EnvClient, StepResult


class GridWorldEnv(EnvClient[GridWorldAction, GridWorldObservation, GridWorldState]):
    """A grid of one's own."""

    async def step_move(self, move: MoveAction) -> StepResult[GridWorldObservation]:
        """`step` with a move alone."""
        return await self.step(GridWorldAction(action=move))
