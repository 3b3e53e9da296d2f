"""Gymnasium environments, served: what a client of any language sees of them."""

import pickle
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

from openenv import (
    ConfigurationError,
    Environment,
    EnvironmentFailed,
    GenericEnvClient,
    InvalidRequest,
    ResetRequired,
    local,
)
from openenv.env.spec import EnvSpec
from openenv.gym import served
from tests.gym.worlds import Countdown
from tests.serving import serving

CARTPOLE = served("CartPole-v1")


@pytest.fixture
def countdown() -> Iterator[Any]:
    with local(served(Countdown, faulty=True)) as client:
        yield client


# ── episodes ──────────────────────────────────────────────────────────────────────────────────────


def test_an_episode_is_the_one_that_gymnasium_plays() -> None:
    native = gymnasium.make("CartPole-v1")
    with (
        serving(CARTPOLE) as server,
        GenericEnvClient(f"http://127.0.0.1:{server.port}").sync() as client,
    ):
        result = client.reset(seed=7)
        obs, _ = native.reset(seed=7)
        assert result.reward is None
        while True:
            assert np.array_equal(np.asarray(result.observation["obs"], np.float32), obs)
            if result.done:
                break
            result = client.step({"action": 1})
            obs, reward, terminated, truncated, _ = native.step(1)
            assert (result.reward, result.terminated) == (reward, terminated)
            assert result.truncated is truncated
        assert result.terminated


def test_an_episode_without_a_seed_goes_on_with_the_generator(countdown: Any) -> None:
    native = Countdown()
    for seed in (3, None, None):
        result = countdown.reset(**({} if seed is None else {"seed": seed}))
        assert result.metadata["lucky"] == native.reset(seed=seed)[1]["lucky"]


def test_a_limit_truncates(countdown: Any) -> None:
    countdown.reset()
    results = [countdown.step({"action": 0}) for _ in range(5)]
    assert [(r.done, r.truncated) for r in results] == [(False, False)] * 4 + [(True, True)]


def test_an_episode_that_ends_by_its_rules_at_its_limit_is_terminated(countdown: Any) -> None:
    countdown.reset(start=1)
    for _ in range(4):
        countdown.step({"action": 0})
    result = countdown.step({"action": 1})
    assert result.terminated
    assert not result.truncated


def test_a_step_outside_of_an_episode_is_refused(countdown: Any) -> None:
    with pytest.raises(ResetRequired):
        countdown.step({"action": 1})
    countdown.reset(start=1)
    assert countdown.step({"action": 1}).done
    with pytest.raises(ResetRequired):
        countdown.step({"action": 1})


@pytest.mark.parametrize("options", [{"options": {"start": 9}}, {"start": 9}])
def test_options_reach_the_environment(countdown: Any, options: dict[str, Any]) -> None:
    result = countdown.reset(**options)
    assert result.observation.obs.tolist() == [9.0, 0.0]
    assert result.metadata["options"] == {"start": 9}
    assert countdown.reset().metadata["options"] is None


def test_the_state_counts_steps_of_an_episode_with_a_name(countdown: Any) -> None:
    assert countdown.state().step_count == 0
    countdown.reset(episode_id="first")
    countdown.step({"action": 0})
    assert countdown.state().episode_id == "first"
    assert countdown.state().step_count == 1
    countdown.reset()
    assert countdown.state().episode_id not in (None, "first")
    assert countdown.state().step_count == 0


def test_info_is_metadata_as_far_as_it_has_a_wire_form(countdown: Any) -> None:
    countdown.reset()
    assert countdown.step({"action": 1}).metadata == {
        "left": 2,
        "waited": [1],
        "nested": {"deep": [1, 2.5]},
    }


def test_what_the_environment_raises_is_its_failure(countdown: Any) -> None:
    countdown.reset()
    with pytest.raises(EnvironmentFailed, match="the wire broke"):
        countdown.step({"action": 2})
    with pytest.raises(InvalidRequest, match="less than or equal to 3"):
        countdown.step({"action": 4})
    assert countdown.step({"action": 1}).reward == 1.0


class Closed(Countdown):
    """Keeps count of those that were closed."""

    closed = 0

    def close(self) -> None:
        Closed.closed += 1


def test_an_environment_is_closed_with_its_session() -> None:
    Closed.closed = 0
    environment = served(Closed)
    assert Closed.closed == 1, "the one that shows the spaces"
    with serving(environment) as server:
        with GenericEnvClient(f"http://127.0.0.1:{server.port}").sync() as client:
            client.reset()
        assert Closed.closed == 2


# ── frames ────────────────────────────────────────────────────────────────────────────────────────


def test_frames_come_with_the_state_once_they_were_asked_for() -> None:
    with (
        serving(served(Countdown)) as server,
        GenericEnvClient(f"http://127.0.0.1:{server.port}").sync() as client,
    ):
        client.reset()
        assert client.state()["frame"] is None
        client.reset(render_mode="rgb_array")
        client.step({"action": 1})
        assert np.array_equal(client.state()["frame"], np.full((4, 6, 3), 2))
        client.reset()
        assert np.array_equal(client.state()["frame"], np.full((4, 6, 3), 3))
        client.reset(render_mode="ansi")
        assert client.state()["frame"] == "3 left"


def test_frames_are_arrays_of_the_typed_state() -> None:
    with local(served(Countdown, render_mode="rgb_array")) as client:
        client.reset()
        frame = client.state().frame
        assert isinstance(frame, np.ndarray)
        assert (frame.dtype, frame.shape) == (np.uint8, (4, 6, 3))


def test_there_is_no_frame_before_the_first_episode() -> None:
    with local(served(Countdown, render_mode="ansi")) as client:
        assert client.state().frame is None


@pytest.mark.parametrize("mode", ["human", "rgb_array_list", "depth_array"])
def test_a_mode_that_is_not_for_afar_is_refused(countdown: Any, mode: str) -> None:
    with pytest.raises(InvalidRequest, match="it offers rgb_array, ansi"):
        countdown.reset(render_mode=mode)
    assert countdown.reset().observation.obs.tolist() == [3.0, 0.0]


# ── hosts ─────────────────────────────────────────────────────────────────────────────────────────


def limited(steps: int) -> gymnasium.Env[Any, Any]:
    return TimeLimit(Countdown(start=50), steps)


@pytest.mark.parametrize("host_kind", ["inline", "thread", "process", "sandbox"])
@pytest.mark.parametrize(
    ("environment", "size"),
    [
        (served("CartPole-v1", sutton_barto_reward=True), 4),
        (served(Countdown, start=7), 2),
        (served(partial(limited, 2)), 2),
    ],
    ids=["id", "class", "partial"],
)
def test_it_lives_in_every_host(environment: Any, size: int, host_kind: Any) -> None:
    with (
        serving(environment, host_kind=host_kind) as server,
        GenericEnvClient(f"http://127.0.0.1:{server.port}").sync() as client,
    ):
        assert len(client.reset(seed=1).observation["obs"]) == size
        assert client.step({"action": 0}).reward == 0.0
        assert client.state()["step_count"] == 1


def test_a_class_pickles_with_its_models() -> None:
    spec = EnvSpec.of(CARTPOLE)
    made, action, observation = pickle.loads(
        pickle.dumps((CARTPOLE, spec.action, spec.observation))
    )
    assert made.__name__ == "CartPole-v1"
    assert action.model_json_schema() == spec.action.model_json_schema()
    assert observation.model_json_schema() == spec.observation.model_json_schema()


class Lake(served("FrozenLake-v1", is_slippery=False)):  # type: ignore[misc]  # made at run time
    """A served environment that somebody subclassed, under a name of its own."""

    HOST = "inline"


def test_a_subclass_is_an_environment_of_its_own() -> None:
    assert issubclass(Lake, Environment)
    assert pickle.loads(pickle.dumps(Lake)) is Lake
    with (
        serving(Lake) as server,
        GenericEnvClient(f"http://127.0.0.1:{server.port}").sync() as client,
    ):
        client.reset()
        assert client.step({"action": 2}).observation["obs"] == 1


# ── what cannot be served ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("env_id", "advice"),
    [
        ("CartPol-v1", "Did you mean: `CartPole`"),
        ("CartPole-v9", r"provides versioned environments: \[ `v0`, `v1` \]"),
        ("no_such_module:CartPole-v1", "No module named 'no_such_module'"),
        ("Nowhere/Pong-v0", "Namespace Nowhere not found"),
        ("not an id", "Malformed environment ID"),
    ],
)
def test_an_unknown_id_is_answered_as_gymnasium_does(env_id: str, advice: str) -> None:
    with pytest.raises(ConfigurationError, match=f"(?s){env_id!r} cannot be made.*{advice}"):
        served(env_id)


def test_arguments_that_it_does_not_take_are_named() -> None:
    with pytest.raises(ConfigurationError, match="unexpected keyword argument 'gravity'"):
        served("CartPole-v1", gravity=3)
    with pytest.raises(ConfigurationError, match="unexpected keyword argument 'gravity'"):
        served(Countdown, gravity=3)


def test_what_makes_no_environment_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"takes the id .*, got 3"):
        served(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"makes a dict, not a gymnasium\.Env"):
        served(dict)  # type: ignore[arg-type]


# ── imports ───────────────────────────────────────────────────────────────────────────────────────


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=15, check=False)
    return done.stdout + done.stderr


def test_gymnasium_is_loaded_for_nothing_else() -> None:
    code = "import openenv, openenv.project.target, sys; print('gymnasium' in sys.modules)"
    assert run(code) == "False\n"


def test_without_gymnasium_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['gymnasium'] = None; import openenv.gym"
    assert "pip install 'openenv-core[gymnasium]'" in run(code)
