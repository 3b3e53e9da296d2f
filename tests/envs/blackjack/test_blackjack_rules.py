"""BlackJack's rules, and the exact values that follow from them."""

import random

import pytest

from blackjack_env.exact import Outcome, Policy, Situation, evaluate, optimal, situations, stand
from blackjack_env.game import Game
from blackjack_env.policies import always_hit, always_stand, coin_toss, hit_below, never_bust
from blackjack_env.rules import DECK, Result, Total, compare, total


@pytest.mark.parametrize(
    ("cards", "points", "soft"),
    [
        ([2, 2], 4, False),
        ([1, 1], 12, True),
        ([1, 10], 21, True),
        ([1, 5, 10], 16, False),
        ([1, 1, 9], 21, True),
        ([1, 1, 1, 10], 13, False),
        ([10, 10, 2], 22, False),
        ([10, 10, 1], 21, False),
    ],
)
def test_an_ace_counts_eleven_where_it_can(cards: list[int], points: int, soft: bool) -> None:
    assert total(cards) == Total(points, soft)
    assert total(cards[::-1]) == Total(points, soft)


@pytest.mark.parametrize(
    ("player", "dealer", "result"),
    [
        ([10, 9], [10, 8], "win"),
        ([10, 8], [10, 8], "push"),
        ([10, 7], [10, 8], "lose"),
        ([2, 2], [10, 6, 10], "win"),
        ([10, 6, 10], [10, 6, 10], "lose"),
        ([1, 10], [7, 7, 7], "push"),
    ],
)
def test_who_wins(player: list[int], dealer: list[int], result: Result) -> None:
    assert compare(total(player), total(dealer)) == result


def test_the_dealer_stands_on_every_seventeen() -> None:
    assert total([10, 6]).dealer_draws
    assert not total([10, 7]).dealer_draws
    assert not total([1, 6]).dealer_draws


def test_a_card_is_a_ten_four_times_as_often() -> None:
    assert sorted(DECK) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


@pytest.mark.parametrize(
    ("policy", "value", "win", "push"),
    [
        (coin_toss, -0.396, 0.281, 0.043),
        (always_hit, -1.000, 0.000, 0.000),
        (hit_below(20), -0.354, 0.294, 0.059),
        (always_stand, -0.186, 0.381, 0.052),
        (never_bust, -0.106, 0.413, 0.068),
        (hit_below(17), -0.079, 0.408, 0.105),
        (optimal(), -0.0466, 0.4295, 0.095),
    ],
)
def test_exact_values(policy: Policy, value: float, win: float, push: float) -> None:
    outcome = evaluate(policy)
    assert sum(outcome) == pytest.approx(1)
    assert outcome.value == pytest.approx(value, abs=5e-4)
    assert outcome.win == pytest.approx(win, abs=5e-4)
    assert outcome.push == pytest.approx(push, abs=5e-4)


def test_there_are_280_situations() -> None:
    assert len(set(situations())) == 280


def test_no_single_change_improves_the_optimal_policy() -> None:
    best = optimal()
    value = evaluate(best).value

    def changed_at(place: Situation) -> Policy:
        return lambda situation: 1 - best(situation) if situation == place else best(situation)

    for place in random.Random(0).sample(situations(), 40):
        assert evaluate(changed_at(place)).value <= value + 1e-12


def test_a_stiff_hand_against_a_strong_dealer_takes_a_card() -> None:
    best = optimal()
    assert best(Situation(16, usable_ace=False, dealer_card=10)) == 1
    assert best(Situation(16, usable_ace=False, dealer_card=6)) == 0
    assert best(Situation(18, usable_ace=True, dealer_card=9)) == 1
    assert best(Situation(18, usable_ace=True, dealer_card=8)) == 0


def test_standing_on_less_than_seventeen_wins_only_by_the_dealers_bust() -> None:
    assert stand(Total(4, soft=False), 6) == stand(Total(16, soft=False), 6)
    assert stand(Total(16, soft=False), 6).push == 0


def test_played_games_agree_with_the_exact_value() -> None:
    policy = hit_below(17)
    results = [_play(Game(seed), policy) for seed in range(20_000)]
    shares = Outcome(*(results.count(result) / len(results) for result in ("win", "push", "lose")))
    assert shares == pytest.approx(evaluate(policy), abs=0.012)


def _play(game: Game, policy: Policy) -> Result:
    while game.result is None:
        if policy(Situation(*game.player, game.dealer_cards[0])):
            game.hit()
        else:
            game.stand()
    return game.result


def test_a_seed_deals_the_same_cards_whatever_is_done() -> None:
    for seed in range(50):
        standing, hitting = Game(seed), Game(seed)
        standing.stand()
        while hitting.result is None and hitting.player.points < 17:
            hitting.hit()
        if hitting.result is None:
            hitting.stand()
            assert hitting.dealer_cards == standing.dealer_cards
        assert hitting.player_cards[:2] == standing.player_cards


def test_games_leave_the_global_stream_of_chance_alone() -> None:
    random.seed(5)
    expected = random.Random(5).random()
    Game(1).stand()
    assert random.random() == expected
