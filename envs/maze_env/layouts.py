"""Mazes: the one that there always is, and new ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

Cell = tuple[int, int]
"""A column and a row."""
Layout = list[list[int]]
"""Rows of cells; 0 is free, 1 a wall."""

WAYS: dict[int, Cell] = {2: (-1, 0), 3: (1, 0), 0: (0, -1), 1: (0, 1)}
"""What each action adds to a column and a row, in the order in which legal actions are listed."""
LOOPS = 0.1
"""The share of the walls between two ways of a new maze that are taken out of it again."""

_CLASSIC = """
..#.....
#.#.###.
..#...#.
.####.#.
......#.
.##.###.
..#.....
#.####..
"""


def classic() -> Layout:
    """The maze of 8 × 8 cells."""
    return [[int(cell == "#") for cell in row] for row in _CLASSIC.split()]


def drawn(size: int, seed: int) -> Layout:
    """A new maze, with a way from every free cell to every other.

    Args:
        size: rows and columns, odd: every second cell is a place, and between two places is a wall
            or a way.
        seed: what settles it.
    """
    chance = random.Random(seed)
    maze = [[1] * size for _ in range(size)]
    maze[0][0] = 0
    trail: list[Cell] = [(0, 0)]
    while trail:
        places = [cell for cell in _around(maze, trail[-1], 2) if maze[cell[1]][cell[0]]]
        if not places:
            trail.pop()
            continue
        (column, row), (to_column, to_row) = trail[-1], chance.choice(places)
        maze[(row + to_row) // 2][(column + to_column) // 2] = 0
        maze[to_row][to_column] = 0
        trail.append((to_column, to_row))
    for row in range(size):
        for column in range((row + 1) % 2, size, 2):
            if maze[row][column] and chance.random() < LOOPS:
                maze[row][column] = 0
    return maze


def steps(maze: Layout, cell: Cell) -> Iterator[tuple[int, Cell]]:
    """The actions that are not blocked in a cell, each with the cell that it leads to."""
    for action, (right, down) in WAYS.items():
        to = (cell[0] + right, cell[1] + down)
        if is_free(maze, to):
            yield action, to


def is_free(maze: Layout, cell: Cell) -> bool:
    """Whether a cell is inside, and no wall."""
    column, row = cell
    return 0 <= row < len(maze) and 0 <= column < len(maze[0]) and not maze[row][column]


def leads(maze: Layout, start: Cell, end: Cell) -> bool:
    """Whether there is a way from one cell to another."""
    seen, trail = {start}, [start]
    while trail and end not in seen:
        new = {to for _, to in steps(maze, trail.pop())} - seen
        seen |= new
        trail += new
    return end in seen


def _around(maze: Layout, cell: Cell, distance: int) -> list[Cell]:
    column, row = cell
    cells = [(column + distance * right, row + distance * down) for right, down in WAYS.values()]
    return [(c, r) for c, r in cells if 0 <= c < len(maze[0]) and 0 <= r < len(maze)]
