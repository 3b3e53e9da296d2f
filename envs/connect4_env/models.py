"""What a player of Connect Four does and sees. Stones are 1, of who begins, and -1."""

from __future__ import annotations

from pydantic import Field

from connect4_env.board import COLUMNS, ROWS
from openenv import Action, Observation, State


def _empty() -> list[list[int]]:
    return [[0] * COLUMNS for _ in range(ROWS)]


class Connect4Action(Action):
    """A stone.

    Attributes:
        column: where it falls, 0 to 6.
    """

    column: int


class Connect4Observation(Observation):
    """The board.

    Attributes:
        board: the stones, row by row from the top: 1 of who began, -1 of the other, 0 for none.
        legal_actions: the columns that are not full; none once the game is over.
        next_player: whose turn it is.
        winner: who has won, 0 for a draw, `None` while the game runs.
        opponent_column: where the opponent's last stone fell, if it has made a move.
        text: all that a language model needs: why the last move was refused, if it was, the board
            with `X` for 1 and `O` for -1, its side, the rules, and the legal columns.
    """

    board: list[list[int]] = Field(default_factory=list)
    legal_actions: list[int] = Field(default_factory=list)
    next_player: int = 1
    winner: int | None = None
    opponent_column: int | None = None
    text: str = ""


class Connect4State(State):
    """Where a game stands.

    Attributes:
        board: the stones, row by row from the top.
        next_player: whose turn it is.
        winner: who has won, 0 for a draw, `None` while the game runs.
        opponent: who answers the client's moves.
        seed: what settles the opponent's choices.
    """

    board: list[list[int]] = Field(default_factory=_empty)
    next_player: int = 1
    winner: int | None = None
    opponent: str = "none"
    seed: int | None = None
