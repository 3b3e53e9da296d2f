"""The board of Connect Four, as bits.

A column has seven bits, of which the lowest six are its cells from the bottom; the seventh stays
empty, so that no line of four runs over the top of a column into the next one.
"""

from __future__ import annotations

ROWS, COLUMNS = 6, 7
_HEIGHT = ROWS + 1
_LINES = (1, _HEIGHT, _HEIGHT - 1, _HEIGHT + 1)
"""By how many bits the cells of a line are apart: upright, level, and the two diagonals."""


class Board:
    """A position.

    Attributes:
        player: whose turn it is: 1, who began, or -1.
        winner: who has four in a row, 0 once the board is full, `None` while the game runs.
    """

    def __init__(self) -> None:
        self.player = 1
        self.winner: int | None = None
        self.stones = {1: 0, -1: 0}
        self._heights = [0] * COLUMNS
        self._played: list[int] = []

    @property
    def legal(self) -> list[int]:
        """The columns that are not full; none once the game is over."""
        if self.winner is not None:
            return []
        return [column for column, height in enumerate(self._heights) if height < ROWS]

    def play(self, column: int) -> None:
        """Lets a stone of whose turn it is fall into a column that is legal."""
        self.stones[self.player] |= 1 << (column * _HEIGHT + self._heights[column])
        self._heights[column] += 1
        self._played.append(column)
        if has_four(self.stones[self.player]):
            self.winner = self.player
        elif len(self._played) == ROWS * COLUMNS:
            self.winner = 0
        self.player = -self.player

    def undo(self) -> None:
        """Takes the last stone back."""
        column = self._played.pop()
        self.player = -self.player
        self.winner = None
        self._heights[column] -= 1
        self.stones[self.player] ^= 1 << (column * _HEIGHT + self._heights[column])

    def rows(self) -> list[list[int]]:
        """The stones, row by row from the top."""
        return [
            [self._stone(column * _HEIGHT + row) for column in range(COLUMNS)]
            for row in reversed(range(ROWS))
        ]

    def text(self) -> str:
        """The board in lines: `X` is 1, `O` is -1, `.` is empty, below the columns' numbers."""
        lines = [" ".join(".XO"[stone] for stone in row) for row in self.rows()]
        return "\n".join([" ".join(map(str, range(COLUMNS))), *lines])

    def _stone(self, bit: int) -> int:
        return (self.stones[1] >> bit & 1) - (self.stones[-1] >> bit & 1)


def has_four(stones: int) -> bool:
    """Whether four of these stones are in a row."""
    for step in _LINES:
        pairs = stones & stones >> step
        if pairs & pairs >> 2 * step:
            return True
    return False
