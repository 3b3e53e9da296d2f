"""What an episode in the maze can be told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from typing_extensions import Self

from maze_env.layouts import Cell, Layout, classic, drawn, is_free, leads
from openenv import Options

Square = Annotated[int, Field(ge=0, le=1)]
Row = Annotated[list[Square], Field(min_length=2, max_length=32)]


class MazeOptions(Options, variables="MAZE_"):
    """The options of an episode.

    Attributes:
        maze: `classic`, always the same of 8 × 8 cells, or `random`, a new one for each seed.
        size: rows and columns of a random maze, odd.
        layout: a maze of one's own instead, row by row; 1 is a wall.
        start_cell: the `[column, row]` where an episode begins.
        exit_cell: the way out, by default the cell at the bottom right.
    """

    maze: Literal["classic", "random"] = "classic"
    size: int = Field(default=9, ge=5, le=31)
    layout: list[Row] | None = Field(default=None, min_length=2, max_length=32)
    start_cell: Cell = (0, 0)
    exit_cell: Cell | None = None

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.size % 2 == 0:
            raise ValueError(f"size of a random maze is odd, got {self.size}")
        if self.layout is not None and len(set(map(len, self.layout))) > 1:
            raise ValueError("the rows of a layout are of one length")
        if self.maze == "random" and self.layout is not None:
            raise ValueError("maze='random' draws a layout and takes none")
        if self.maze == "classic":
            self.route(self.cells(0))
        return self

    def cells(self, seed: int) -> Layout:
        """The maze of a seed."""
        if self.layout is not None:
            return [list(row) for row in self.layout]
        return classic() if self.maze == "classic" else drawn(self.size, seed)

    def route(self, maze: Layout) -> tuple[Cell, Cell]:
        """Where an episode in a maze begins and ends.

        Raises:
            ValueError: one is a wall or outside, or there is no way between the two.
        """
        start, end = self.start_cell, self.exit_cell or (len(maze[0]) - 1, len(maze) - 1)
        for name, cell in (("start_cell", start), ("exit_cell", end)):
            if not is_free(maze, cell):
                raise ValueError(f"{name} {list(cell)} is no free [column, row] of the maze")
        if start == end or not leads(maze, start, end):
            raise ValueError(f"there is no way from {list(start)} to {list(end)}")
        return start, end
