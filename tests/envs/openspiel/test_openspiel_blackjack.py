"""OpenSpiel's blackjack and blackjack_env are one game, but for the deck."""

import random
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("pyspiel", reason="pip install -e 'envs/openspiel_env[dev]'")
pytest.importorskip("blackjack_env", reason="pip install -e 'envs/blackjack_env[dev]'")

from blackjack_env.exact import evaluate
from blackjack_env.game import Game
from blackjack_env.policies import hit_below
from blackjack_env.rules import REWARDS
from blackjack_env.server import blackjack_environment
from openspiel_env import OpenSpielAction, OpenSpielObservation, blackjack
from openspiel_env.server import OpenSpielEnvironment

HIT, STAND = 0, 1


class Dealt(random.Random):
    """A stream that deals given cards."""

    def __init__(self, cards: list[int]) -> None:
        super().__init__(0)
        self.cards = cards

    def choice(self, seq: Any) -> Any:
        """The next card."""
        return self.cards.pop(0)


@dataclass
class Played:
    """A game that was played: its moves, its cards by value, and what was seen."""

    moves: list[int]
    player: list[int]
    dealer: list[int]
    seen: list[OpenSpielObservation]


def play(env: OpenSpielEnvironment, chance: random.Random) -> Played:
    """A game of random moves. The dealer's cards begin with the open one."""
    seen, moves = [env.reset()], []
    while not seen[-1].done:
        moves.append(chance.choice(seen[-1].legal_actions))
        seen.append(env.step(OpenSpielAction(action_id=moves[-1])))
    assert env._match is not None
    history = env._match.state.history()
    hits = moves.count(HIT)
    drawn = history[4:]
    player = history[:2] + drawn[1 : 2 * hits : 2]
    dealer = [history[3], history[2], *drawn[2 * hits + 1 :]]
    return Played(moves, _values(player), _values(dealer), seen)


def _values(cards: list[int]) -> list[int]:
    return [blackjack.value(card) for card in cards]


def twin(played: Played) -> Game:
    """The game of blackjack_env with the same cards."""
    game = Game(0)
    game.player_cards, game.dealer_cards = played.player[:2], played.dealer[:1]
    game._player_stream = Dealt(played.player[2:])
    game._dealer_stream = Dealt(played.dealer[1:])
    return game


def test_the_same_cards_give_the_same_game() -> None:
    env = OpenSpielEnvironment(game_name="blackjack")
    env.reset(seed=0)
    chance = random.Random(0)
    for _ in range(400):
        played = play(env, chance)
        game = twin(played)
        for move, before, after in zip(played.moves, played.seen, played.seen[1:], strict=False):
            assert before.text.split("\n")[0] == blackjack_environment._describe(game)
            if move == HIT:
                game.hit()
            else:
                game.stand()
            assert blackjack.Table.read(after.info_state).total() == game.player
        assert game.result is not None, "it ends with the same move"
        assert played.seen[-1].reward == REWARDS[game.result]
        assert played.seen[-1].text.split("\n")[0].endswith(f" {game.result}")
        if not game.player.bust:
            assert game.dealer_cards == played.dealer, "the dealer draws as many cards"


def test_the_dealer_s_rule_is_worth_what_it_is_worth_there() -> None:
    env = OpenSpielEnvironment(game_name="blackjack")
    seen, paid, games = env.reset(seed=1), 0.0, 4000
    for _ in range(games):
        seen = env.reset()
        while not seen.done:
            points, _ = blackjack.Table.read(seen.info_state).total()
            seen = env.step(OpenSpielAction(action_id=HIT if points < 17 else STAND))
        paid += seen.reward or 0.0
    assert paid / games == pytest.approx(evaluate(hit_below(17)).value, abs=0.04)
