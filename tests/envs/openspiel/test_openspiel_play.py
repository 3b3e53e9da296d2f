"""Playing: seats, opponents, seeds, options, and what nobody may do."""

import random
import re
from typing import Any

import pytest

pytest.importorskip("pyspiel", reason="pip install -e 'envs/openspiel_env[dev]'")

from openenv import InvalidRequest, errors
from openspiel_env import OpenSpielAction, OpenSpielObservation
from openspiel_env.server import OpenSpielEnvironment
from openspiel_env.server.options import OpenSpielOptions
from openspiel_env.server.parameters import CHOICES
from tests.markup import buttons_of, view_of


def act(env: OpenSpielEnvironment, action: int) -> OpenSpielObservation:
    """One step."""
    return env.step(OpenSpielAction(action_id=action))


def position(seen: OpenSpielObservation) -> dict[str, Any]:
    """What is seen, but for what depends on the step or the seed."""
    text = re.sub(r"\ARefused: .*\n", "", seen.text)
    return {**seen.model_dump(exclude={"reward", "metadata"}), "text": text}


@pytest.mark.parametrize(("policy", "answer"), [("first", 0), ("last", 8), ("middle", 5)])
def test_opponents_play_by_their_policy(policy: str, answer: int) -> None:
    env = OpenSpielEnvironment(game_name="tic_tac_toe", opponent_policy=policy)
    assert env.reset(seed=1).opponent_last_action is None
    assert act(env, 4).opponent_last_action == answer
    assert env.state.opponent_policy == policy
    assert (env.state.step_count, env.state.move_count) == (1, 2)


def test_random_opponents_vary_with_the_seed() -> None:
    env = OpenSpielEnvironment(game_name="tic_tac_toe")
    answers = set()
    for seed in range(40):
        env.reset(seed=seed)
        answers.add(act(env, 4).opponent_last_action)
    assert answers == {0, 1, 2, 3, 5, 6, 7, 8}


def test_the_second_seat_is_moved_to_before_it_begins() -> None:
    env = OpenSpielEnvironment(game_name="tic_tac_toe", agent_player=1, opponent_policy="first")
    seen = env.reset(seed=1)
    assert (seen.opponent_last_action, seen.current_player_id) == (0, 1)
    assert seen.game_phase == "initial"
    assert seen.text.startswith("you are o\nx . .")
    assert (env.state.step_count, env.state.move_count, env.state.num_players) == (0, 1, 2)


def test_a_loss_is_paid_though_the_opponent_moved_last() -> None:
    env = OpenSpielEnvironment(game_name="tic_tac_toe", agent_player=1, opponent_policy="first")
    env.reset(seed=1)
    assert act(env, 5).reward == 0.0
    seen = act(env, 8)
    assert (seen.reward, seen.done) == (-1.0, True)
    assert seen.text.endswith("x x x\n. . o\n. . o\nover, you got -1")


def test_an_illegal_action_changes_nothing() -> None:
    for game in ("blackjack", "2048", "tic_tac_toe", "kuhn_poker"):
        env = OpenSpielEnvironment(game_name=game)
        before = env.reset(seed=5)
        for action in (-1, 9, 10**40):
            seen = act(env, action)
            assert position(seen) == position(before)
            assert (seen.reward, seen.done) == (0.0, False)
            error = seen.metadata["error"]
            assert str(action)[:30] in error
            assert seen.text == f"Refused: {error}\n{before.text}"
            assert f"{before.legal_actions[0]} {before.metadata['action_names'][0]}" in error
        assert (env.state.step_count, env.state.move_count) == (3, 0)


def test_a_taken_cell_stays_taken() -> None:
    env = OpenSpielEnvironment(game_name="tic_tac_toe", opponent_policy="first")
    env.reset(seed=1)
    before = act(env, 4)
    for taken in (4, 0):
        seen = act(env, taken)
        assert "not legal" in seen.metadata["error"]
        assert position(seen) == position(before)


def test_a_game_that_is_over_stays_over() -> None:
    env = OpenSpielEnvironment(game_name="blackjack")
    env.reset(seed=2)
    end = act(env, 1)
    assert end.done
    for action in (0, 1, 7):
        after = act(env, action)
        assert position(after) == position(end)
        assert (after.done, after.reward) == (True, 0.0)
        assert "reset()" in after.metadata["error"]
        assert after.text == f"Refused: {after.metadata['error']}\n{end.text}"
    assert env.state.step_count == 1


def test_a_step_before_the_first_game_is_refused() -> None:
    env = OpenSpielEnvironment()
    with pytest.raises(errors.ResetRequired, match="reset"):
        act(env, 0)
    assert (env.state.game_name, env.state.step_count) == ("catch", 0)


def test_a_seed_settles_a_game_and_those_that_follow() -> None:
    def run() -> list[OpenSpielObservation]:
        env = OpenSpielEnvironment(game_name="kuhn_poker", agent_player=1)
        chance, seen = random.Random(0), []
        for seed in (3, None, None, None, 4, None):
            seen.append(env.reset(seed=seed))
            while not seen[-1].done:
                seen.append(act(env, chance.choice(seen[-1].legal_actions)))
        return seen

    first = run()
    assert run() == first
    assert len({seen.metadata["seed"] for seen in first}) == 6


def test_the_seed_in_the_metadata_begins_the_game_again() -> None:
    env = OpenSpielEnvironment(game_name="2048")
    seen = env.reset()
    again = OpenSpielEnvironment(game_name="2048").reset(seed=seen.metadata["seed"])
    assert again == seen
    assert env.state.seed == seen.metadata["seed"]


def test_opponents_do_not_change_what_is_dealt() -> None:
    env = OpenSpielEnvironment(game_name="leduc_poker")
    for seed in range(10):
        hands = {
            env.reset(seed=seed, opponent_policy=policy).text for policy in ("random", "first")
        }
        assert len(hands) == 1


def test_options_come_from_variables_the_constructor_and_reset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENSPIEL_GAME", "tic_tac_toe")
    monkeypatch.setenv("OPENSPIEL_AGENT_PLAYER", "1")
    monkeypatch.setenv("OPENSPIEL_OPPONENT_POLICY", "last")
    env = OpenSpielEnvironment()
    assert env.reset().opponent_last_action == 8
    assert OpenSpielEnvironment(opponent_policy="first").reset().opponent_last_action == 0
    env.reset(game_name="catch", agent_player=0, game_params={"rows": 4, "columns": 3})
    state = env.state
    assert (state.game_name, state.game_params) == ("catch", {"rows": 4, "columns": 3})
    assert (state.agent_player, state.num_players) == (0, 1)
    env.reset()
    assert (env.state.game_name, env.state.agent_player) == ("tic_tac_toe", 1)


def test_parameters_are_those_of_the_game_they_were_given_for() -> None:
    env = OpenSpielEnvironment(game_name="catch", game_params={"rows": 4})
    assert len(env.reset().info_state) == 20
    assert env.reset(game_name="cliff_walking").done is False
    assert env.state.game_params == {}
    assert len(env.reset(game_name="catch").info_state) == 20
    options = OpenSpielOptions(game_name="catch", game_params={"rows": 6})
    assert len(OpenSpielEnvironment(options=options).reset().info_state) == 30


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"game_name": "tic_tac_tow"}, "tic_tac_toe"),
        ({"game_name": "catch(rows=5)"}, "no game"),
        ({"game_name": "tic_tac_toe", "agent_player": 2}, "seats 0 to 1, got agent_player=2"),
        ({"agent_player": -1}, "agent_player"),
        ({"opponent_policy": "best"}, "opponent_policy"),
        ({"game_params": {"width": 5}}, "there is rows, columns"),
        ({"game_params": {"rows": "many"}}, "rows is 2 to 50, got 'many'"),
        ({"game_params": {"rows": 0}}, "rows is 2 to 50, got 0"),
        ({"game_params": {"rows": 10**12}}, "rows"),
        ({"game_params": {"rows": True}}, "rows"),
        ({"game_params": {"rows": 5.0}}, "rows"),
        ({"game_params": {"rows": [1, 2]}}, "rows"),
        ({"game_name": "universal_poker", "game_params": {"numPlayers": 1}}, "numPlayers"),
        ({"game_name": "2048", "game_params": {"max_tile": 100}}, "one of 8, 16"),
        ({"game_name": "efg_game", "game_params": {"filename": "/etc/hosts"}}, "filename"),
        ({"game_name": "efg_game"}, "does not take efg_game"),
        ({"game_name": "mfg_garnet"}, "mean-field"),
        ({"game_name": "misere"}, "transforms"),
        ({"game_name": "repeated_poker"}, "Missing parameter"),
        ({"game_name": "bridge_uncontested_bidding"}, "many seconds"),
        ({"tensor": "state"}, "tensor"),
        ({"opponents": "random"}, "no option 'opponents'"),
    ],
)
def test_wrong_options_are_refused_and_the_game_goes_on(options: dict[str, Any], why: str) -> None:
    env = OpenSpielEnvironment(game_name="catch")
    env.reset(seed=1, episode_id="mine")
    before = act(env, 0)
    with pytest.raises(InvalidRequest, match=why) as refusal:
        env.reset(seed=2, **options)
    assert len(str(refusal.value)) < 5000
    assert env.state.episode_id == "mine"
    assert act(env, 99).info_state == before.info_state
    assert act(env, 2).game_phase == "playing"


def test_who_starts_the_server_is_told_at_once() -> None:
    with pytest.raises(InvalidRequest, match="no game"):
        OpenSpielEnvironment(game_name="poker")
    with pytest.raises(InvalidRequest, match="tensor"):
        OpenSpielEnvironment(game_name="catch", game_params={"rows": 0})
    with pytest.raises(InvalidRequest, match="tensor"):
        OpenSpielEnvironment(game_name="catch", game_params={"rows": 10**4, "columns": 10**4})


def test_the_server_s_own_parameters_are_its_own_affair() -> None:
    env = OpenSpielEnvironment(game_name="catch", game_params={"rows": 60})
    assert len(env.reset().info_state) == 300
    assert len(env.reset(game_params={"rows": 60}).info_state) == 300
    with pytest.raises(InvalidRequest, match="rows"):
        env.reset(game_params={"rows": 61})


@pytest.mark.parametrize("game", CHOICES)
def test_the_least_and_the_greatest_parameters_can_be_played(game: str) -> None:
    for end in (0, -1):
        given = {name: list(choices)[end] for name, choices in CHOICES[game].items()}
        env = OpenSpielEnvironment()
        seen = env.reset(seed=1, game_name=game, game_params=given)
        chance = random.Random(1)
        for _ in range(30):
            seen = seen if seen.done else act(env, chance.choice(seen.legal_actions))
        assert env.state.game_params == given


def test_a_refused_reset_takes_no_seed_from_the_sequence() -> None:
    def seeds(*, wrong: bool) -> list[int]:
        env = OpenSpielEnvironment()
        env.reset(seed=1)
        if wrong:
            with pytest.raises(InvalidRequest):
                env.reset(game_name="nothing")
        return [env.reset().metadata["seed"] for _ in range(3)]

    assert seeds(wrong=True) == seeds(wrong=False)


def test_the_observation_tensor_can_be_had_instead() -> None:
    env = OpenSpielEnvironment(game_name="cliff_walking", opponent_policy="first")
    seen = env.reset(tensor="observation")
    assert len(seen.info_state) == 32
    assert seen.info_state.index(1.0) == 3 * 8
    assert act(env, 1).info_state.index(1.0) == 2 * 8
    assert len(env.reset(game_name="blackjack", tensor="observation").info_state) == 189


def test_a_page_shows_the_cards_and_what_can_be_done() -> None:
    env = OpenSpielEnvironment(game_name="blackjack")
    seen = env.reset(seed=1)
    shown = view_of(env, seen)
    assert sum(kind.startswith("card") for kind in shown.classes) == 3
    assert seen.text.splitlines()[0] in shown.words
    assert buttons_of(env, seen) == [
        ("Hit", {"action_id": 0}, "h"),
        ("Stand", {"action_id": 1}, "s"),
    ]
    end = act(env, 1)
    assert f"The game is over; you got {end.reward:g}." in view_of(env, end).words
    assert buttons_of(env, end) == []


def test_a_game_that_is_not_known_is_shown_in_words() -> None:
    env = OpenSpielEnvironment(game_name="leduc_poker")
    seen = env.reset(seed=1)
    shown = view_of(env, seen)
    assert shown.labels == [] and " ".join(seen.text.split()) in shown.words
    assert [action["action_id"] for _, action in buttons_of(env, seen)] == seen.legal_actions
    go = env.reset(game_name="go", seed=1)
    assert (len(go.legal_actions), len(buttons_of(env, go))) == (362, 100)


@pytest.mark.parametrize(
    ("game", "rows", "columns"),
    [
        ("tic_tac_toe", 3, 3),
        ("2048", 4, 4),
        ("catch", 10, 5),
        ("cliff_walking", 4, 8),
        ("connect_four", 6, 7),
        ("breakthrough", 8, 8),
        ("clobber", 5, 6),
    ],
)
def test_a_page_shows_boards(game: str, rows: int, columns: int) -> None:
    env = OpenSpielEnvironment(game_name=game)
    label = view_of(env, env.reset(seed=1)).labels[0]
    assert (label.count("Row "), label.count(",")) == (rows, rows * (columns - 1))


def test_arrow_keys_play_what_goes_somewhere() -> None:
    env = OpenSpielEnvironment(game_name="2048")
    keys = {key for _, _, key in buttons_of(env, env.reset(seed=1))}
    assert keys <= {"ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"}
    catch = buttons_of(env, env.reset(game_name="catch"))
    assert [key for _, _, key in catch] == ["ArrowLeft", ".", "ArrowRight"]
