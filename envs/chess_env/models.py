"""What a chess player does and sees."""

from __future__ import annotations

from pydantic import Field

from openenv import Action, Observation, State

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LONGEST_MOVE = 256  # room for what a language model says instead of a move


class ChessAction(Action):
    """A move.

    Attributes:
        move: in UCI (`e2e4`, `e7e8q`, castling is `e1g1`), or in SAN (`e4`, `Nf3`, `O-O`) where
            that means one legal move.
    """

    move: str = Field(max_length=LONGEST_MOVE)


class ChessObservation(Observation):
    """The board as both players see it.

    Attributes:
        fen: the position in Forsyth-Edwards Notation.
        legal_moves: the moves that may follow, in UCI; none once the game is over.
        is_check: whether the side to move is in check.
        result: `1-0`, `0-1` or `1/2-1/2` once the game is over, else `None`.
        text: all of it for a language model: why the last move was refused, if it was, the agent's
            colour, the side to move, the last moves, the board, the legal moves and what pays.
        board: the 64 squares from a1, b1 … to h8: 0 is empty, 1 to 6 are white's pawn, knight,
            bishop, rook, queen and king, -1 to -6 are black's.
        flags: 8 numbers: white is to move, the agent is white, white may castle short, long,
            black may castle short, long (each 0 or 1), the square that may be taken en passant
            (0 is a1, 63 is h8; -1 is none), and the half-moves since a capture or pawn's move.
    """

    fen: str = ""
    legal_moves: list[str] = Field(default_factory=list)
    is_check: bool = False
    result: str | None = None
    text: str = ""
    board: list[int] = Field(default_factory=list)
    flags: list[int] = Field(default_factory=list)


class ChessState(State):
    """Where a game stands. `step_count` counts the agent's steps, legal or not, until the end.

    Attributes:
        fen: the position.
        current_player: whose move it is, `white` or `black`.
        move_history: the half-moves of both sides so far, in UCI.
        agent_color: the agent's colour, `white` or `black`.
        opponent: who plays against it: `none`, `random`, `builtin`, `stockfish` or `uci`.
        seed: the seed that begins this game again.
        result: how it ended, `None` while it runs.
        pgn: the game in Portable Game Notation; empty before the first reset.
    """

    fen: str = START
    current_player: str = "white"
    move_history: list[str] = Field(default_factory=list)
    agent_color: str = "white"
    opponent: str = "none"
    seed: int | None = None
    result: str | None = None
    pgn: str = ""
