"""What a position is worth, in hundredths of a pawn, positive where white is better.

Material, and where it stands: pieces belong into the middle, pawns forward, a king behind its pawns
until the queens are gone. With little left, the side ahead drives the other's king to the edge.
"""

from __future__ import annotations

import chess

VALUES = {
    chess.PAWN: 100,
    chess.KNIGHT: 320,
    chess.BISHOP: 330,
    chess.ROOK: 500,
    chess.QUEEN: 900,
    chess.KING: 0,
}
# By the ring of a square: 0 is the edge of the board, 3 its four middle squares.
_RINGS = {
    chess.KNIGHT: (-40, -10, 10, 20),
    chess.BISHOP: (-15, 0, 8, 12),
    chess.ROOK: (0, 0, 2, 4),
    chess.QUEEN: (-10, 0, 3, 5),
}
_PAWNS = (0, 0, 4, 10, 20, 35, 60, 0)  # by rank
_CASTLED = (15, 25, 10, -10, -10, -10, 30, 15)  # a king on its first rank, by file
_BARE = 1300  # of pieces and pawns: a side that has less is hunted


def _ring(square: int) -> int:
    return 3 - max(abs(2 * (square & 7) - 7), abs(2 * (square >> 3) - 7)) // 2


def _pawn(square: int) -> int:
    rank, middle = square >> 3, (square & 7) in (3, 4)
    return 100 + _PAWNS[rank] + (15 if middle and rank in (3, 4) else 0)


def _shelter(square: int) -> int:
    rank, file = square >> 3, square & 7
    return _CASTLED[file] if rank == 0 else -15 - 15 * rank


def _piece(kind: chess.PieceType, square: int) -> int:
    seventh = 15 if kind == chess.ROOK and square >> 3 == 6 else 0
    return VALUES[kind] + _RINGS[kind][_ring(square)] + seventh


def _mirrored(worth: list[int]) -> list[int]:
    return [worth[chess.square_mirror(square)] for square in chess.SQUARES]


_WHITE = {
    chess.PAWN: [_pawn(square) for square in chess.SQUARES],
    **{kind: [_piece(kind, square) for square in chess.SQUARES] for kind in _RINGS},
}
_MINE = {
    chess.WHITE: _WHITE,
    chess.BLACK: {kind: _mirrored(worth) for kind, worth in _WHITE.items()},
}
_SHELTER = [_shelter(square) for square in chess.SQUARES]
_SHELTERS = {chess.WHITE: _SHELTER, chess.BLACK: _mirrored(_SHELTER)}
_MIDDLE = [10 * _ring(square) for square in chess.SQUARES]


def evaluate(board: chess.Board) -> int:
    """What the position is worth to white; neither checks nor captures are looked at."""
    white, black = _army(board, chess.WHITE), _army(board, chess.BLACK)
    return (
        white
        - black
        + _king(board, chess.WHITE, white, black)
        - _king(board, chess.BLACK, black, white)
    )


def _army(board: chess.Board, color: chess.Color) -> int:
    """A side's pieces and pawns where they stand, without its king."""
    own, tables, total = board.occupied_co[color], _MINE[color], 0
    for kind, pieces in (
        (chess.PAWN, board.pawns),
        (chess.KNIGHT, board.knights),
        (chess.BISHOP, board.bishops),
        (chess.ROOK, board.rooks),
        (chess.QUEEN, board.queens),
    ):
        left, table = own & pieces, tables[kind]
        while left:
            lowest = left & -left
            total += table[lowest.bit_length() - 1]
            left ^= lowest
    return total


def _king(board: chess.Board, color: chess.Color, own: int, other: int) -> int:
    """How well a king stands: sheltered from a large army, in the middle if there is none."""
    square = (board.kings & board.occupied_co[color]).bit_length() - 1
    if other > _BARE:
        return _SHELTERS[color][square]
    if own >= other:
        return _MIDDLE[square] - _MIDDLE[board.king(not color) or 0]
    return _MIDDLE[square]
