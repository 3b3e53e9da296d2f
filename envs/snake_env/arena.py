"""One snake in its field."""

from __future__ import annotations

import random
from collections import deque

Cell = tuple[int, int]
"""A row and a column."""

EMPTY, WALL, FRUIT, BODY, HEAD, TAIL = range(6)
PLANES = [[float(plane == kind - 1) for plane in range(8)] for kind in range(6)]
"""What a network sees of a cell of each kind."""
HEADINGS = ("up", "right", "down", "left")
_AHEAD = ((-1, 0), (0, 1), (1, 0), (0, -1))
NAMES = ("straight on", "left", "right")
"""The actions, as seen by the snake."""
TURNS = (0, -1, 1)
"""What each of them adds to the index of the heading."""

LENGTH = 3
STEP_REWARD = 0.001
FRUIT_REWARD = 1.0
LOSE_REWARD = -1.0
WIN_REWARD = 100.0


class Arena:
    """A snake in a field with a wall around it.

    Args:
        height: rows, with those of the wall.
        width: columns, with those of the wall.
        fruits: how many lie in the field at a time.
        seed: what settles where the snake begins and where fruits appear.

    Attributes:
        grid: the cells, row by row.
        snake: its cells, the head first.
        heading: the index in `HEADINGS` of where it is going.
        eaten: the fruits that it has eaten.
        alive: whether it lives.
        won: whether it has filled the field.
    """

    def __init__(self, height: int, width: int, fruits: int, seed: int) -> None:
        self._random = random.Random(seed)
        self.grid = [
            [
                WALL if row in (0, height - 1) or column in (0, width - 1) else EMPTY
                for column in range(width)
            ]
            for row in range(height)
        ]
        self.eaten = 0
        self.alive = True
        self.won = False
        self._fruits = 0
        self.heading = self._random.randrange(len(HEADINGS))
        self.snake = self._placed(height, width)
        self._draw_snake()
        for _ in range(fruits):
            self._add_fruit()

    @property
    def is_over(self) -> bool:
        """Whether the snake is dead or has filled the field."""
        return self.won or not self.alive

    def step(self, action: int) -> float:
        """Turns, goes on by a cell, and gives the reward."""
        self.heading = (self.heading + TURNS[action]) % len(HEADINGS)
        row, column = self._next(self.snake[0])
        found = self.grid[row][column]
        if found in (WALL, BODY):
            self.alive = False
            return STEP_REWARD + LOSE_REWARD
        if found != FRUIT:  # a tail that moves on makes room for the head
            old_row, old_column = self.snake.pop()
            self.grid[old_row][old_column] = EMPTY
        self.snake.appendleft((row, column))
        self._draw_snake()
        return STEP_REWARD + (self._eat() if found == FRUIT else 0.0)

    def planes(self) -> list[list[list[float]]]:
        """The cells for a network, `[row][column][plane]`."""
        return [[PLANES[cell] for cell in row] for row in self.grid]

    def text(self) -> str:
        """The field in lines: `#` wall, `.` empty, `*` fruit, `H` head, `o` body and tail."""
        return "\n".join("".join(map(".#*oHo".__getitem__, row)) for row in self.grid)

    def _eat(self) -> float:
        self.eaten += 1
        self._fruits -= 1
        self._add_fruit()
        self.won = self._fruits == 0
        return FRUIT_REWARD + (WIN_REWARD if self.won else 0.0)

    def _add_fruit(self) -> None:
        """Puts a fruit into an empty cell, if there is one."""
        empty = [
            (row, column)
            for row, cells in enumerate(self.grid)
            for column, cell in enumerate(cells)
            if cell == EMPTY
        ]
        if empty:
            row, column = self._random.choice(empty)
            self.grid[row][column] = FRUIT
            self._fruits += 1

    def _placed(self, height: int, width: int) -> deque[Cell]:
        """A straight snake with room to go straight on."""
        down, right = _AHEAD[self.heading]
        heads = [
            (row, column)
            for row in range(1, height - 1)
            for column in range(1, width - 1)
            if self._is_inside(self._next((row, column)))
            and self._is_inside((row - (LENGTH - 1) * down, column - (LENGTH - 1) * right))
        ]
        row, column = self._random.choice(heads)
        return deque((row - back * down, column - back * right) for back in range(LENGTH))

    def _is_inside(self, cell: Cell) -> bool:
        row, column = cell
        height, width = len(self.grid), len(self.grid[0])
        return 0 < row < height - 1 and 0 < column < width - 1

    def _next(self, cell: Cell) -> Cell:
        down, right = _AHEAD[self.heading]
        return cell[0] + down, cell[1] + right

    def _draw_snake(self) -> None:
        """Draws the head, what follows it, and the tail; the rest of the body is there already."""
        for kind, index in ((BODY, 1), (TAIL, -1), (HEAD, 0)):
            row, column = self.snake[index]
            self.grid[row][column] = kind
