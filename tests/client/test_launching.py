"""Clients that start their own server: every way to use one, and that nothing is left of any."""

import asyncio
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from openenv import EnvClient, SessionLost
from openenv.protocol.errors import (
    ConcurrentCall,
    ConfigurationError,
    ConnectFailed,
    ModeError,
    NotReady,
    ProviderError,
)
from openenv.providers import ProcessProvider, cleanup
from openenv.testing import Add
from tests.client.starting import START_S, Place, WorldClient
from tests.client.ways import Ask, talking
from tests.serving import eventually

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def place(tmp_path: Path) -> Any:
    """The world; the test must leave no server of it behind."""
    place = Place(tmp_path)
    yield place
    try:
        place.await_none()
    finally:
        cleanup.stop_all()


async def playing(client: Any, ask: Ask) -> None:
    assert (await ask(client.reset(seed=3))).observation.count == 3
    assert (await ask(client.step(Add(amount=4)))).observation.count == 7
    assert (await ask(client.state())).amounts == [4]


def play(client: Any) -> None:
    assert client.reset(seed=3).observation.count == 3
    assert client.step(Add(amount=4)).observation.count == 7
    assert client.state().amounts == [4]


# ── the ways to use one ───────────────────────────────────────────────────────────────────────────


def test_awaited_it_is_a_client_that_awaits(place: Place) -> None:
    async def main() -> None:
        client = await place.starting()
        assert client.base_url.startswith("http://127.0.0.1:")
        await playing(client, _awaited)
        await client.close()
        assert client.base_url is None
        async with place.starting() as client:
            await playing(client, _awaited)

    asyncio.run(main())


async def _awaited(call: Any) -> Any:
    return await call


def test_blocking_it_is_a_client_that_blocks(place: Place) -> None:
    client = place.starting().sync()
    play(client)
    client.close()
    client.close()
    with place.starting() as client:
        assert len(place.servers()) == 2  # it, and its keeper
        play(client)
    assert place.servers() == []


def test_used_directly_it_is_a_client_that_blocks(place: Place) -> None:
    client = place.starting()
    play(client)
    assert client.base_url.startswith("http://127.0.0.1:")
    assert client.protocol == "v2+msgpack"
    client.close()
    assert place.servers() == []
    client.close()


def test_within_a_block_it_is_its_client_too(place: Place) -> None:
    handle = place.starting()
    with handle as client:
        play(handle)
        assert handle.base_url == client.base_url

    async def main() -> None:
        handle = place.starting()
        async with handle:
            await playing(handle, _awaited)

    asyncio.run(main())
    assert place.servers() == []


def test_the_address_can_be_had_first(place: Place) -> None:
    client = place.starting()
    assert client.base_url.startswith("http://127.0.0.1:")
    play(client)
    client.close()


@pytest.mark.parametrize("colour", ["blocking", "awaiting"])
def test_asyncio_run_gives_a_client_for_whatever_comes_after_it(place: Place, colour: str) -> None:
    client: Any = asyncio.run(place.starting())
    talking(colour, playing, client)


def test_a_trainer_starts_it_on_its_loop_and_plays_in_a_thread_pool(place: Place) -> None:
    async def main() -> None:
        env = place.starting()
        assert env.reset(seed=1).observation.count == 1  # in a constructor, on the loop's thread
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(4) as pool:
            for amount in range(5):  # each call in whatever thread is free
                result = await loop.run_in_executor(pool, env.step, Add(amount=amount))
                assert vars(result.observation)["ordinal"] == amount + 1
            await loop.run_in_executor(pool, env.close)

    asyncio.run(main())


def test_a_trainer_keeps_some_and_calls_their_methods_in_threads(place: Place) -> None:
    async def rollout(client: Any) -> float:
        await asyncio.to_thread(client.reset)
        result = await asyncio.to_thread(client.step, Add(amount=2))
        return float(result.reward)

    async def main() -> None:
        clients = [place.starting() for _ in range(2)]
        for _ in range(2):
            assert await asyncio.gather(*map(rollout, clients)) == [2.0, 2.0]
        for client in clients:
            await asyncio.to_thread(client.close)

    asyncio.run(main())


def test_two_threads_that_use_it_first_at_once_share_one_server(place: Place) -> None:
    client = place.starting()
    with ThreadPoolExecutor(2) as pool:
        urls = list(pool.map(lambda _: client.base_url, range(2)))
    assert urls[0] == urls[1]
    client.close()


TAKEN: list[Callable[[Any], Any]] = [
    lambda handle: handle.sync(),
    lambda handle: handle.__enter__(),
    asyncio.run,
]


@pytest.mark.parametrize("first", TAKEN[::2])
def test_it_gives_its_client_once(place: Place, first: Callable[[Any], Any]) -> None:
    handle = place.starting()
    client = first(handle)
    for again in (*TAKEN, _started_directly):
        with pytest.raises(RuntimeError, match=r"given its WorldClient already|already awaited"):
            again(handle)
    client.close()


def test_used_directly_it_gives_no_other_client(place: Place) -> None:
    handle = place.starting()
    handle.reset()
    for again in TAKEN:
        with pytest.raises(ModeError, match="since its first call"):
            again(handle)
    handle.close()


def test_never_used_it_starts_nothing_and_warns_of_nothing(place: Place) -> None:
    before = threading.active_count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        handle = place.starting()
        assert "WorldClient" in repr(handle)
        assert not hasattr(handle, "shape")
        assert callable(handle.reset)
        handle.close()
        del handle
        gc.collect()
    assert (place.servers(), threading.active_count()) == ([], before)


# ── a provider and no address ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("colour", ["blocking", "awaiting"])
def test_a_client_with_a_provider_starts_at_its_first_call(place: Place, colour: str) -> None:
    old = place.provider()
    client = WorldClient(provider=old)
    assert (client.base_url, old.asked) == (None, [])
    talking(colour, playing, client)
    assert (client.base_url, len(old.asked)) == (None, 1)


def test_a_client_stops_what_its_provider_has_started(place: Place) -> None:
    old = place.provider()
    url = old.start_container("image")
    with WorldClient(base_url=url, provider=old) as client:
        play(client)
    assert (old.stops, place.servers()) == (1, [])
    with pytest.raises(ConfigurationError, match="cannot stop what answers"):
        WorldClient(base_url=url, provider=ProcessProvider())


def test_a_provider_that_cannot_stop_hides_no_other_error() -> None:
    class Clumsy:
        def start_container(self, image: str) -> str:
            raise AssertionError("it was started before")

        def stop_container(self) -> None:
            raise OSError("the door is stuck")

    with pytest.raises(ConnectFailed):
        WorldClient("http://127.0.0.1:9", provider=Clumsy(), connect_retries=0).sync().connect()
    with pytest.raises(ProviderError, match="the door is stuck"):
        WorldClient("http://127.0.0.1:9", provider=Clumsy()).sync().close()


def test_disconnect_leaves_the_server_running(place: Place) -> None:
    client: Any = place.starting().sync().async_client
    client.reset()
    url = client.base_url
    client.disconnect()
    assert client.base_url == url
    with pytest.raises(SessionLost):
        client.step(Add(amount=1))
    play(client)
    assert client.base_url == url
    client.close()
    play(client)  # reset() begins again, with another server
    client.close()


def test_options_go_where_they_belong(place: Place) -> None:
    old = place.provider()
    handle = WorldClient.from_docker_image(
        "echo:1", old, port=7, env_vars={"GREETING": "ahoy"}, replicas=2, message_timeout_s=7.0
    )
    client: Any = handle.sync().async_client
    assert old.asked == [("echo:1", {"port": 7, "env_vars": {"GREETING": "ahoy"}, "replicas": 2})]
    assert client._message_timeout == 7.0
    client.close()
    with pytest.raises(ProviderError, match="ProcessProvider has no option replicas"):
        place.starting(replicas=2).sync()
    with pytest.raises(ConfigurationError, match="a provider is a Provider"):
        WorldClient.from_docker_image("echo:1", provider=object())


def test_a_clients_own_arguments_are_the_clients(place: Place) -> None:
    class Flavoured(WorldClient):
        def __init__(self, base_url: str, flavour: str = "plain", **options: Any) -> None:
            super().__init__(base_url, **options)
            self.flavour = flavour

    old = place.provider()
    with Flavoured.from_docker_image("echo:1", old, flavour="sweet") as client:
        assert client.flavour == "sweet"
        play(client)
    assert old.asked == [("echo:1", {"port": None, "env_vars": None})]


def test_spaces_have_images_and_repositories(place: Place) -> None:
    old = place.provider()
    with WorldClient.from_env("OpenEnv/Echo_Env", provider=old, tag="v1") as client:
        play(client)
    assert old.asked[0][0] == "registry.hf.space/openenv-echo-env:v1"
    for bad in ("echo", "a/b/c", "a/b@", "../b"):
        with pytest.raises(ConfigurationError, match="owner/name"):
            WorldClient.from_env(bad)
    with pytest.raises(ConfigurationError, match="pass tag="):
        WorldClient.from_env("a/b@main")
    with pytest.raises(ValueError, match="app would make a provider"):
        WorldClient.from_env("a/b", use_docker=False, provider=old, app="x:y")


# ── what goes wrong ───────────────────────────────────────────────────────────────────────────────


def _started_blocking(handle: Any) -> None:
    handle.sync()


def _started_awaiting(handle: Any) -> None:
    asyncio.run(handle)


def _started_directly(handle: Any) -> None:
    handle.reset()


@pytest.mark.parametrize("start", [_started_blocking, _started_awaiting])
def test_a_start_that_fails_says_why_and_leaves_nothing(
    place: Place, start: Callable[[Any], None]
) -> None:
    with pytest.raises(ProviderError, match="the world has no floor"):
        start(place.starting(env_vars={"BROKEN": "1"}))
    assert place.servers() == []
    with pytest.raises(NotReady):
        start(place.starting(env_vars={"SLOW": "60"}, ready_timeout_s=2.0))
    assert place.servers() == []


def test_a_start_is_off_the_event_loop_and_its_cancellation_undoes_it(place: Place) -> None:
    async def main() -> None:
        starting = asyncio.ensure_future(place.starting(env_vars={"SLOW": "3"}))
        while not place.servers():  # a loop that is held up would not get here
            await asyncio.sleep(0.01)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(place.starting(env_vars={"SLOW": "3"}), 0.5)

    asyncio.run(main())
    place.await_none()


def test_an_interrupt_during_a_start_undoes_it(place: Place) -> None:
    class Alarm(Exception):
        pass

    def ring(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        with pytest.raises(Alarm):
            place.starting(env_vars={"SLOW": "60"}).sync()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert place.servers() == []


def test_a_client_that_cannot_be_made_leaves_no_server(place: Place) -> None:
    class Picky(WorldClient):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise ValueError("not today")

    for start in (_started_blocking, _started_awaiting):
        with pytest.raises(ValueError, match="not today"):
            start(Picky.from_project(place.file))
        assert place.servers() == []


def test_a_server_that_takes_no_session_is_stopped(place: Place) -> None:
    for start in (_started_blocking, lambda handle: asyncio.run(_entered(handle))):
        with pytest.raises(OSError, match="Failed to connect"):
            start(place.starting(env_vars={"OPENENV_TOKEN": "s3cret-of-the-server"}))
        place.await_none()


async def _entered(handle: Any) -> None:
    async with handle:
        raise AssertionError("it was entered")


@pytest.mark.parametrize("colour", ["blocking", "awaiting"])
@pytest.mark.parametrize("protocol", ["v1", None])
def test_a_server_that_ends_tells_its_last_words(
    place: Place, colour: str, protocol: str | None
) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        with pytest.raises(SessionLost, match="the reactor melted"):
            await ask(client.step(Add(amount=666)))
        with pytest.raises(SessionLost):
            await ask(client.step(Add(amount=1)))
        await playing(client, ask)

    options = {} if protocol is None else {"protocol": protocol}
    talking(colour, talk, asyncio.run(place.starting(**options)))


def test_a_server_that_was_killed_between_episodes_is_replaced(place: Place) -> None:
    client = place.starting()
    play(client)
    for pid in place.servers():
        os.kill(pid, signal.SIGKILL)
    place.await_none()
    play(client)
    client.close()


def test_a_call_during_the_start_does_not_stop_it(place: Place) -> None:
    client = WorldClient(provider=_Slowly(place))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.reset)
        eventually(place.servers, START_S)
        with pytest.raises(ConcurrentCall):
            client.reset()
        first.result()
    play(client)
    client.close()


class _Slowly:
    """A provider of a world that takes a second; it only acts like one."""

    def __init__(self, place: Place) -> None:
        self._old = place.provider()
        self.stop_container = self._old.stop_container
        self.wait_for_ready = self._old.wait_for_ready

    def start_container(self, image: str) -> str:
        return self._old.start_container(image, env_vars={"SLOW": "1"})


def test_a_subclass_whose_connect_fails_leaves_no_server(place: Place) -> None:
    class Picky(WorldClient):
        def connect(self) -> Any:
            raise ValueError("no bell")

    for start in (_started_blocking, lambda handle: asyncio.run(_entered(handle))):
        with pytest.raises(ValueError, match="no bell"):
            start(Picky.from_project(place.file, ready_timeout_s=START_S))
        place.await_none()


def test_a_fault_of_the_world_leaves_its_server_alone(place: Place) -> None:
    with place.starting() as client:
        client.reset()
        for _ in range(2):
            with pytest.raises(RuntimeError, match="cannot be sent"):
                client.reset(nonsense=object())
        with pytest.raises(RuntimeError):
            client.step({"amount": "many"})
        play(client)


# ── how it ends ───────────────────────────────────────────────────────────────────────────────────


def test_dropped_it_is_stopped(place: Place) -> None:
    play(place.starting())
    gc.collect()
    place.await_none()

    async def main() -> None:
        client = await place.starting()
        del client
        gc.collect()
        while place.servers():
            await asyncio.sleep(0.01)

    asyncio.run(main())


def test_nothing_of_it_stays_in_this_process(place: Place) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    play(place.starting().sync())  # imports
    gc.collect()
    place.await_none()
    threads, files = set(threading.enumerate()), descriptors()
    for _ in range(3):
        client = place.starting()
        play(client)
        client.close()
    eventually(lambda: set(threading.enumerate()) <= threads)  # others' may end meanwhile
    eventually(lambda: descriptors() <= files)


def test_a_pickled_client_uses_the_server_and_does_not_stop_it(place: Place) -> None:
    with place.starting() as client:
        with pickle.loads(pickle.dumps(client)) as twin:
            assert twin.base_url == client.base_url
            play(twin)
        play(client)
    with pytest.raises(ConfigurationError, match="connect"):
        pickle.dumps(client)


def test_a_forked_child_uses_the_server_and_does_not_stop_it(place: Place) -> None:
    with place.starting() as client:
        client.reset()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            code = 1
            try:
                play(client)
                client.close()
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert client.step(Add(amount=1)).observation.count == 1


SCRIPT = """
import sys, time
from openenv.testing import Add
from tests.client.starting import WorldClient

env = WorldClient.from_project(sys.argv[1])
env.reset()
env.step(Add(amount=1))
print("playing", flush=True)
if sys.argv[2] == "wait":
    time.sleep(600)
"""


def _trainer(place: Place, how: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", SCRIPT, str(place.file), how]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path.cwd()
    )


def test_a_program_that_ends_without_closing_leaves_nothing(place: Place) -> None:
    with _trainer(place, "end") as trainer:
        out, err = trainer.communicate(timeout=START_S)
    assert (trainer.returncode, out, err) == (0, "playing\n", "")
    # the trainer's own command line names the world's file too
    assert place.servers() == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_program_that_is_killed_leaves_nothing(place: Place, number: int) -> None:
    with _trainer(place, "wait") as trainer:
        assert trainer.stdout is not None
        assert trainer.stdout.readline() == "playing\n"
        trainer.send_signal(number)
        trainer.communicate(timeout=START_S)
    place.await_none()


@pytest.mark.parametrize("after_s", [0.4, 1.0])
def test_a_program_that_is_killed_at_any_stage_leaves_nothing(place: Place, after_s: float) -> None:
    with _trainer(place, "wait") as trainer:
        time.sleep(after_s)
        trainer.kill()
        trainer.communicate(timeout=START_S)
    place.await_none()


def test_every_client_class_can_start_its_server() -> None:
    assert EnvClient.from_docker_image.__doc__ is not None
    assert EnvClient.from_env.__doc__ is not None
