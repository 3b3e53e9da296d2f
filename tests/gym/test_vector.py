"""VectorEnv: pools of sessions as Gymnasium's own vector environments, and when slots fail."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pydantic import Field

from blackjack_env import BlackJackEnv
from blackjack_env.server import BlackJackEnvironment
from openenv import (
    Action,
    ConfigurationError,
    EnvClient,
    Environment,
    EnvPool,
    GenericEnvClient,
    Observation,
    ResetRequired,
    State,
)
from openenv.gym import VectorEnv, served
from tests.gym.worlds import Countdown, Mirror, same
from tests.serving import serving

MODES = {
    "next_step": AutoresetMode.NEXT_STEP,
    "same_step": AutoresetMode.SAME_STEP,
    "disabled": AutoresetMode.DISABLED,
}
in_every_mode = pytest.mark.parametrize("autoreset", MODES)


@pytest.fixture(scope="module")
def countdown() -> Iterator[str]:
    with serving(served(Countdown, faulty=True)) as server:
        yield f"http://127.0.0.1:{server.port}"


def vector(url: str, size: int, autoreset: str = "next_step") -> VectorEnv:
    return VectorEnv(EnvPool(url, size, autoreset=autoreset))


# ── the like of Gymnasium's own ───────────────────────────────────────────────────────────────────


@in_every_mode
def test_it_plays_as_gymnasiums_own_vector_environment(autoreset: str) -> None:
    native = SyncVectorEnv(
        [lambda: gymnasium.make("CartPole-v1")] * 3, autoreset_mode=MODES[autoreset]
    )
    with serving(served("CartPole-v1")) as server:
        envs = vector(f"http://127.0.0.1:{server.port}", 3, autoreset)
        assert envs.metadata == {
            "render_modes": ["rgb_array"],
            "render_fps": 50,
            "autoreset_mode": MODES[autoreset],
        }
        for name in ("num_envs", "observation_space", "action_space"):
            assert getattr(envs, name) == getattr(native, name)
        assert envs.single_observation_space == native.single_observation_space
        assert same(envs.reset(seed=5), native.reset(seed=5))
        ends = 0
        for _ in range(30):
            actions = np.array([1, 0, 1])
            ours, theirs = envs.step(actions), native.step(actions)
            assert same(ours, theirs)
            over = ours[2] | ours[3]
            ends += int(over.sum())
            if autoreset == "disabled" and over.any():
                options = {"reset_mask": over}
                begun = [env.reset(seed=9, options=dict(options)) for env in (envs, native)]
                assert same(*begun)
        assert ends > 3
        envs.close()


@in_every_mode
def test_infos_are_those_of_each_environment_with_masks(countdown: str, autoreset: str) -> None:
    envs = vector(countdown, 2, autoreset)
    native = SyncVectorEnv([Countdown] * 2, autoreset_mode=MODES[autoreset])
    ours, theirs = (e.reset(seed=1, options={"start": 2})[1] for e in (envs, native))
    assert same(ours, theirs)
    _, _, terminated, _, infos = envs.step(np.array([1, 0]))
    assert infos["left"].tolist() == [1, 2]
    assert infos["_left"].tolist() == [True, True]
    assert infos["nested"]["deep"].tolist() == [[1, 2.5]] * 2
    assert not terminated.any()
    envs.close()


def test_the_end_of_an_episode_is_kept_in_same_step_mode(countdown: str) -> None:
    envs = vector(countdown, 2, "same_step")
    envs.reset(options={"start": 1})
    obs, rewards, terminated, _, infos = envs.step(np.array([1, 0]))
    assert obs.tolist() == [[1.0, 0.0], [1.0, 1.0]]
    assert rewards.tolist() == [1.0, 0.0]
    assert terminated.tolist() == [True, False]
    assert infos["final_obs"][0].tolist() == [0.0, 1.0]
    assert infos["final_obs"][1] is None
    assert infos["_final_obs"].tolist() == [True, False]
    assert infos["final_info"]["left"].tolist() == [0, 0]
    assert infos["final_info"]["_left"].tolist() == [True, False]
    envs.close()


def test_seeds_are_one_for_each_or_counted_up(countdown: str) -> None:
    envs = vector(countdown, 3)
    _, counted = envs.reset(seed=4)
    _, listed = envs.reset(seed=[4, 5, 6])
    assert counted["lucky"].tolist() == listed["lucky"].tolist()
    with pytest.raises(ConfigurationError, match="one for each of 3 environments, got 2"):
        envs.reset(seed=[4, 5])
    envs.close()


def test_a_mask_resets_some_and_the_others_stay(countdown: str) -> None:
    envs = vector(countdown, 3, "disabled")
    envs.reset()
    envs.step(np.array([1, 1, 0]))
    mask = np.array([False, True, False])
    options = {"reset_mask": mask, "start": 9}
    obs, infos = envs.reset(seed=[1, 2, 3], options=options)
    assert obs.tolist() == [[2.0, 1.0], [9.0, 0.0], [3.0, 1.0]]
    assert infos["_lucky"].tolist() == [False, True, False]
    assert options == {"reset_mask": mask, "start": 9}
    for wrong in (np.zeros(3, np.bool_), np.ones(2, np.bool_), [0, 1, 0]):
        with pytest.raises(ConfigurationError, match=r"bool array of shape \(3,\)"):
            envs.reset(options={"reset_mask": wrong})
    envs.close()


def test_with_autoreset_disabled_nothing_is_stepped_past_its_end(countdown: str) -> None:
    envs = vector(countdown, 2, "disabled")
    envs.reset(options={"start": 1})
    envs.step(np.array([1, 0]))
    with pytest.raises(ConfigurationError, match=r"environments \[0\] are over"):
        envs.step(np.array([0, 0]))
    envs.close()


def test_a_step_before_the_first_reset_is_refused(countdown: str) -> None:
    envs = vector(countdown, 2)
    with pytest.raises(ResetRequired):
        envs.step(np.array([0, 0]))
    envs.close()


@pytest.mark.parametrize(
    "space",
    [
        spaces.Dict({"at": spaces.Box(0.0, 1.0, (2,)), "holds": spaces.Discrete(3)}),
        spaces.Tuple([spaces.Discrete(3, start=1), spaces.MultiBinary(2)]),
        spaces.MultiDiscrete([3, 2]),
        spaces.Text(5),
        spaces.Sequence(spaces.Discrete(3)),
    ],
    ids=str,
)
def test_observations_and_actions_of_any_kind_are_batched(space: Any) -> None:
    with serving(served(partial(Mirror, space, space))) as server:
        envs = vector(f"http://127.0.0.1:{server.port}", 2)
        native = SyncVectorEnv([partial(Mirror, space, space)] * 2)
        assert envs.observation_space == native.observation_space
        assert same(envs.reset(seed=3)[0], native.reset(seed=3)[0])
        actions = envs.action_space.sample()
        ours, theirs = envs.step(actions), native.step(actions)
        assert same(ours[0], theirs[0])
        assert envs.observation_space.contains(ours[0])
        envs.close()


def test_blackjack_has_typed_clients_and_functions_of_the_users_own() -> None:
    box = spaces.Box(0.0, 32.0, (2,), np.float32)
    with serving(BlackJackEnvironment) as server:
        pool = EnvPool(f"http://127.0.0.1:{server.port}", 4, BlackJackEnv)
        envs = VectorEnv(
            pool, observation=(box, lambda seen: np.array([seen.player_sum, seen.usable_ace]))
        )
        obs, infos = envs.reset(seed=1)
        assert obs.shape == (4, 2)
        assert obs.dtype == np.float32
        assert infos["seed"].tolist() == [1, 2, 3, 4]
        _, rewards, terminated, _, _ = envs.step(np.ones(4, np.int64))
        assert terminated.all()
        assert set(rewards.tolist()) <= {-1.0, 0.0, 1.0}
        envs.close()


# ── slots that fail ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("fault", "why"),
    [(2, "EnvironmentFailed: .*the wire broke"), (3, "HostCrashed: .*")],
    ids=["raises", "dies"],
)
@in_every_mode
def test_a_fault_truncates_its_own_episode_alone(autoreset: str, fault: int, why: str) -> None:
    with serving(served(Countdown, faulty=True), host_kind="process") as server:
        envs = vector(f"http://127.0.0.1:{server.port}", 2, autoreset)
        envs.reset(options={"start": 9})
        kind = why.partition(":")[0]
        with pytest.warns(RuntimeWarning, match=f"environment 1 failed.*{kind}"):
            obs, rewards, terminated, truncated, infos = envs.step(np.array([1, fault]))
        assert rewards.tolist() == [1.0, 0.0]
        assert terminated.tolist() == [False, False]
        assert truncated.tolist() == [False, True]
        assert infos["_fault"].tolist() == [False, True]
        assert re.match(why, infos["fault"][1])
        assert obs[0].tolist() == [8.0, 1.0]
        begun = [9.0, 0.0]
        if autoreset == "same_step":
            assert infos["final_obs"][1].tolist() == [0.0, 0.0]
            assert obs[1].tolist() == begun
        else:
            assert obs[1].tolist() == [0.0, 0.0]
        if autoreset == "disabled":
            obs, _ = envs.reset(options={"reset_mask": truncated, "start": 9})
            assert obs[1].tolist() == begun
        obs, rewards, terminated, truncated, infos = envs.step(np.array([1, 1]))
        assert obs[0].tolist() == [7.0, 2.0]
        assert obs[1].tolist() == (begun if autoreset == "next_step" else [8.0, 1.0])
        assert rewards.tolist() == [1.0, 0.0 if autoreset == "next_step" else 1.0]
        assert not (terminated | truncated).any()
        assert "fault" not in infos
        envs.close()


def test_each_kind_of_fault_is_warned_of_once(countdown: str) -> None:
    envs = vector(countdown, 3, "same_step")
    envs.reset()
    with pytest.warns(RuntimeWarning, match="EnvironmentFailed.*the wire broke") as told:
        envs.step(np.array([2, 0, 2]))
    assert len(told) == 1
    assert told[0].filename == __file__
    infos = envs.step(np.array([2, 2, 2]))[4]
    assert infos["_fault"].all()
    envs.close()


# ── mistakes ──────────────────────────────────────────────────────────────────────────────────────


class Aim(Action):
    """An angle, and one of three arrows."""

    angle: float = Field(ge=0, le=90)
    arrow: int = Field(ge=0, le=2)


class Shot(Observation):
    """Where it went."""

    at: float = Field(default=0.0, ge=0, le=90)


class Archery(Environment[Aim, Shot]):
    """Hits what was aimed at."""

    def reset(self) -> Shot:
        return Shot()

    def step(self, action: Aim) -> Shot:
        return Shot(at=action.angle, reward=1.0)


class ArcheryClient(EnvClient[Aim, Shot, State]):
    """A client with models."""


@pytest.mark.parametrize("actions", [[0], [0, 0, 0], np.zeros(1, np.int64)], ids=str)
def test_actions_are_as_many_as_there_are_slots(countdown: str, actions: Any) -> None:
    envs = vector(countdown, 2)
    envs.reset()
    got = len(actions)
    with pytest.raises(
        ConfigurationError, match=f"^actions must be one for each of 2 slots, got {got}$"
    ):
        envs.step(actions)
    with pytest.raises(ConfigurationError, match="one for each of 2 slots.*got 1:"):
        envs.step(1)
    assert envs.step([0, 0])[0].tolist() == [[3.0, 1.0]] * 2, "none was sent"
    envs.close()


@pytest.mark.parametrize("client", [ArcheryClient, GenericEnvClient])
def test_actions_are_checked_before_any_is_sent_whatever_the_client(client: Any) -> None:
    with serving(Archery) as server:
        envs = VectorEnv(EnvPool(f"http://127.0.0.1:{server.port}", 2, client))
        envs.reset()
        angles = np.array([[10.0], [20.0]])
        for wrong, why in (
            ({"angle": angles, "arrow": np.array([0, 7])}, "slot 1: the action .*7.* is not in"),
            ({"angle": angles * 5, "arrow": np.array([0, 1])}, "slot 1: the action .*100.* is not"),
            ({"angle": angles, "arrow": np.array([0])}, "one for each of 2 slots, got 1"),
            ({"angle": angles}, "(?s)as action_space.sample.*'arrow'"),
        ):
            with pytest.raises(ConfigurationError, match=why):
                envs.step(wrong)
        obs, rewards, *_ = envs.step({"angle": angles, "arrow": np.array([0, 2])})
        assert obs.tolist() == angles.tolist()
        assert rewards.tolist() == [1.0, 1.0]
        envs.close()


def test_actions_of_a_served_space_are_checked_too(countdown: str) -> None:
    envs = vector(countdown, 2)
    envs.reset()
    with pytest.raises(ConfigurationError, match=r"slot 1: the action .*7.* not in Discrete\(4\)"):
        envs.step(np.array([0, 7]))
    envs.close()


def test_a_box_of_a_served_space_is_the_environments_to_clip() -> None:
    box = spaces.Box(-1.0, 1.0, (1,), np.float32)
    with serving(served(partial(Mirror, box, box))) as server:
        envs = vector(f"http://127.0.0.1:{server.port}", 2)
        envs.reset(seed=1)
        _, _, _, truncated, infos = envs.step(np.full((2, 1), 3.0))
        assert not truncated.any()
        assert "fault" not in infos
        envs.close()


def test_what_is_no_pool_is_refused() -> None:
    wrong: Any = "http://localhost:8000"
    why = r"VectorEnv takes an EnvPool, got a str: VectorEnv\(EnvPool\(url, 8\)\)"
    with pytest.raises(ConfigurationError, match=why):
        VectorEnv(wrong)


def test_a_server_that_asks_for_a_token_is_described_by_the_pools_headers() -> None:
    with serving(served("CartPole-v1"), token="word") as server:
        headers = {"Authorization": "Bearer word"}
        pool = EnvPool(f"http://127.0.0.1:{server.port}", 2, headers=headers)
        envs = VectorEnv(pool)
        observations, _ = envs.reset(seed=0)
        envs.close()
        assert observations.shape == (2, 4)
