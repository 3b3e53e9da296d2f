"""A game as a network and a language model see it."""

from __future__ import annotations

import re
from functools import lru_cache

import chess

from chess_env.server.game import Game

LAST_SHOWN = 6
GOAL = (
    "Answer with one of them. Checkmate pays 1, being mated -1, a draw 0, a move that is not legal "
    "-0.1. Capitals are white's pieces."
)
_LETTERS = dict(zip(range(-6, 7), "kqrbnp.PNBRQK", strict=True))
_FILES = "  a b c d e f g h"
_ROOKS = (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)  # in the order of castling rights


class Picture:
    """A position's pieces, read off the board once for all who look at it.

    Attributes:
        squares: the 64 squares from a1 to h8: 0 is empty, white's pieces are 1 to 6, black's
            -1 to -6.
        rows: the letters of the pieces and dots, from the eighth rank to the first.
    """

    def __init__(self, board: chess.Board) -> None:
        self.squares = _squares(board)
        letters = "".join([_LETTERS[piece] for piece in self.squares])
        self.rows = [letters[first : first + 8] for first in range(56, -1, -8)]
        self._board = board
        self._passed = board.ep_square if board.has_legal_en_passant() else None

    def flags(self, agent: chess.Color) -> list[int]:
        """What the squares do not tell; the numbers of `ChessObservation.flags`."""
        board = self._board
        rights = board.clean_castling_rights()
        return [
            int(board.turn),
            int(agent),
            *[int(bool(rights & rook)) for rook in _ROOKS],
            -1 if self._passed is None else self._passed,
            board.halfmove_clock,
        ]

    def fen(self) -> str:
        """The position in Forsyth-Edwards Notation; what `board.fen()` takes longer to say."""
        board = self._board
        return " ".join(
            (
                "/".join([_counted(row) for row in self.rows]),
                "w" if board.turn else "b",
                board.castling_xfen(),
                "-" if self._passed is None else chess.SQUARE_NAMES[self._passed],
                str(board.halfmove_clock),
                str(board.fullmove_number),
            )
        )


def _squares(board: chess.Board) -> list[int]:
    found = [0] * 64
    for color, sign in ((chess.WHITE, 1), (chess.BLACK, -1)):
        own = board.occupied_co[color]
        for kind, pieces in _kinds(board):
            left = own & pieces
            while left:
                lowest = left & -left
                found[lowest.bit_length() - 1] = sign * kind
                left ^= lowest
    return found


def _kinds(board: chess.Board) -> tuple[tuple[int, int], ...]:
    return (
        (chess.PAWN, board.pawns),
        (chess.KNIGHT, board.knights),
        (chess.BISHOP, board.bishops),
        (chess.ROOK, board.rooks),
        (chess.QUEEN, board.queens),
        (chess.KING, board.kings),
    )


@lru_cache(maxsize=4096)  # rows come again and again
def _counted(row: str) -> str:
    """A row as FEN has it: `..p.....` is `2p5`."""
    return re.sub(r"\.+", lambda gap: str(len(gap[0])), row)


def color_name(color: chess.Color) -> str:
    """`white` or `black`."""
    return chess.COLOR_NAMES[color]


def describe(game: Game, role: str, rows: list[str], refused: str = "") -> str:
    """A game in words and letters, with all that may be done.

    Args:
        game: the game.
        role: what the agent plays, `white` say.
        rows: those of its `Picture`.
        refused: why the last move was not made.
    """
    lines = [f"Refused: {refused}"] if refused else []
    lines.append(f"You play {role}. {_standing(game)}")
    if game.moves:
        last = " ".join([move.uci() for move in game.moves[-LAST_SHOWN:]])
        lines.append(f"Last moves: {last}")
    lines.append(_FILES)
    lines += [
        f"{rank} {' '.join(row)} {rank}" for rank, row in zip(range(8, 0, -1), rows, strict=True)
    ]
    lines.append(_FILES)
    if not game.ending:
        lines += [f"Legal moves: {' '.join(game.names())}", GOAL]
    return "\n".join(lines)


def _standing(game: Game) -> str:
    if game.ending:
        return f"The game is over: {game.ending.result} ({game.ending.reason.replace('_', ' ')})."
    check = ", who is in check" if game.board.is_check() else ""
    return f"Move {game.board.fullmove_number}: {color_name(game.board.turn)} to move{check}."
