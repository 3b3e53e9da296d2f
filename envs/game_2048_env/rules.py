"""The rules of 2048: what a move does to rows of tiles, and what a move may be called."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

Move = Literal["up", "right", "down", "left"]
Rows = tuple[tuple[int, ...], ...]

MOVES: tuple[Move, ...] = ("up", "right", "down", "left")
"""The moves in the order of their ids: 0 is up, 3 is left."""
KEYS: dict[str, Move] = {"W": "up", "D": "right", "S": "down", "A": "left"}
_BY_NAME = {
    **{key.lower(): move for key, move in KEYS.items()},
    **{name: move for index, move in enumerate(MOVES) for name in (move, str(index))},
}
NAMES = "W, A, S, D, up, left, down, right, or an id: 0 up, 1 right, 2 down, 3 left"


def parse_move(answer: object) -> Move:
    """A move by any of its names.

    Args:
        answer: a letter (`W`, `A`, `S`, `D`), a word (`up`, ...), of any case, or an id from 0 to
            3, as an int or a text.

    Raises:
        ValueError: it is none of these.
    """
    if type(answer) in (str, int) and len(text := str(answer)) <= 16:
        move = _BY_NAME.get(text.strip().lower())
        if move is not None:
            return move
    shown = repr(answer) if isinstance(answer, str | int | float) else type(answer).__name__
    raise ValueError(f"a move is {NAMES}; got {shown[:60]}")


@lru_cache(maxsize=1 << 16)
def slide(row: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """A row after its tiles slid to the left, and the sum of the tiles that merged in it.

    A tile merges once in a move, and the leftmost pair first: 2 2 2 becomes 4 2.
    """
    merged: list[int] = []
    points = 0
    open_to_merge = False
    for tile in filter(None, row):
        if open_to_merge and merged[-1] == tile:
            merged[-1] *= 2
            points += merged[-1]
            open_to_merge = False
        else:
            merged.append(tile)
            open_to_merge = True
    return tuple(merged + [0] * (len(row) - len(merged))), points


def shift(rows: Rows, move: Move) -> tuple[Rows, int]:
    """A board after a move and before the new tile, and the points of the move."""
    slid = [slide(line) for line in _lines(rows, move)]
    lines: Iterable[tuple[int, ...]] = (line for line, _ in slid)
    if move in ("right", "down"):
        lines = (line[::-1] for line in lines)
    if move in ("up", "down"):
        lines = zip(*lines, strict=True)
    return tuple(lines), sum(points for _, points in slid)


def legal_moves(rows: Rows) -> list[Move]:
    """The moves that change a board, in the order of their ids."""
    return [move for move in MOVES if any(slide(line)[0] != line for line in _lines(rows, move))]


def _lines(rows: Rows, move: Move) -> Iterable[tuple[int, ...]]:
    """The rows or columns of a board as seen from where the tiles slide to."""
    lines: Iterable[tuple[int, ...]] = rows
    if move in ("up", "down"):
        lines = zip(*rows, strict=True)
    return (line[::-1] for line in lines) if move in ("right", "down") else lines
