"""Who sits on the other side of the board."""

from __future__ import annotations

import logging
import random
from typing import Protocol

import chess

from chess_env.server.game import Game
from chess_env.server.options import ChessOptions
from chess_env.server.search import Search
from chess_env.server.uci import EngineFault, Limits, UciEngine

logger = logging.getLogger(__name__)


class Opponent(Protocol):
    """A player."""

    @property
    def fault(self) -> str | None:
        """Why it plays no longer as it was asked to, `None` while it does."""

    def choose(self, game: Game, timeout_s: float) -> chess.Move:
        """A legal move, within bounds of its own.

        Args:
            game: a game that runs, and in which it is to move.
            timeout_s: seconds that a player who is waited for has.
        """


class RandomOpponent:
    """Plays any legal move."""

    fault: str | None = None

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def choose(self, game: Game, timeout_s: float) -> chess.Move:
        """Any legal move; each is as likely as the others."""
        return self._chance.choice(game.legal)


class BuiltinOpponent:
    """Plays what the built-in engine finds."""

    fault: str | None = None

    def __init__(self, depth: int, nodes: int, chance: random.Random) -> None:
        self._depth, self._nodes, self._chance = depth, nodes, chance

    def choose(self, game: Game, timeout_s: float) -> chess.Move:
        """The best move within its depth and number of positions."""
        return Search(game.board, self._nodes).best(self._depth, self._chance)


class UciOpponent:
    """Plays what a UCI engine says; once that fails, the built-in engine plays on.

    Attributes:
        fault: why the engine plays no longer, `None` while it does.
    """

    def __init__(self, engine: UciEngine, limits: Limits, understudy: Opponent) -> None:
        self.fault: str | None = None
        self._engine, self._limits, self._understudy = engine, limits, understudy

    def choose(self, game: Game, timeout_s: float) -> chess.Move:
        """The engine's move, or the understudy's."""
        if self.fault is None:
            try:
                return self._ask(game, min(timeout_s, self._limits.timeout_s))
            except EngineFault as fault:
                self._engine.close()
                self.fault = f"{fault}; the built-in engine plays on in this game"
                logger.warning(self.fault)
        return self._understudy.choose(game, timeout_s)

    def _ask(self, game: Game, timeout_s: float) -> chess.Move:
        limits = self._limits._replace(timeout_s=timeout_s)
        moves = [move.uci() for move in game.moves]
        said = self._engine.best_move(game.start, moves, limits)
        move = game.names().get(said)
        if move is None:
            raise EngineFault(
                f"the engine {self._engine.program} answered {ascii(said[:20])}, which is not legal"
            )
        return move


def opponent_for(
    options: ChessOptions, chance: random.Random, engine: UciEngine | None
) -> Opponent | None:
    """Who plays against the agent; `None` if it plays both sides.

    Args:
        options: of the game.
        chance: where the opponent's choices come from.
        engine: the running engine, if the options ask for one.
    """
    if options.opponent == "none":
        return None
    if options.opponent == "random":
        return RandomOpponent(chance)
    builtin = BuiltinOpponent(options.opponent_depth, options.opponent_nodes, chance)
    if engine is None:
        return builtin
    limits = Limits(options.opponent_depth, options.opponent_nodes, options.opponent_timeout_s)
    return UciOpponent(engine, limits, builtin)
