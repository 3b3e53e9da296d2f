"""OpenSpiel's tic-tac-toe, read back from its 27 numbers.

`info_state` is three planes of nine cells: the empty ones, those of o, and those of x. Player 0 is
x and moves first.
"""

from __future__ import annotations

from collections.abc import Sequence

SIZE = 27
CELLS = 9
MARKS = ".ox"
PLAYERS = "xo"


def board(info_state: Sequence[float]) -> str:
    """The three rows of a board, `.` for an empty cell.

    Raises:
        ValueError: it does not have tic-tac-toe's 27 numbers.
    """
    if len(info_state) != SIZE:
        raise ValueError(f"tic_tac_toe's info_state has {SIZE} numbers, got {len(info_state)}")
    cells = "".join(
        mark
        for cell in range(CELLS)
        for plane, mark in enumerate(MARKS)
        if info_state[plane * CELLS + cell]
    )
    return "\n".join(" ".join(cells[row : row + 3]) for row in (0, 3, 6))
