"""Every game that OpenSpiel has is played, or refused with a reason."""

import random

import pytest

pytest.importorskip("pyspiel", reason="pip install -e 'envs/openspiel_env[dev]'")

from openenv import InvalidRequest
from openspiel_env import OpenSpielAction
from openspiel_env.server import OpenSpielEnvironment, games
from openspiel_env.server.engine import pyspiel

SLOW = {"bridge", "colored_trails", "tiny_bridge_2p", "yacht"}
WITHOUT_TENSOR = {"crossword"}
PLAYED_WITH_DEFAULTS = {"coop_to_1p"}
PLAYED = sorted(set(games.names()) - SLOW - WITHOUT_TENSOR)

REFUSED = sorted({*pyspiel.registered_names()} - {*games.names()} - PLAYED_WITH_DEFAULTS)


def moves(game: str, seed: int) -> list[str]:
    """What is seen in the first moves of the last seat."""
    env = OpenSpielEnvironment(game_name=game)
    seen = env.reset(seed=seed, agent_player=env.state.num_players - 1)
    told = [seen.model_dump_json()]
    chance = random.Random(1)
    while not seen.done and len(told) < 12:
        seen = env.step(OpenSpielAction(action_id=chance.choice(seen.legal_actions)))
        assert isinstance(seen.reward, float)
        assert seen.text
        told.append(seen.model_dump_json())
    env.close()
    return told


@pytest.mark.parametrize("game", PLAYED)
def test_a_game_is_played_the_same_way_twice(game: str) -> None:
    assert moves(game, seed=3) == moves(game, seed=3)


def test_most_of_openspiel_can_be_played() -> None:
    assert len(PLAYED) > 95


@pytest.mark.parametrize("game", REFUSED)
def test_the_others_are_refused_with_a_reason(game: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        OpenSpielEnvironment(game_name=game)
    assert game in str(refusal.value)


@pytest.mark.parametrize("game", ["negotiation", "tarok", "stones_and_gems"])
def test_what_a_game_draws_by_itself_follows_from_the_seed(game: str) -> None:
    episodes = [moves(game, seed) for seed in range(4)]
    assert len({tuple(moves) for moves in episodes}) == 4


@pytest.mark.parametrize("game", ["matrix_pd", "goofspiel", "laser_tag", "blotto"])
def test_simultaneous_games_are_played_in_turns(game: str) -> None:
    env = OpenSpielEnvironment(game_name=game)
    seen = env.reset(seed=1)
    assert seen.current_player_id == 0
    after = env.step(OpenSpielAction(action_id=seen.legal_actions[0]))
    assert env.state.move_count == 2
    assert after.current_player_id in {0, -4}
