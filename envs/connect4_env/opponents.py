"""Opponents: who answers a move, and how."""

from __future__ import annotations

import random

from connect4_env.board import Board

WIN = 1000
"""More than the middle is worth; the sooner a win, the more it is worth above that."""
_MOST = 2 * WIN
_MIDDLE_FIRST = (3, 2, 4, 1, 5, 0, 6)
_MIDDLE = 0b111111 << 3 * 7


def at_random(board: Board, chance: random.Random, depth: int) -> int:
    """Any column that is not full."""
    return chance.choice(board.legal)


def by_search(board: Board, chance: random.Random, depth: int) -> int:
    """The best column by a search of so many moves ahead; of equal ones, chance takes one.

    It sees wins and losses within its depth, and likes the middle.
    """
    values = {}
    for column in board.legal:
        board.play(column)
        values[column] = -_value(board, depth - 1, -_MOST, _MOST)
        board.undo()
    best = max(values.values())
    return chance.choice([column for column, value in values.items() if value == best])


def _value(board: Board, depth: int, least: int, most: int) -> int:
    """What a position is worth to whose turn it is, as far as it is between two values."""
    if board.winner is not None:
        return -(WIN + depth) if board.winner else 0
    if depth == 0:
        mine, theirs = board.stones[board.player], board.stones[-board.player]
        return (mine & _MIDDLE).bit_count() - (theirs & _MIDDLE).bit_count()
    legal = board.legal
    for column in _MIDDLE_FIRST:
        if column in legal:
            board.play(column)
            least = max(least, -_value(board, depth - 1, -most, -least))
            board.undo()
            if least >= most:
                break
    return least


OPPONENTS = {"random": at_random, "search": by_search}
