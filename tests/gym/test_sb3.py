"""Stable-Baselines3 trains on a pool of sessions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from openenv import ConfigurationError, EnvPool
from openenv.gym import VectorEnv, served
from tests.gym.worlds import Countdown
from tests.serving import serving

sb3: Any = pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")


@pytest.fixture
def countdown() -> Iterator[str]:
    with serving(served(Countdown, faulty=True)) as server:
        yield f"http://127.0.0.1:{server.port}"


def vec_env(url: str, size: int) -> Any:
    from openenv.gym.sb3 import SB3VecEnv

    return SB3VecEnv(VectorEnv(EnvPool(url, size, autoreset="same_step")))


@pytest.mark.timeout(300)
def test_ppo_learns_cartpole() -> None:
    pytest.importorskip("torch").set_num_threads(1)  # its threads would spin against the server's
    with serving(served("CartPole-v1")) as server:
        envs = sb3.common.vec_env.VecMonitor(vec_env(f"http://127.0.0.1:{server.port}", 8))
        model = sb3.PPO("MlpPolicy", envs, n_steps=64, seed=1, device="cpu")
        model.learn(8000)
        returns = [episode["r"] for episode in model.ep_info_buffer]
        assert np.mean(returns) > 60, "a policy that has learned nothing gets about 20"
        envs.close()


def test_ends_and_infos_are_as_its_algorithms_expect_them(countdown: str) -> None:
    envs = vec_env(countdown, 3)
    envs.seed(1)
    envs.set_options({"start": 1})
    obs = envs.reset()
    assert obs.tolist() == [[1.0, 0.0]] * 3
    assert [info["options"] for info in envs.reset_infos] == [{"start": 1}] * 3
    with pytest.warns(RuntimeWarning, match="environment 2 failed"):
        obs, rewards, dones, infos = envs.step(np.array([1, 0, 2]))
    assert obs.tolist() == [[1.0, 0.0], [1.0, 1.0], [1.0, 0.0]]
    assert rewards.dtype == np.float32
    assert rewards.tolist() == [1.0, 0.0, 0.0]
    assert dones.tolist() == [True, False, True]
    assert infos[0]["terminal_observation"].tolist() == [0.0, 1.0]
    assert [info["TimeLimit.truncated"] for info in infos] == [False, False, True]
    assert "terminal_observation" not in infos[1]
    assert infos[1]["left"] == 1
    assert infos[2]["terminal_observation"].tolist() == [0.0, 0.0]
    assert "the wire broke" in infos[2]["fault"]
    envs.close()


def test_a_pool_that_resets_otherwise_is_refused(countdown: str) -> None:
    from openenv.gym.sb3 import SB3VecEnv

    with pytest.raises(ConfigurationError, match="autoreset='same_step'"):
        SB3VecEnv(VectorEnv(EnvPool(countdown, 2)))


def test_what_would_reach_into_the_environments_is_refused(countdown: str) -> None:
    envs = vec_env(countdown, 2)
    assert envs.get_attr("render_mode") == [None, None]
    assert envs.env_is_wrapped(object, indices=[1]) == [False]
    with pytest.raises(ConfigurationError, match="elsewhere"):
        envs.set_attr("gravity", 3)
    with pytest.raises(ConfigurationError, match="elsewhere"):
        envs.env_method("kick")
    envs.close()
