"""SkyRL's use of environments, on its own gym package: a text environment over a client.

python tests/integrations/real/skyrl/check.py, where skyrl-gym is installed; the images are
processes. As SkyRL's generator does it, environments are made on its event loop's thread, where
the container starts and the episode begins, and their steps and ends go to a pool of threads. Each
rollout has a server of its own.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from envs.coding_env import CodeAction, CodingEnv
from envs.echo_env import EchoAction, EchoEnv
from envs.echo_env.server.app import app
from envs.finrl_env import FinRLAction, FinRLEnv
from envs.openspiel_env import OpenSpielAction, OpenSpielEnv
from openenv import is_available
from openenv.integrations.skyrl import text_env
from openenv.testing import images_as_processes, serving

WORKERS = 32
TURNS = 10
ROLLOUTS = {"echo_env": 8, "coding_env": 2, "openspiel_env": 4, "finrl_env": 2}


def _spiel(text: str) -> OpenSpielAction:
    return OpenSpielAction(action_id=int(text), game_name="catch")


KINDS: dict[str, tuple[Any, Callable[[str], Any], str]] = {
    "echo_env": (EchoEnv, lambda text: EchoAction(message=text), "hello"),
    "coding_env": (CodingEnv, lambda text: CodeAction(code=text), "print(6 * 7)"),
    "openspiel_env": (OpenSpielEnv, _spiel, "1"),
    "finrl_env": (FinRLEnv, lambda text: FinRLAction(actions=[float(text)]), "0.5"),
}


class OpenEnvText(BaseTextEnv):  # type: ignore[misc]
    """An environment of an image, as text."""

    def __init__(self, env_config: Any = None, extras: Any = None) -> None:
        super().__init__()
        client_class, self._action, _ = KINDS[extras["env_name"]]
        self._env = client_class.from_docker_image(f"{extras['env_name']}:latest")
        self._first = self._env.reset()
        self.max_turns = TURNS

    def step(self, action: str) -> BaseTextEnvStepOutput:
        self.turns += 1
        found = re.search(r"<action>(.*?)</action>", action, re.DOTALL)
        assert found is not None, action
        result = self._env.step(self._action(found[1]))
        assert result.reward is not None, result
        seen = {"role": "user", "content": str(vars(result.observation))}
        return BaseTextEnvStepOutput(
            observations=[seen],
            reward=result.reward,
            done=result.done or self.turns >= self.max_turns,
            metadata={},
        )

    def close(self) -> None:
        self._env.close()


async def rollout(name: str, pool: ThreadPoolExecutor) -> float:
    """One episode, as the generator plays it."""
    loop = asyncio.get_running_loop()
    env = skyrl_gym.make("openenv", env_config={}, extras={"env_name": name})
    await loop.run_in_executor(pool, env.init, [{"role": "user", "content": "play"}])
    total, done, said = 0.0, False, f"<action>{KINDS[name][2]}</action>"
    while not done:
        told = await loop.run_in_executor(pool, env.step, said)
        assert told["observations"][0]["content"].startswith("{"), told
        total, done = total + told["reward"], told["done"]
    await loop.run_in_executor(pool, env.close)
    return round(total, 3)


async def bridged(pool: ThreadPoolExecutor) -> float:
    """One episode of our own text environment, at an address."""
    loop = asyncio.get_running_loop()
    extras = {"max_turns": 3, "reset": {"seed": 1}}
    env = skyrl_gym.make("echo", env_config={}, extras=extras)
    begun, _ = await loop.run_in_executor(pool, env.init, [{"role": "user", "content": "play"}])
    assert len(begun) == 2, begun
    total, done = 0.0, False
    while not done:
        told = await loop.run_in_executor(pool, env.step, "hello")
        total, done = total + told["reward"], told["done"]
    await loop.run_in_executor(pool, env.close)
    return round(total, 3)


async def main() -> None:
    """Plays all rollouts of all environments at once."""
    with ThreadPoolExecutor(WORKERS) as pool:
        for name, count in ROLLOUTS.items():
            rewards = await asyncio.gather(*(rollout(name, pool) for _ in range(count)))
            print(f"skyrl {version('skyrl-gym')} {name}: rewards {rewards}")
        rewards = await asyncio.gather(*(bridged(pool) for _ in range(WORKERS)))
        print(f"skyrl text_env, {WORKERS} rollouts: rewards {sorted(set(rewards))}")


if __name__ == "__main__":
    skyrl_gym.register("openenv", entry_point=OpenEnvText)
    with images_as_processes() as started, serving(app) as url:
        skyrl_gym.register("echo", entry_point=text_env(url, lambda text: {"message": text}))
        asyncio.run(main())
        assert app.state.openenv.active_sessions == 0
    left = [running.url for running in started if is_available(running.url, 1)]
    assert not left, left
    print(f"skyrl {len(started)} servers for {sum(ROLLOUTS.values())} rollouts, none left")
