"""One walk over a grid, from its start to its goal."""

from __future__ import annotations

import random
from typing import Literal

from grid_world_env.models import MoveAction

Cell = tuple[int, int]
Placement = Literal["corners", "random"]

STEP_REWARD = -0.1
GOAL_REWARD = 1.0
_WAYS = {
    MoveAction.UP: (-1, 0),
    MoveAction.DOWN: (1, 0),
    MoveAction.LEFT: (0, -1),
    MoveAction.RIGHT: (0, 1),
}


class Walk:
    """A walk over a square grid. Cells are `(x, y)`: row and column.

    Args:
        size: rows and columns.
        placement: start and goal in opposite corners, or in two cells that the seed draws.
        seed: what settles them.

    Attributes:
        at: where the walker is.
        goal: where it should go.
    """

    def __init__(self, size: int, placement: Placement, seed: int) -> None:
        self.size = size
        self.seed = seed
        self.at: Cell = (0, 0)
        self.goal: Cell = (size - 1, size - 1)
        if placement == "random":
            first, second = random.Random(seed).sample(range(size * size), 2)
            self.at, self.goal = divmod(first, size), divmod(second, size)

    @property
    def is_over(self) -> bool:
        """Whether the walker is at the goal."""
        return self.at == self.goal

    def move(self, action: MoveAction) -> float:
        """Goes to the next cell, or stays where that is over the edge; gives the reward."""
        (x, y), (down, right) = self.at, _WAYS[action]
        last = self.size - 1
        self.at = (min(max(x + down, 0), last), min(max(y + right, 0), last))
        return GOAL_REWARD if self.is_over else STEP_REWARD

    def grid(self) -> list[list[int]]:
        """The cells, row by row: 0 is free, 1 the walker, 2 the goal."""
        rows = [[0] * self.size for _ in range(self.size)]
        for value, (x, y) in ((2, self.goal), (1, self.at)):
            rows[x][y] = value
        return rows

    def text(self) -> str:
        """The grid as lines of `.`, with `A` for the walker and `G` for the goal."""
        return "\n".join(" ".join(".AG"[cell] for cell in row) for row in self.grid())
