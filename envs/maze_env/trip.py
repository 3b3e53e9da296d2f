"""One trip through a maze: what each step pays, and how it ends."""

from __future__ import annotations

from maze_env.layouts import Cell, Layout, steps
from maze_env.models import Status

EXIT_REWARD = 10.0
NEW_CELL_REWARD = -0.05
VISITED_REWARD = -0.25
BLOCKED_REWARD = -0.75
LEAST_TOTAL_PER_CELL = -0.5
NAMES = ("up", "down", "left", "right")
GUIDE = (
    "You are A; go to E. # is a wall, cells are [column, row]. "
    f"E pays {EXIT_REWARD:g}, a new cell {NEW_CELL_REWARD}, one seen before {VISITED_REWARD}, "
    f"a blocked step {BLOCKED_REWARD}."
)


class Trip:
    """A trip from a cell to the way out.

    Attributes:
        maze: the cells, row by row; 1 is a wall.
        exit: the way out.
        at: the cell that one is in.
        previous: the cell before it.
        total: the rewards so far; below -0.5 for each cell of the maze the trip is lost.
    """

    def __init__(self, maze: Layout, start: Cell, exit: Cell) -> None:
        self.maze = maze
        self.exit = exit
        self.at = start
        self.previous = start
        self.total = 0.0
        self._visited: set[Cell] = set()
        self._least_total = LEAST_TOTAL_PER_CELL * len(maze) * len(maze[0])

    @property
    def status(self) -> Status:
        """Whether it goes on, and how it ended if not."""
        if self.at == self.exit:
            return "win"
        return "lose" if self.total < self._least_total else "playing"

    @property
    def legal_actions(self) -> list[int]:
        """The actions that are not blocked: left, right, up, down; none once it is over."""
        return [action for action, _ in steps(self.maze, self.at)] if self.is_playing else []

    @property
    def is_playing(self) -> bool:
        """Whether it goes on."""
        return self.status == "playing"

    def step(self, action: int) -> float:
        """Goes to the next cell, or stays where that is blocked; gives the reward."""
        reward = self._go(dict(steps(self.maze, self.at)).get(action))
        self.total += reward
        return reward

    def _go(self, to: Cell | None) -> float:
        if to is None:
            return BLOCKED_REWARD
        self.previous, self.at = self.at, to
        if to == self.exit:
            return EXIT_REWARD
        reward = VISITED_REWARD if to in self._visited else NEW_CELL_REWARD
        self._visited.add(to)
        return reward

    def cells(self) -> Layout:
        """The maze, for others to keep: what they do to it changes nothing here."""
        return [list(row) for row in self.maze]

    def text(self) -> str:
        """The maze in lines of `.` and `#`, with `A` for where one is and `E` for the way out."""
        rows = [[".#"[cell] for cell in row] for row in self.maze]
        for letter, (column, row) in (("E", self.exit), ("A", self.at)):
            rows[row][column] = letter
        return "\n".join(map("".join, rows))

    def told(self) -> str:
        """All that a language model needs: the maze, where one is, and what each step does."""
        shown = f"{self.text()}\n{self.status}, at {list(self.at)}, exit {list(self.exit)}"
        if not self.is_playing:
            return shown
        legal = ", ".join(f"{action} {NAMES[action]}" for action in self.legal_actions)
        return f"{shown}\n{GUIDE}\nLegal actions: {legal}"
