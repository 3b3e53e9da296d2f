"""Clients of containers that are started for them: as trainers use them, and as they end."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from echo_env import EchoAction, EchoEnv
from openenv import SessionLost
from openenv.catalog.auto import AutoEnv
from openenv.protocol.errors import NotReady, ProviderError
from openenv.providers import LocalDockerProvider
from openenv.providers.engine import Engine
from tests.containers.conftest import containers
from tests.serving import eventually

pytestmark = [pytest.mark.timeout(240), pytest.mark.usefixtures("nothing_left")]
START_S = 90.0


def starting(image: str, **options: Any) -> Any:
    return EchoEnv.from_docker_image(image, **{"ready_timeout_s": START_S, **options})


def test_a_plain_script_uses_it_directly(engine: Engine, echo_image: str) -> None:
    client = starting(echo_image)
    assert containers(engine) == []
    client.reset()
    result = client.step(EchoAction(message="hi"))
    assert (result.observation.echoed_message, result.done) == ("hi", False)
    assert client.base_url.startswith("http://127.0.0.1:")
    assert len(containers(engine)) == 1
    client.close()
    assert containers(engine) == []
    client.close()


def test_a_trainer_makes_one_for_each_rollout_on_its_loop(engine: Engine, echo_image: str) -> None:
    class EnvOfATrainer:
        """Made on the loop's thread, stepped and closed in a pool's."""

        def __init__(self) -> None:
            self.env = starting(echo_image)
            self.env.reset()

        def step(self, text: str) -> dict[str, Any]:
            result = self.env.step(EchoAction(message=text))
            return {"observation": vars(result.observation), "reward": result.reward}

        def close(self) -> None:
            self.env.close()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(4) as pool:
            for rollout in range(2):
                env = EnvOfATrainer()
                said = await loop.run_in_executor(pool, env.step, f"rollout {rollout}")
                assert said["observation"]["echoed_message"] == f"rollout {rollout}"
                await loop.run_in_executor(pool, env.close)

    asyncio.run(main())
    assert containers(engine) == []


def test_a_trainer_keeps_a_pool_and_calls_it_in_threads(engine: Engine, echo_image: str) -> None:
    async def rollout(client: Any, text: str) -> float:
        await asyncio.to_thread(client.reset)
        result = await asyncio.to_thread(client.step, EchoAction(message=text))
        return float(result.reward)

    async def main() -> None:
        clients = [starting(echo_image) for _ in range(4)]
        for _ in range(2):
            rewards = await asyncio.gather(*(rollout(c, "ab") for c in clients))
            assert len(set(rewards)) == 1
        for client in clients:
            await asyncio.to_thread(client.close)

    asyncio.run(main())
    assert containers(engine) == []


def test_it_is_awaited_or_blocks_and_a_named_environment_is_the_same(
    engine: Engine, echo_image: str
) -> None:
    async def main() -> None:
        async with starting(echo_image) as client:
            await client.reset()
            assert (await client.step(EchoAction(message="hi"))).observation.echoed_message == "hi"

    asyncio.run(main())
    assert containers(engine) == []
    handle = AutoEnv.from_env("echo", docker_image=echo_image, wait_timeout=START_S)
    client = handle.sync()
    assert isinstance(client.async_client, EchoEnv)
    client.reset()
    assert client.step(EchoAction(message="ho")).observation.echoed_message == "ho"
    client.close()


def test_what_is_started_is_told_apart_from_what_uses_it(engine: Engine, echo_image: str) -> None:
    options = {"memory": "300m", "env_vars": {"MAX_CONCURRENT_ENVS": "1"}, "wait_s": 0.0}
    with starting(echo_image, **options) as client:
        client.reset()
        (container,) = containers(engine)
        limits = (engine.inspect("container", container) or {})["HostConfig"]
        assert limits["Memory"] == 300 << 20
        with pytest.raises(RuntimeError, match="CAPACITY_REACHED"):
            EchoEnv(base_url=client.base_url).reset()


# ── what goes wrong ───────────────────────────────────────────────────────────────────────────────


def _blocking(handle: Any) -> None:
    handle.sync()


def _awaiting(handle: Any) -> None:
    asyncio.run(handle)


@pytest.mark.parametrize("start", [_blocking, _awaiting])
def test_a_start_that_fails_says_why_and_leaves_nothing(
    engine: Engine, faulty_image: str, start: Callable[[Any], None]
) -> None:
    with pytest.raises(ProviderError, match="openenv-test-of-nothing"):
        start(starting("openenv-test-of-nothing:latest"))
    with pytest.raises(ProviderError, match="the level file is missing"):
        start(starting(faulty_image, env_vars={"FAULT": "exit"}))
    with pytest.raises(NotReady, match="the fault is sleep"):
        start(starting(faulty_image, env_vars={"FAULT": "sleep:600"}, ready_timeout_s=3.0))
    assert containers(engine) == []


def test_a_server_that_serves_no_episodes_is_stopped(engine: Engine, faulty_image: str) -> None:
    with pytest.raises(OSError, match="Failed to connect"):
        starting(faulty_image).sync()
    assert containers(engine) == []


@pytest.mark.parametrize("delay_s", [0.1, 1.0])
def test_cancelled_at_any_moment_it_leaves_nothing(
    engine: Engine, faulty_image: str, delay_s: float
) -> None:
    async def main() -> None:
        handle = starting(faulty_image, env_vars={"FAULT": "sleep:600"}, ready_timeout_s=3.0)
        begun = asyncio.ensure_future(handle)
        await asyncio.sleep(delay_s)
        begun.cancel()
        with pytest.raises(asyncio.CancelledError):
            await begun

    asyncio.run(main())
    eventually(lambda: not _runs("openenv-provider") and containers(engine) == [], START_S)


def _runs(name: str) -> bool:
    return any(thread.name == name for thread in threading.enumerate())


@pytest.mark.parametrize("protocol", ["v1", None])
def test_a_killed_container_tells_its_last_words_and_is_replaced(
    engine: Engine, echo_image: str, protocol: str | None
) -> None:
    client = starting(echo_image, **({"protocol": protocol} if protocol else {}))
    client.reset()
    (first,) = containers(engine)
    engine.call("kill", first)
    with pytest.raises(SessionLost, match="The end of its log"):
        client.step(EchoAction(message="hi"))
    with pytest.raises(SessionLost):
        client.step(EchoAction(message="hi"))
    client.reset()
    assert client.step(EchoAction(message="ho")).observation.echoed_message == "ho"
    assert containers(engine) != [first]
    client.close()


def test_a_removed_container_is_replaced(engine: Engine, echo_image: str) -> None:
    with starting(echo_image) as client:
        client.reset()
        engine.call("rm", "--force", *containers(engine))
        client.reset()
        assert client.step(EchoAction(message="ho")).observation.echoed_message == "ho"


def test_a_client_that_is_dropped_stops_its_container(engine: Engine, echo_image: str) -> None:
    starting(echo_image).reset()
    gc.collect()
    eventually(lambda: containers(engine) == [], START_S)


SCRIPT = """
import sys, time
from echo_env import EchoAction, EchoEnv

env = EchoEnv.from_docker_image(sys.argv[1], ready_timeout_s=90)
print("starting", flush=True)
env.reset()
print("playing", flush=True)
env.step(EchoAction(message="hi"))
time.sleep(float(sys.argv[2]))
"""
AWAITING = """
import asyncio, sys
from echo_env import EchoEnv

async def main():
    fault = {"FAULT": "sleep:600"} if sys.argv[2] == "0" else {}
    begun = EchoEnv.from_docker_image(sys.argv[1], ready_timeout_s=90, env_vars=fault)
    print("starting", flush=True)
    env = await begun
    await env.reset()
    print("playing", flush=True)
    await asyncio.sleep(float(sys.argv[2]))

asyncio.run(main())
"""


def _trainer(image: str, sleep_s: float, script: str = SCRIPT) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, image, str(sleep_s)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def test_a_program_that_ends_without_closing_leaves_nothing(
    engine: Engine, echo_image: str
) -> None:
    with _trainer(echo_image, 0) as trainer:
        out, _ = trainer.communicate(timeout=START_S)
    assert (trainer.returncode, out) == (0, "starting\nplaying\n")
    assert containers(engine) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_a_program_that_awaits_stops_its_container(
    engine: Engine, echo_image: str, number: int
) -> None:
    with _trainer(echo_image, 600, AWAITING) as trainer:
        assert trainer.stdout is not None
        assert trainer.stdout.readline() == "starting\n"
        assert trainer.stdout.readline() == "playing\n"
        trainer.send_signal(number)
        trainer.communicate(timeout=START_S)
    assert containers(engine) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_in_the_middle_of_an_awaited_start_leaves_nothing(
    engine: Engine, faulty_image: str, number: int
) -> None:
    with _trainer(faulty_image, 0, AWAITING) as trainer:
        eventually(lambda: containers(engine), START_S)
        trainer.send_signal(number)
        trainer.communicate(timeout=START_S)
    assert containers(engine) == []


@pytest.mark.parametrize("delay_s", [0.0, 0.5, None])
def test_what_a_killed_program_left_goes_with_the_next_start(
    engine: Engine, echo_image: str, delay_s: float | None
) -> None:
    with _trainer(echo_image, 600) as trainer:
        assert trainer.stdout is not None
        assert trainer.stdout.readline() == "starting\n"
        if delay_s is None:
            assert trainer.stdout.readline() == "playing\n"
        else:
            time.sleep(delay_s)
        os.killpg(trainer.pid, signal.SIGKILL)
    with starting(echo_image) as client:
        client.reset()
    reaped: list[str] = []

    def nothing() -> bool:  # the killed program's last word to the engine may still be under way
        reaped.extend(LocalDockerProvider(engine="docker").reap())
        return containers(engine) == []

    eventually(nothing, START_S)
