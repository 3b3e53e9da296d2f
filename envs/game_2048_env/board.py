"""`GameBoard`: one game of 2048, settled by its seed and its moves."""

from __future__ import annotations

import random
from typing import Literal

from game_2048_env.rules import Move, Rows, legal_moves, parse_move, shift

Status = Literal["ongoing", "success", "failed"]

SEED_BITS = 32


class Board(list[list[int]]):
    """A copy of a game's tiles, row by row; 0 is an empty cell."""

    def pretty(self) -> str:
        """The tiles in columns, with a dot for an empty cell."""
        width = max((len(str(tile)) for row in self for tile in row), default=1)
        return "\n".join(" ".join(f"{tile or '.':>{width}}" for tile in row) for row in self)


class GameBoard:
    """One game of 2048.

    A move slides all tiles; two that are equal and meet become one of their sum. After a move that
    changed the board a new tile appears in an empty cell.

    Args:
        size: rows and columns.
        seed: what settles the new tiles; `None` draws one.
        target: the tile that wins the game; without one it goes on until no move is left.
        probability_fours: how probable it is that a new tile is a 4 and not a 2.

    Attributes:
        seed: what settles the new tiles.
        score: the sum of all tiles that were merged.
        steps: the moves that changed the board.
    """

    def __init__(
        self,
        size: int = 4,
        seed: int | None = None,
        target: int | None = None,
        probability_fours: float = 0.1,
    ) -> None:
        if size < 2:
            raise ValueError(f"a board has at least 2 rows and columns, got {size}")
        self.seed = random.Random().getrandbits(SEED_BITS) if seed is None else seed
        self.target = target
        self.score = 0
        self.steps = 0
        self._random = random.Random(self.seed)
        self._probability_fours = probability_fours
        self._rows: Rows = ((0,) * size,) * size
        self._status: Status = "ongoing"
        self._add_tile()
        self._add_tile()
        self._legal = legal_moves(self._rows)

    def board(self) -> Board:
        """A copy of the tiles."""
        return Board(map(list, self._rows))

    def state(self) -> Status:
        """`"ongoing"`, `"success"` with the target reached, or `"failed"`: stuck, or given up."""
        return self._status

    @property
    def highest_tile(self) -> int:
        """The greatest tile on the board."""
        return max(map(max, self._rows))

    @property
    def legal_moves(self) -> list[Move]:
        """The moves that change the board, in the order of their ids; none once it has ended."""
        return list(self._legal) if self._status == "ongoing" else []

    def do_action(self, key: object) -> int:
        """Makes a move by its name, as a player at a keyboard does.

        A move that changes nothing adds no tile. What is no move at all fails the game, and so
        does `Q`, for quitting. After the end nothing happens.

        Args:
            key: `W`, `A`, `S`, `D` or another name of a move (see `parse_move`).

        Returns:
            the sum of the tiles that merged.
        """
        try:
            return self.play(parse_move(key))
        except ValueError:
            self.give_up()
            return 0

    def play(self, move: Move) -> int:
        """Makes a move; one that changes nothing, or comes after the end, does nothing.

        Returns:
            the sum of the tiles that merged.
        """
        if self._status != "ongoing" or move not in self._legal:
            return 0
        self._rows, points = shift(self._rows, move)
        self.score += points
        self.steps += 1
        self._add_tile()
        self._legal = legal_moves(self._rows)
        if self.target is not None and self.highest_tile >= self.target:
            self._status = "success"
        elif not self._legal:
            self._status = "failed"
        return points

    def give_up(self) -> None:
        """Ends a running game as failed."""
        if self._status == "ongoing":
            self._status = "failed"

    def _add_tile(self) -> None:
        """Puts a new tile into an empty cell; after a legal move there is one."""
        size = len(self._rows)
        empty = [(y, x) for y in range(size) for x in range(size) if not self._rows[y][x]]
        row, column = self._random.choice(empty)
        tile = 4 if self._random.random() < self._probability_fours else 2
        tiles = list(self._rows[row])
        tiles[column] = tile
        self._rows = (*self._rows[:row], tuple(tiles), *self._rows[row + 1 :])
