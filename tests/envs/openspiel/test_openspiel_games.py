"""The six games: ids, sizes, rewards and ends, as OpenSpiel's players know them."""

import random
from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("pyspiel", reason="pip install -e 'envs/openspiel_env[dev]'")

from openspiel_env import OpenSpielAction, OpenSpielObservation
from openspiel_env.server import OpenSpielEnvironment

Choice = Callable[[OpenSpielObservation], int]

SIZES = {
    "blackjack": 189,
    "2048": 16,
    "catch": 50,
    "cliff_walking": 400,
    "tic_tac_toe": 27,
    "kuhn_poker": 11,
}


def play(
    env: OpenSpielEnvironment, choose: Choice, seed: int | None = None
) -> list[OpenSpielObservation]:
    """Everything that is seen in a game."""
    seen = [env.reset(seed=seed)]
    while not seen[-1].done:
        seen.append(env.step(OpenSpielAction(action_id=choose(seen[-1]))))
    return seen


def at_random(seed: int) -> Choice:
    """Any legal action."""
    chance = random.Random(seed)
    return lambda seen: chance.choice(seen.legal_actions)


@pytest.mark.parametrize(("game", "size"), SIZES.items())
def test_a_game_goes_from_initial_to_terminal(game: str, size: int) -> None:
    env = OpenSpielEnvironment(game_name=game)
    for seed in range(5):
        first, *rest = play(env, at_random(seed), seed=seed)
        assert (first.game_phase, first.reward, first.done) == ("initial", None, False)
        assert {seen.game_phase for seen in rest[:-1]} <= {"playing"}
        assert all(
            seen.current_player_id == 0 and seen.legal_actions for seen in [first, *rest[:-1]]
        )
        last = rest[-1]
        assert (last.game_phase, last.current_player_id) == ("terminal", -4)
        assert last.legal_actions == []
        assert all(len(seen.info_state) == size for seen in [first, *rest])
        assert all(isinstance(seen.reward, float) for seen in rest)
        assert env.state.step_count == len(rest)


@pytest.mark.parametrize(
    ("game", "names"),
    [
        ("blackjack", ["Hit", "Stand"]),
        ("kuhn_poker", ["Pass", "Bet"]),
        ("catch", ["LEFT", "STAY", "RIGHT"]),
        ("cliff_walking", ["RIGHT", "UP", "LEFT", "DOWN"]),
        ("tic_tac_toe", [f"x({row},{column})" for row in range(3) for column in range(3)]),
    ],
)
def test_actions_have_numbers_and_names(game: str, names: list[str]) -> None:
    seen = OpenSpielEnvironment(game_name=game).reset(seed=1)
    assert seen.legal_actions == list(range(len(names)))
    assert seen.metadata["action_names"] == names


def test_catch_pays_at_the_ninth_step() -> None:
    rewards = set()
    for seed in range(20):
        seen = play(OpenSpielEnvironment(), at_random(seed), seed=seed)
        assert len(seen) == 1 + 9
        assert [step.reward for step in seen[1:-1]] == [0.0] * 8
        rewards.add(seen[-1].reward)
    assert rewards == {1.0, -1.0}


def test_following_the_ball_catches_it() -> None:
    def follow(seen: OpenSpielObservation) -> int:
        ball, paddle = (place % 5 for place, cell in enumerate(seen.info_state) if cell)
        return 1 + (ball > paddle) - (ball < paddle)

    for seed in range(10):
        assert play(OpenSpielEnvironment(), follow, seed=seed)[-1].reward == 1.0


def test_the_cliff_ends_the_walk_and_the_goal_is_thirteen_steps_off() -> None:
    env = OpenSpielEnvironment(game_name="cliff_walking")
    fall = play(env, lambda seen: 0)
    assert [seen.reward for seen in fall] == [None, -100.0]
    path = iter([1] + [0] * 7 + [3])
    walk = play(env, lambda seen: next(path))
    assert [seen.reward for seen in walk[1:]] == [-1.0] * 9
    assert walk[-1].done


def test_a_walk_has_a_hundred_steps() -> None:
    seen = play(OpenSpielEnvironment(game_name="cliff_walking"), lambda seen: 1)
    assert len(seen) == 1 + 100
    assert seen[-1].done


def test_2048_pays_what_is_merged() -> None:
    env = OpenSpielEnvironment(game_name="2048")
    seen = play(env, at_random(3), seed=3)
    for before, after in zip(seen, seen[1:], strict=False):
        assert set(before.legal_actions) <= {0, 1, 2, 3}
        assert all(tile == 0 or tile >= 2 for tile in before.info_state)
        grown = sum(after.info_state) - sum(before.info_state)
        assert grown in {2, 4}, "one new tile; merging keeps the sum"
    assert sum(step.reward or 0 for step in seen) == _score_of(seen)


def test_in_2048_only_moves_that_change_something_are_legal() -> None:
    env = OpenSpielEnvironment(game_name="2048")
    for seed in range(5):
        for seen in play(env, at_random(seed), seed=seed):
            legal = set(seen.legal_actions)
            assert legal <= {move for move in range(4) if _slides(seen, move) | _merges(seen, move)}
            if not seen.done:
                assert legal >= {move for move in range(4) if _slides(seen, move)}


def test_kuhn_poker_pays_one_or_two() -> None:
    env = OpenSpielEnvironment(game_name="kuhn_poker")
    ends = [play(env, at_random(seed), seed=seed)[-1].reward for seed in range(60)]
    assert set(ends) == {-2.0, -1.0, 1.0, 2.0}


def test_tic_tac_toe_pays_at_the_end() -> None:
    env = OpenSpielEnvironment(game_name="tic_tac_toe")
    games = [play(env, at_random(seed), seed=seed) for seed in range(60)]
    assert {game[-1].reward for game in games} == {-1.0, 0.0, 1.0}
    assert {step.reward for game in games for step in game[1:-1]} <= {0.0}


def test_a_coin_tossing_blackjack_player_loses_two_fifths_of_a_bet() -> None:
    env = OpenSpielEnvironment(game_name="blackjack")
    choose = at_random(0)
    env.reset(seed=0)
    rewards = [play(env, choose)[-1].reward or 0.0 for _ in range(3000)]
    assert sum(rewards) / len(rewards) == pytest.approx(-0.397, abs=0.04)


def _score_of(seen: list[OpenSpielObservation]) -> float:
    """The score of a game of 2048, counted by its boards alone."""
    score = 0.0
    for before, after in zip(seen, seen[1:], strict=False):
        score += _merged_worth(before.info_state, after.info_state)
    return score


def _merged_worth(before: list[float], after: list[float]) -> float:
    """What a move merged: a sum of n(n-1)·2^n over tiles 2^n grows by exactly the merged tiles."""
    spawned = sum(after) - sum(before)
    return _worth(after) - _worth(before) - _worth([spawned])


def _worth(tiles: list[float]) -> float:
    return sum(tile * (int(tile).bit_length() - 2) for tile in tiles if tile)


def _slides(seen: OpenSpielObservation, move: int) -> bool:
    """Whether a tile has a gap before it, in a move's direction."""
    return any(later and not earlier for earlier, later in _neighbours(seen, move))


def _merges(seen: OpenSpielObservation, move: int) -> bool:
    """Whether two equal tiles are neighbours in a move's direction."""
    return any(later and earlier == later for earlier, later in _neighbours(seen, move))


def _neighbours(seen: OpenSpielObservation, move: int) -> Iterator[tuple[float, float]]:
    """Pairs of neighbours, the one first that a move goes to."""
    rows = [seen.info_state[start : start + 4] for start in (0, 4, 8, 12)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    for line in columns if move in {0, 2} else rows:
        ordered = line[::-1] if move in {1, 2} else line
        yield from zip(ordered, ordered[1:], strict=False)
