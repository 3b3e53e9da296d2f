"""A game as a network, a language model and a web page see it."""

from __future__ import annotations

from typing import Any

import chess

from chess_env.server.game import Game

LAST_SHOWN = 6
_CHARACTERS = dict(zip(range(-6, 7), "kqrbnp.PNBRQK", strict=True))
_FILES = "  a b c d e f g h"


def squares(board: chess.Board) -> list[int]:
    """The 64 squares from a1 to h8: 0 is empty, white's pieces are 1 to 6, black's -1 to -6."""
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


def flags(board: chess.Board, agent: chess.Color) -> list[int]:
    """What the squares do not tell; the numbers of `ChessObservation.flags`."""
    rights = board.clean_castling_rights()
    return [
        int(board.turn),
        int(agent),
        *(
            int(bool(rights & rook))
            for rook in (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)
        ),
        -1 if board.ep_square is None else board.ep_square,
        board.halfmove_clock,
    ]


def color_name(color: chess.Color) -> str:
    """`white` or `black`."""
    return chess.COLOR_NAMES[color]


def describe(game: Game, agent: chess.Color, pieces: list[int]) -> str:
    """A game in words and letters; the agent's colour and all it may do are in it."""
    lines = [f"You play {color_name(agent)}. {_standing(game)}"]
    if game.moves:
        last = " ".join(move.uci() for move in game.moves[-LAST_SHOWN:])
        lines.append(f"Last moves: {last}")
    lines.append(_FILES)
    for rank in range(7, -1, -1):
        row = " ".join(_CHARACTERS[piece] for piece in pieces[8 * rank : 8 * rank + 8])
        lines.append(f"{rank + 1} {row} {rank + 1}")
    lines.append(_FILES)
    if not game.ending:
        lines.append(f"Legal moves: {' '.join(game.names())}")
    return "\n".join(lines)


def _standing(game: Game) -> str:
    if game.ending:
        return f"The game is over: {game.ending.result} ({game.ending.reason.replace('_', ' ')})."
    check = ", who is in check" if game.board.is_check() else ""
    return f"Move {game.board.fullmove_number}: {color_name(game.board.turn)} to move{check}."


def page(game: Game, agent: chess.Color) -> dict[str, Any]:
    """What a page needs to draw the board and to let pieces be dragged.

    Returns:
        `pieces` by square (`{"e1": "K"}`; capitals are white's); `moves` by the square a piece is
        dragged from and the one it is dropped on: one move in UCI, or four that promote, to
        choose from; `turn`, `orientation` (whose side is below), `last_move` (two squares or
        `None`), `check` (the square of a king in check or `None`), `fen`, `result` and `reason`.
    """
    board = game.board
    king = board.king(board.turn)
    last = game.moves[-1] if game.moves else None
    return {
        "fen": board.fen(),
        "orientation": color_name(agent),
        "turn": color_name(board.turn),
        "pieces": {
            chess.SQUARE_NAMES[square]: piece.symbol()
            for square, piece in board.piece_map().items()
        },
        "moves": {} if game.ending else _drops(game),
        "last_move": last
        and [chess.SQUARE_NAMES[last.from_square], chess.SQUARE_NAMES[last.to_square]],
        "check": chess.SQUARE_NAMES[king] if king is not None and board.is_check() else None,
        "result": game.ending and game.ending.result,
        "reason": game.ending and game.ending.reason,
    }


def _drops(game: Game) -> dict[str, dict[str, list[str]]]:
    drops: dict[str, dict[str, list[str]]] = {}
    for name in game.names():
        drops.setdefault(name[:2], {}).setdefault(name[2:4], []).append(name)
    return drops
