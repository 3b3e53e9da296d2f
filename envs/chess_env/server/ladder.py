"""How strong the built-in engine's levels are: each plays the one below.

`python -m chess_env.server.ladder --games 20` prints a line for each level.
"""

from __future__ import annotations

import argparse
import math
import random
import sys

import chess

from chess_env.models import START
from chess_env.server.evaluation import evaluate
from chess_env.server.game import Game
from chess_env.server.opponents import BuiltinOpponent, Opponent, RandomOpponent

OPENING = 6  # half-moves by chance, so that no two games are the same
DECISIVE = 300  # hundredths of a pawn that win a game that is broken off
NODES = 20_000


def player(level: int, seed: int) -> Opponent:
    """The player of a level: chance is 0, the others are the depths of the built-in engine."""
    chance = random.Random(f"level {level} in game {seed}")
    return BuiltinOpponent(level, NODES, chance) if level else RandomOpponent(chance)


def play(white: Opponent, black: Opponent, seed: int, half_moves: int) -> float:
    """Plays a game from an opening by chance.

    Returns:
        white's points: 1, ½ or 0; a game that is broken off goes to the side that is well ahead.
    """
    game = Game(START, max_moves=half_moves)
    chance = random.Random(f"opening {seed}")
    for _ in range(OPENING):
        game.play(chance.choice(game.legal))
    while not game.ending:
        mover = white if game.board.turn else black
        game.play(mover.choose(game, math.inf))
    return _points(game)


def _points(game: Game) -> float:
    assert game.ending is not None
    ahead = evaluate(game.board) if game.ending.reason == "max_moves" else 0
    if abs(ahead) > DECISIVE:
        return float(ahead > 0)
    return {chess.WHITE: 1.0, chess.BLACK: 0.0, None: 0.5}[game.ending.winner]


def match(stronger: int, weaker: int, games: int, half_moves: int = 200) -> float:
    """The share of the points that one level makes against another, 0 to 1.

    Each opening is played twice, with the colours exchanged.
    """
    points = 0.0
    for number in range(games):
        one, other = player(stronger, number), player(weaker, number)
        if number % 2 == 0:
            points += play(one, other, number // 2, half_moves)
        else:
            points += 1 - play(other, one, number // 2, half_moves)
    return points / games


def elo(share: float, games: int) -> float:
    """The difference in Elo that a share of the points stands for; half a point is left open."""
    bounded = min(max(share, 0.5 / games), 1 - 0.5 / games)
    return 400 * math.log10(bounded / (1 - bounded))


def main(arguments: list[str] | None = None) -> None:
    """Prints how each level does against the one below."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=20, help="of each match")
    parser.add_argument("--levels", type=int, default=4, help="the highest level that plays")
    given = parser.parse_args(arguments)
    for level in range(1, given.levels + 1):
        share = match(level, level - 1, given.games)
        sys.stdout.write(
            f"level {level} against {level - 1}: {share:.0%} of {given.games} games, "
            f"Elo {elo(share, given.games):+.0f}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
