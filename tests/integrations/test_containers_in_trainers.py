"""SkyRL and ART: `from_docker_image` used as a client, on an event loop and in threads."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from echo_env import EchoAction, EchoEnv
from openenv import is_available, providers
from openenv.providers import LocalDockerProvider
from openenv.testing import images_as_processes

pytestmark = pytest.mark.timeout(180)


class Text:
    """SkyRL's shape: the container starts and the episode begins where it is made."""

    def __init__(self) -> None:
        self.env: Any = EchoEnv.from_docker_image("echo_env:latest")
        self.first = self.env.reset()

    def step(self, text: str) -> tuple[dict[str, Any], float, bool]:
        result = self.env.step(EchoAction(message=text))
        return vars(result.observation), result.reward, result.done

    def close(self) -> None:
        self.env.close()


def test_skyrl_makes_them_on_its_loop_and_plays_them_in_32_threads() -> None:
    async def rollout(pool: ThreadPoolExecutor) -> float:
        env, total = Text(), 0.0
        assert env.first.observation.echoed_message
        loop = asyncio.get_running_loop()
        for text in ("a", "bb", "ccc"):
            seen, reward, done = await loop.run_in_executor(pool, env.step, text)
            assert (seen["echoed_message"], done) == (text, False)
            total += reward
        await loop.run_in_executor(pool, env.close)
        return round(total, 6)

    async def main() -> list[float]:
        with ThreadPoolExecutor(32) as pool:
            return await asyncio.gather(*(rollout(pool) for _ in range(2)))

    with images_as_processes() as started:
        assert asyncio.run(main()) == [0.6, 0.6]
        assert len(started) == 2
        assert not any(is_available(running.url, 1) for running in started)
    assert providers.LocalDockerProvider is LocalDockerProvider


def test_art_keeps_a_pool_whose_calls_go_to_any_thread() -> None:
    async def rollout(client: Any, text: str) -> float:
        await asyncio.to_thread(client.reset)
        result = await asyncio.to_thread(client.step, EchoAction(message=text))
        return float(result.reward)

    async def main() -> None:
        pool = [EchoEnv.from_docker_image("someone/echo-env:latest") for _ in range(2)]
        for _ in range(3):
            plays = map(rollout, pool, ("ab", "abc"))
            assert await asyncio.gather(*plays) == pytest.approx([0.2, 0.3])
        await asyncio.gather(*(asyncio.to_thread(client.close) for client in pool))

    with images_as_processes() as started:
        asyncio.run(main())
        assert len(started) == 2
        assert not any(is_available(running.url, 1) for running in started)
