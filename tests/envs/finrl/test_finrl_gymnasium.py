"""A FinRL server as an environment of Gymnasium, and many of its sessions as a vector."""

from collections.abc import Iterator

import pytest

pytest.importorskip("numpy", reason="pip install -e 'envs/finrl_env[dev]'")
pytest.importorskip("gymnasium", reason="pip install -e 'envs/finrl_env[dev]'")

import numpy as np
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from finrl_env import FinRLAction, FinRLEnv
from finrl_env.boxes import boxes
from finrl_env.models import FinRLConfig
from finrl_env.options import FinRLOptions
from finrl_env.orders import config_of
from finrl_env.server import FinRLEnvironment
from openenv import EnvPool, create_app
from openenv.gym import GymEnv, VectorEnv
from openenv.testing import serving

OPTIONS = FinRLOptions(market="synthetic", stock_dim=3, days=8)


class Market(FinRLEnvironment):
    """Three stocks for a week."""

    def __init__(self) -> None:
        super().__init__(OPTIONS)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(create_app(Market)) as url:
        yield url


@pytest.fixture
def config() -> FinRLConfig:
    return config_of(OPTIONS)


@pytest.mark.filterwarnings("ignore:.*A Box observation space .* value is -?infinity")
def test_it_is_an_environment_of_gymnasium_s(url: str, config: FinRLConfig) -> None:
    env = GymEnv(url, FinRLEnv, **boxes(config))
    try:
        check_env(env, skip_render_check=True)
        assert env.observation_space == spaces.Box(-np.inf, np.inf, (19,), np.float64)
        assert env.action_space == spaces.Box(-1, 1, (3,), np.float32)
    finally:
        env.close()


def test_its_numbers_are_those_of_the_client(url: str, config: FinRLConfig) -> None:
    env = GymEnv(url, FinRLEnv, **boxes(config))
    with FinRLEnv(base_url=url).sync() as trader:
        obs, info = env.reset(seed=5)
        assert obs.tolist() == trader.reset(seed=5).observation.state
        assert info["seed"] == 5
        ended = False
        while not ended:
            obs, reward, ended, truncated, info = env.step(np.array([0.5, 0.25, -1], np.float32))
            result = trader.step(FinRLAction(actions=[0.5, 0.25, -1.0]))
            assert obs.tolist() == result.observation.state
            assert (reward, ended, truncated) == (result.reward, result.done, False)
    assert info["metrics"]["trades"] > 0
    env.close()


def test_many_of_them_are_a_vector(url: str, config: FinRLConfig) -> None:
    envs = VectorEnv(EnvPool(url, 3, autoreset="same_step"), **boxes(config))
    try:
        obs, _ = envs.reset(seed=1)
        assert obs.shape == (3, 19)
        for _ in range(8):
            obs, rewards, ended, truncated, infos = envs.step(envs.action_space.sample())
        assert ended.tolist() == [True] * 3
        assert not truncated.any()
        assert [each.shape for each in infos["final_obs"]] == [(19,)] * 3
        assert (obs[:, 0] == 100_000).all()
    finally:
        envs.close()
