"""Episodes: their seeds, their options, what ends them, and what is refused."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ale_py", reason="pip install -e 'envs/atari_env[dev]'")

import ale_py

from atari_env import AtariAction, AtariObservation, games, shelf
from atari_env.options import AtariOptions
from atari_env.server import AtariEnvironment
from openenv import ConfigurationError, InvalidRequest, errors

NOOP, FIRE, RIGHT, LEFT = (AtariAction(action_id=number) for number in range(4))
STICKY: dict[str, Any] = {"repeat_action_probability": 0.25, "noop_max": 10}


def _atari(game: str = "breakout", **options: Any) -> AtariEnvironment:
    return AtariEnvironment(game, **{"obs_type": "ram", **options})


def _play(environment: AtariEnvironment, steps: int = 60, **options: Any) -> list[AtariObservation]:
    """What a player sees who plays the legal actions in turn."""
    seen = [environment.reset(**options)]
    for step in range(steps):
        if seen[-1].done or seen[-1].truncated:
            break
        action = seen[0].legal_actions[step * step % len(seen[0].legal_actions)]
        seen.append(environment.step(AtariAction(action_id=action)))
    return seen


# --- seeds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        STICKY,
        {"game_name": "berzerk", **STICKY},
        {"game_name": "adventure", "mode": 2},
        {"game_name": "tetris", "obs_type": "rgb"},
    ],
    ids=["calm", "sticky", "sticky, with a seed of its own", "placed by chance", "rgb"],
)
def test_a_seed_plays_the_same_episode_whatever_was_played_before(options: dict[str, Any]) -> None:
    environment = _atari()
    first = _play(environment, seed=5, **options)
    _play(environment, steps=200, seed=9, **options)
    _play(environment, seed=2, game_name="pong")
    assert _play(environment, seed=5, **options) == first


@pytest.mark.parametrize(
    "options",
    [STICKY, {"game_name": "berzerk", **STICKY}, {"game_name": "adventure", "mode": 2}],
)
def test_another_seed_plays_another(options: dict[str, Any]) -> None:
    environment = _atari()
    assert _play(environment, seed=1, **options) != _play(environment, seed=2, **options)


def test_seeds_of_any_size_are_taken() -> None:
    environment = _atari()
    large = [_play(environment, seed=2**70 + 1, **STICKY) for _ in range(2)]
    assert large[0] == large[1]
    assert large[0][0].metadata["seed"] == 2**70 + 1


@pytest.mark.parametrize("before", [None, 0, 76, 2**31 - 1])
def test_sticky_actions_are_the_emulator_s_own(before: int | None) -> None:
    ale = ale_py.ALEInterface()
    ale.setInt("random_seed", 77)
    ale.setInt("frame_skip", 4)
    ale.setFloat("repeat_action_probability", 0.25)
    ale.loadROM(games.path_of("seaquest"))
    ale.setDifficulty(1)
    ale.reset_game()
    moves = ale.getMinimalActionSet()
    environment = _atari("seaquest", repeat_action_probability=0.25, difficulty=1)
    if before is not None:  # another seed's game on the same console
        _play(environment, seed=before)
    environment.reset(seed=77)
    for step in range(300):
        number = step * 7 % len(moves)
        reward = ale.act(moves[number])
        seen = environment.step(AtariAction(action_id=number))
        np.testing.assert_array_equal(seen.screen, ale.getRAM())
        assert (seen.reward, seen.lives) == (reward, ale.lives())


def test_an_action_that_always_sticks_is_the_first_one() -> None:
    environment = _atari(repeat_action_probability=1.0)
    noops = [environment.reset(seed=1), *(environment.step(NOOP) for _ in range(20))]
    moves = [environment.reset(seed=1), *(environment.step(RIGHT) for _ in range(20))]
    assert moves == noops


def test_noops_come_before_the_first_frame_that_is_seen() -> None:
    environment = _atari(noop_max=5)
    begun = {environment.reset(seed=seed).episode_frame_number for seed in range(40)}
    assert begun == {4, 8, 12, 16, 20}
    assert environment.state.step_count == 0


def test_noops_that_would_end_the_game_are_not_played() -> None:
    environment = _atari(noop_max=10, max_num_frames_per_episode=4)
    begun = environment.reset(seed=1)
    assert (begun.done, begun.truncated, begun.episode_frame_number) == (False, False, 0)


# --- ends ---------------------------------------------------------------------------------------


def test_a_lost_life_ends_the_episode_where_that_is_asked_for() -> None:
    def played(**options: Any) -> AtariObservation:
        environment = _atari(**options)
        seen = environment.reset(seed=1)
        for step in range(2000):
            seen = environment.step(FIRE if step % 2 else RIGHT)
            if seen.done or seen.lives < 4:
                break
        return seen

    ended = played(terminal_on_life_loss=True)
    assert (ended.done, ended.truncated, ended.lives) == (True, False, 4)
    assert ended.text.endswith("over: life lost")
    went_on = played()
    assert (went_on.done, went_on.lives) == (False, 3)


def test_a_game_ends_with_its_last_life_and_stays_so() -> None:
    environment = _atari(frameskip=16)
    seen = environment.reset(seed=1)
    steps = 0
    while not seen.done:
        seen = environment.step(FIRE)
        steps += 1
        assert seen.lives <= 5
    assert (seen.lives, seen.truncated) == (0, False)
    assert seen.text.endswith("over: game over")
    after = environment.step(RIGHT)
    assert (after.done, after.reward, environment.state.step_count) == (True, 0.0, steps)
    assert "reset()" in after.metadata["error"]
    assert after.text == f"Refused: {after.metadata['error']}\n{seen.text}"
    assert after.frame_number == seen.frame_number
    assert environment.reset(seed=1).lives == 5


def test_the_limit_of_frames_truncates() -> None:
    seen = _play(_atari(max_num_frames_per_episode=10), seed=1)
    assert [frame.episode_frame_number for frame in seen] == [0, 4, 8, 10]
    assert [frame.truncated for frame in seen] == [False, False, False, True]
    assert not seen[-1].done
    assert seen[-1].text.endswith("over: frame limit")


def test_the_score_is_the_sum_of_the_rewards() -> None:
    environment = _atari("space_invaders")
    seen = _play(environment, steps=500, seed=1)
    rewards = [observation.reward or 0.0 for observation in seen]
    assert sum(rewards) == seen[-1].score == environment.state.score > 0
    assert {type(reward) for reward in rewards} == {float}


# --- actions and options ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "told"),
    [(-1, "-1"), (4, "4"), (18, "18"), (-(10**5000), "of so many digits")],
    ids=["negative", "one more", "another game's", "absurd"],
)
def test_an_action_that_does_not_exist_plays_nothing(number: int, told: str) -> None:
    environment = _atari()
    before = environment.reset(seed=1)
    answer = environment.step(AtariAction(action_id=number))
    error = answer.metadata.pop("error")
    assert error == f"there is no action {told}; the actions are 0 to 3"
    assert answer.text == f"Refused: {error}\n{before.text}"
    assert answer.model_copy(update={"text": before.text}) == before
    assert environment.state.step_count == 0


def test_every_action_is_legal_where_that_is_asked_for() -> None:
    environment = _atari()
    few = environment.reset(seed=1)
    every = environment.reset(seed=1, full_action_space=True)
    assert few.metadata["action_meanings"] == [
        "Action.NOOP",
        "Action.FIRE",
        "Action.RIGHT",
        "Action.LEFT",
    ]
    assert every.legal_actions == list(range(18))
    assert every.metadata["action_meanings"][17] == "Action.DOWNLEFTFIRE"
    by_few = [environment.reset(seed=1), environment.step(RIGHT)][1]
    environment.reset(seed=1, full_action_space=True)
    by_every = environment.step(AtariAction(action_id=3))
    np.testing.assert_array_equal(by_every.screen, by_few.screen)


def test_the_text_says_all_but_the_picture() -> None:
    assert _atari().reset(seed=1).text.splitlines() == [
        "Breakout: score 0, lives 5, frame 0; actions: 0 NOOP, 1 FIRE, 2 RIGHT, 3 LEFT",
        "You play for points; those of a step are its reward. Answer with the number of an action, "
        "which is held for the frames of the step.",
    ]


def test_a_mode_and_a_difficulty_are_played() -> None:
    environment = _atari("pong")
    usual = _play(environment, seed=1)
    assert _play(environment, seed=1, mode=0, difficulty=0) == usual
    assert _play(environment, seed=1, mode=1) != usual
    assert environment.state.mode == 1
    assert _play(environment, steps=300, seed=1, difficulty=3) != _play(
        environment, steps=300, seed=1
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"mode": 3}, "Breakout has no mode 3; it has 0, 4, 8"),
        ({"difficulty": 2}, "Breakout has no difficulty 2; it has 0, 1"),
        ({"obs_format": "png"}, "no picture"),
        ({"frame_skip": 4}, "did you mean frameskip"),
        ({"frameskip": 0}, "frameskip"),
    ],
)
def test_what_cannot_be_is_refused_and_the_episode_goes_on(
    options: dict[str, Any], told: str
) -> None:
    environment = _atari()
    expected = _play(environment, steps=2, seed=1)
    begun = environment.reset(seed=1)
    with pytest.raises(InvalidRequest, match=told):
        environment.reset(**options)
    assert begun == expected[0]
    assert environment.step(NOOP) == expected[1]


def test_a_reset_that_is_refused_uses_up_no_seed() -> None:
    environment = _atari()
    environment.reset(seed=1)
    expected = environment.reset().metadata["seed"]
    environment.reset(seed=1)
    with pytest.raises(InvalidRequest, match="no mode 3"):
        environment.reset(mode=3)
    assert environment.reset().metadata["seed"] == expected


def test_options_of_a_reset_hold_for_its_episode_alone() -> None:
    environment = _atari()
    environment.reset(seed=1, game_name="pong", frameskip=2, obs_type="grayscale")
    state = environment.state
    assert (state.game_name, state.frameskip, state.obs_type) == ("pong", 2, "grayscale")
    assert environment.step(NOOP).frame_number == 2
    environment.reset(seed=1)
    state = environment.state
    assert (state.game_name, state.frameskip, state.obs_type) == ("breakout", 4, "ram")


def test_variables_are_those_of_existing_servers() -> None:
    variables = {
        "ATARI_GAME": "ALE/Seaquest-v5",
        "ATARI_OBS_TYPE": "grayscale",
        "ATARI_FULL_ACTION_SPACE": "true",
        "ATARI_MODE": "",
        "ATARI_DIFFICULTY": "1",
        "ATARI_REPEAT_ACTION_PROB": "0.25",
        "ATARI_FRAMESKIP": "2",
        "ATARI_OBS_FORMAT": "tensor",
    }
    assert AtariOptions.from_variables(variables) == AtariOptions(
        game_name="seaquest",
        obs_type="grayscale",
        full_action_space=True,
        difficulty=1,
        repeat_action_probability=0.25,
        frameskip=2,
        obs_format="tensor",
    )
    with pytest.raises(ConfigurationError, match="ATARI_REPEAT_ACTION_PROB"):
        AtariOptions.from_variables({"ATARI_REPEAT_ACTION_PROB": "2"})


def test_the_constructor_takes_options_and_changes_to_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ATARI_GAME", "seaquest")
    assert AtariEnvironment().reset(seed=1).metadata["game_name"] == "seaquest"
    options = AtariOptions(game_name="pong", frameskip=2)
    environment = AtariEnvironment(options=options, obs_type="ram")
    environment.reset(seed=1)
    state = environment.state
    assert (state.game_name, state.frameskip, state.obs_type) == ("pong", 2, "ram")


def test_closed_it_holds_no_console_and_may_begin_anew() -> None:
    environment = _atari()
    environment.close()
    environment.reset(seed=1)
    environment.close()
    environment.close()
    with pytest.raises(errors.ResetRequired):
        environment.step(NOOP)
    assert environment.reset(seed=1).lives == 5


def test_a_console_is_one_session_s_at_a_time_and_plays_on_as_if_new() -> None:
    first, second = _atari(**STICKY), _atari(**STICKY)
    expected = [_play(first, seed=seed) for seed in (1, 2)]
    first.reset(seed=1)
    assert _play(second, seed=2) == expected[1]
    assert [first.step(NOOP).frame_number for _ in range(2)] == [
        expected[0][0].frame_number + frames for frames in (4, 8)
    ]
    first.close()
    second.reset(seed=1, game_name="pong")
    for session in (second, _atari(**STICKY), _atari(**STICKY)):
        assert [_play(session, seed=seed) for seed in (1, 2)] == expected


def test_few_consoles_are_kept() -> None:
    sessions = [_atari(game) for game in games.games()[: shelf.MOST + 2]]
    for session in sessions:
        session.reset(seed=1)
    for session in sessions:
        session.close()
        session.close()
    assert len(shelf.SHELF) == shelf.MOST
