"""A game of chess: a board whose position is worked out once."""

from __future__ import annotations

from typing import NamedTuple

import chess


class Ending(NamedTuple):
    """How a game ended.

    Attributes:
        reason: `checkmate`, `stalemate`, `insufficient_material`, `threefold_repetition`,
            `fifty_moves`, `fivefold_repetition`, `seventyfive_moves`, `max_moves` or
            `illegal_moves`.
        winner: the colour that won; `None` is a draw.
    """

    reason: str
    winner: chess.Color | None = None

    @property
    def result(self) -> str:
        """The result as chess players write it."""
        return {None: "1/2-1/2", chess.WHITE: "1-0", chess.BLACK: "0-1"}[self.winner]


class Game:
    """A board, the moves that led to it and those that may follow.

    Attributes:
        board: the position, with its history. Change it by `play` alone.
        start: the FEN that the game began from.
        legal: the legal moves.
        moves: the moves of both sides so far.
        ending: how the game ended, `None` while it runs.
    """

    def __init__(self, fen: str, *, claim_draws: bool = True, max_moves: int = 500) -> None:
        self._claim_draws = claim_draws
        self._max_moves = max_moves
        self.start = fen
        self.board = chess.Board(fen)
        self.legal: list[chess.Move] = []
        self.ending: Ending | None = None
        self._names: dict[str, chess.Move] | None = None
        self._look()

    @property
    def moves(self) -> list[chess.Move]:
        """The moves so far."""
        return self.board.move_stack

    def play(self, move: chess.Move) -> None:
        """Makes a legal move."""
        self.board.push(move)
        self._look()

    def forfeit(self, loser: chess.Color) -> None:
        """Ends the game for one who would not play by the rules."""
        self.ending = Ending("illegal_moves", not loser)

    def names(self) -> dict[str, chess.Move]:
        """The legal moves by their names in UCI."""
        if self._names is None:
            self._names = {move.uci(): move for move in self.legal}
        return self._names

    def _look(self) -> None:
        self.legal = list(self.board.generate_legal_moves())
        self._names = None
        self.ending = self._ending()

    def _ending(self) -> Ending | None:
        board = self.board
        if not self.legal:
            mated = board.is_check()
            return Ending("checkmate", not board.turn) if mated else Ending("stalemate")
        if board.is_insufficient_material():
            return Ending("insufficient_material")
        return self._long_game()

    def _long_game(self) -> Ending | None:
        quiet = self.board.halfmove_clock
        times, least = (3, 8) if self._claim_draws else (5, 16)  # no repetition is faster
        if quiet >= (100 if self._claim_draws else 150):
            return Ending("fifty_moves" if self._claim_draws else "seventyfive_moves")
        if quiet >= least and self.board.is_repetition(times):
            return Ending("threefold_repetition" if times == 3 else "fivefold_repetition")
        return Ending("max_moves") if len(self.moves) >= self._max_moves else None
