"""Moves as players write them: reading one, and writing down a game."""

from __future__ import annotations

import textwrap

import chess

from chess_env.server.game import Game

SHOWN = 40
_FAULTS = {
    chess.AmbiguousMoveError: "means more than one legal move",
    chess.IllegalMoveError: "is not legal here",
    chess.InvalidMoveError: "is no move",
}


class Refused(ValueError):
    """What was said is no legal move; the text says why, and what is legal.

    Attributes:
        why: the same without the legal moves.
    """

    def __init__(self, why: str, legal: list[str]) -> None:
        super().__init__(f"{why}; legal are (UCI, or SAN): {' '.join(legal)}")
        self.why = why


def read(game: Game, said: str) -> chess.Move:
    """The legal move that is meant, in UCI or in SAN.

    Raises:
        Refused: it means none, or more than one.
    """
    names = game.names()
    text = said.strip()
    move = names.get(text)
    if move is not None:
        return move
    try:
        move = game.board.parse_san(text)
    except ValueError as error:
        raise _refused(names, said, _FAULTS.get(type(error), "is no move")) from None
    if not move:
        raise _refused(names, said, "is not legal here: nobody may pass")
    return move


def _refused(names: dict[str, chess.Move], said: str, why: str) -> Refused:
    shown = ascii(said if len(said) <= SHOWN else f"{said[:SHOWN]}...")
    return Refused(f"{shown} {why}", list(names))


class Record:
    """The moves of a game in SAN, each worked out once and not before it is asked for."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._board = chess.Board(game.start)
        self._sans: list[str] = []

    def sans(self) -> list[str]:
        """All moves so far in SAN."""
        for move in self._game.moves[len(self._sans) :]:
            self._sans.append(self._board.san_and_push(move))
        return self._sans

    def pgn(self, white: str, black: str) -> str:
        """The game in Portable Game Notation.

        Args:
            white: who plays white.
            black: who plays black.
        """
        ending, start = self._game.ending, self._game.start
        result = ending.result if ending else "*"
        tags = {
            "Event": "OpenEnv chess",
            "Site": "?",
            "Date": "????.??.??",
            "Round": "?",
            "White": white,
            "Black": black,
            "Result": result,
        }
        if start != chess.STARTING_FEN:
            tags |= {"SetUp": "1", "FEN": start}
        if ending:
            tags["Termination"] = ending.reason
        head = "\n".join(f'[{name} "{value}"]' for name, value in tags.items())
        return f"{head}\n\n{textwrap.fill(' '.join([*self.numbered(), result]), 80)}\n"

    def numbered(self) -> list[str]:
        """The same with the numbers of the moves: `1.`, `e4`, `e5`, `2.`, ..."""
        first = chess.Board(self._game.start)
        ply = 2 * first.fullmove_number - (2 if first.turn == chess.WHITE else 1)
        words = []
        for number, san in enumerate(self.sans(), ply):
            if number % 2 == 0:
                words.append(f"{number // 2 + 1}.")
            elif number == ply:
                words.append(f"{number // 2 + 1}...")
            words.append(san)
        return words
