"""The built-in engine: alpha-beta search that looks at a bounded number of positions."""

from __future__ import annotations

import random

import chess

from chess_env.server.evaluation import VALUES, evaluate

MATE = 1_000_000
MARGIN = 150  # what a better place may add to what is captured
_KINDS = [0, *VALUES.values()]


class _Exhausted(Exception):
    """All positions that were allowed have been looked at."""


class Search:
    """Finds one move: deeper and deeper, as long as there are positions to look at.

    What it plays depends on the position, its history, the limits and the generator alone.

    Args:
        board: the position to find a move in. It is left as it is.
        nodes: positions that may be looked at.

    Attributes:
        looked: positions that were looked at.
    """

    def __init__(self, board: chess.Board, nodes: int) -> None:
        self._board = board.copy()
        self._nodes = nodes
        self.looked = 0

    def best(self, depth: int, chance: random.Random) -> chess.Move:
        """The best move that was found; the generator chooses among equals.

        Args:
            depth: half-moves to look ahead; captures are followed to their end.
            chance: where the choice comes from.
        """
        moves = list(self._board.generate_legal_moves())
        chance.shuffle(moves)
        moves.sort(key=self._promise, reverse=True)
        try:
            for ahead in range(1, depth + 1):
                moves = self._ranked(moves, ahead)
        except _Exhausted:
            pass  # the last full look is what counts
        return moves[0]

    def _ranked(self, moves: list[chess.Move], depth: int) -> list[chess.Move]:
        """The moves with the best first, in the order that makes the next look short."""
        alpha = -MATE
        best = moves[0]
        for move in moves:
            self._board.push(move)
            drawn = self._board.halfmove_clock >= 4 and self._board.is_repetition(2)
            value = 0 if drawn else -self._value(depth - 1, -MATE, -alpha, 1)
            self._board.pop()
            if value > alpha:
                alpha, best = value, move
        return [best, *(move for move in moves if move is not best)]

    def _value(self, depth: int, alpha: int, beta: int, ply: int) -> int:
        """What the position is worth to the side to move, at least within the window."""
        board = self._board
        if depth <= 0:
            return self._quiet(alpha, beta, ply)
        self._count()
        moves = sorted(board.generate_legal_moves(), key=self._promise, reverse=True)
        if not moves:
            return ply - MATE if board.is_check() else 0
        if board.halfmove_clock >= 100 or board.is_insufficient_material():
            return 0
        for move in moves:
            board.push(move)
            alpha = max(alpha, -self._value(depth - 1, -beta, -alpha, ply + 1))
            board.pop()
            if alpha >= beta:
                break
        return alpha

    def _quiet(self, alpha: int, beta: int, ply: int) -> int:
        """The same once nothing hangs: captures, and ways out of check, are followed."""
        self._count()
        board = self._board
        if board.is_check():
            return self._evade(alpha, beta, ply)
        standing = evaluate(board) if board.turn else -evaluate(board)
        if standing >= beta:
            return standing
        alpha = max(alpha, standing)
        hope = alpha - standing - MARGIN
        captures = [move for move in board.generate_legal_captures() if self._pays(move, hope)]
        captures.sort(key=self._promise, reverse=True)
        return self._follow(captures, alpha, beta, ply)

    def _pays(self, move: chess.Move, least: int) -> bool:
        """Whether a capture may gain that much, and not just lose a greater piece."""
        board = self._board
        taken = _KINDS[board.piece_type_at(move.to_square) or chess.PAWN]
        if move.promotion:
            return True
        if taken < least:
            return False
        risked = _KINDS[board.piece_type_at(move.from_square) or 0]
        return risked <= taken or not board.is_attacked_by(not board.turn, move.to_square)

    def _evade(self, alpha: int, beta: int, ply: int) -> int:
        moves = list(self._board.generate_legal_moves())
        return self._follow(moves, alpha, beta, ply) if moves else ply - MATE

    def _follow(self, moves: list[chess.Move], alpha: int, beta: int, ply: int) -> int:
        for move in moves:
            self._board.push(move)
            alpha = max(alpha, -self._quiet(-beta, -alpha, ply + 1))
            self._board.pop()
            if alpha >= beta:
                break
        return alpha

    def _promise(self, move: chess.Move) -> int:
        """What to try first: the largest capture, by the smallest piece; then promotions."""
        taken = self._board.piece_type_at(move.to_square)
        if taken is None:
            return _KINDS[move.promotion] if move.promotion else 0
        taker = self._board.piece_type_at(move.from_square) or 0
        return 10 * _KINDS[taken] - _KINDS[taker] // 10 + _KINDS[move.promotion or 0]

    def _count(self) -> None:
        if self.looked >= self._nodes:
            raise _Exhausted
        self.looked += 1
