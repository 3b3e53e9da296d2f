"""What a game of chess can be told: who plays, from where, and until when."""

from __future__ import annotations

from typing import Literal

import chess
from pydantic import Field, field_validator

from chess_env.models import START
from openenv import Options

Opponent = Literal["none", "random", "builtin", "stockfish", "uci"]
Side = Literal["white", "black", "alternate"]

UCI_OPPONENTS = ("stockfish", "uci")
DEEPEST = 5
LONGEST_FEN = 128
MOST_COUNTED = 10_000  # of moves in a FEN: a number that fits every wire

_OTHER_NAMES = {"None": "none", "self": "none", "moonfish": "builtin"}
# Faults that are harmless: rights that nothing can use, and checks that no game leads to.
_PLAYABLE = (
    chess.STATUS_BAD_CASTLING_RIGHTS
    | chess.STATUS_INVALID_EP_SQUARE
    | chess.STATUS_IMPOSSIBLE_CHECK
    | chess.STATUS_TOO_MANY_CHECKERS
)


class ChessOptions(Options, variables="CHESS_"):
    """The options of a game, from arguments, `CHESS_*` variables or `reset`.

    Attributes:
        opponent: `none` (the agent plays both sides), `random`, `builtin`, `stockfish`, or `uci`
            (the engine at `uci_path`). `moonfish` is another name of `builtin`, and `self` of
            `none`.
        opponent_depth: half-moves that the built-in or UCI engine looks ahead, 1 to 5.
        opponent_nodes: positions that it may look at for a move.
        opponent_skill: the option `Skill Level` of Stockfish and engines like it; `None` is full.
        opponent_timeout_s: seconds that a UCI engine has for a move.
        max_moves: half-moves of both sides after which the game is drawn.
        agent_color: `white`, `black`, or `alternate`: white in games of even seeds, black in those
            of odd ones, and games without a seed of their own take turns.
        gamma: the discount of `discounted_rewards`.
        fen: the position that the game begins from.
        claim_draws: whether a third repetition and the fifty-move rule end the game at once; if
            not, the fifth repetition and the 75-move rule do.
        forfeit_after: the illegal move of an episode that loses it; 0 is none.
        uci_path: the program of the UCI engine. The server alone may say so.
    """

    opponent: Opponent = "builtin"
    opponent_depth: int = Field(default=2, ge=1, le=DEEPEST)
    opponent_nodes: int = Field(default=20_000, ge=1, le=1_000_000)
    opponent_skill: int | None = Field(default=None, ge=0, le=20)
    opponent_timeout_s: float = Field(default=10.0, gt=0, le=60)
    max_moves: int = Field(default=500, ge=1, le=MOST_COUNTED)
    agent_color: Side = "alternate"
    gamma: float = Field(default=0.99, ge=0, le=1)
    fen: str = Field(default=START, max_length=LONGEST_FEN)
    claim_draws: bool = True
    forfeit_after: int = Field(default=0, ge=0, le=1000)
    uci_path: str = ""

    @field_validator("opponent", mode="before")
    @classmethod
    def _by_its_name(cls, value: object) -> object:
        return _OTHER_NAMES.get(str(value), value)

    @field_validator("agent_color", mode="before")
    @classmethod
    def _either_side(cls, value: object) -> object:
        return "alternate" if value is None else value

    @field_validator("fen")
    @classmethod
    def _position(cls, fen: str) -> str:
        """The FEN as the chess library writes it, so that one position has one."""
        try:
            board = chess.Board(fen)
        except ValueError as error:  # it repeats what it was given, and so do options
            raise ValueError(str(error).partition(": ")[0]) from None
        faults = board.status() & ~_PLAYABLE
        if faults:
            raise ValueError(f"no position of a game: {', '.join(_named(faults))}")
        if max(board.halfmove_clock, board.fullmove_number) > MOST_COUNTED:
            raise ValueError(f"its move counters must be at most {MOST_COUNTED}")
        return board.fen()


def _named(faults: chess.Status) -> list[str]:
    names = [status.name or "" for status in chess.Status if status and status & faults]
    return [name.removeprefix("STATUS_").lower().replace("_", " ") for name in names]
