"""One client, two modes: who blocks, who awaits, and what mixing them says."""

import asyncio
import gc
import inspect
import pickle
import warnings
from typing import Any

import pytest

from openenv import (
    EnvClient,
    GenericEnvClient,
    ModeError,
    ResetRequired,
    SessionLost,
    SyncEnvClient,
)
from tests.client.worlds import Heard, ParrotClient, Say


def test_bare_calls_block_outside_a_loop(url: str) -> None:
    client = ParrotClient(base_url=url)
    assert client.reset(seed=1).observation.seed == 1
    assert client.step(Say(text="hi")).reward == 2.0
    client.close()


def test_with_blocks(url: str) -> None:
    with ParrotClient(base_url=url) as client:
        assert client.reset(seed=1).observation.seed == 1


def test_sync_is_one_blocking_form_of_the_client(url: str) -> None:
    client = ParrotClient(base_url=url)
    blocking = client.sync()
    assert isinstance(blocking, SyncEnvClient)
    assert client.sync() is blocking
    assert blocking.async_client is client
    assert blocking.base_url == url
    with blocking as entered:
        assert entered is blocking
        assert blocking.reset(seed=1, timeout_s=5).observation.seed == 1
        assert blocking.step(Say(text="hi"), timeout_s=5).reward == 2.0
        assert blocking.state(timeout_s=5).step_count == 1
    blocking.disconnect()


async def test_async_with_awaits(url: str) -> None:
    async with ParrotClient(base_url=url) as client:
        assert (await client.reset(seed=1)).observation.seed == 1


async def test_bare_calls_are_awaited_inside_a_loop(url: str) -> None:
    client = ParrotClient(base_url=url)
    assert await client.connect() is client
    assert (await client.reset(seed=1)).observation.seed == 1
    await client.close()


async def test_sync_and_with_block_inside_a_loop(url: str) -> None:
    with ParrotClient(base_url=url) as client:
        assert client.reset(seed=1).observation.seed == 1
    with ParrotClient(base_url=url).sync() as blocking:
        assert blocking.reset(seed=1).observation.seed == 1


async def test_code_without_await_works_inside_a_coroutine(url: str) -> None:
    client = ParrotClient(base_url=url)
    try:
        seed = client.reset(seed=4).observation.seed
        result = client.step(Say(text="hi"))
        assert (seed, result.reward, result.observation.text) == (4, 2.0, "hi")
        assert client.state().step_count == 1
    finally:
        client.close()


async def test_what_is_read_twice_is_done_once(url: str) -> None:
    client = ParrotClient(base_url=url)
    first = client.reset(seed=4)
    assert isinstance(first.observation, Heard)
    assert (first.observation.seed, first.reward, first.done) == (4, None, False)
    client.close()


async def test_what_raises_when_it_is_read_raises_again_and_does_not_warn() -> None:
    client = ParrotClient(base_url="http://127.0.0.1:9", connect_retries=0)
    first: Any = client.reset()
    errors = []
    for _ in range(2):
        with pytest.raises(ConnectionError) as caught:
            _ = first.observation
        errors.append(caught.value)
    assert errors[0] is errors[1]


async def test_pending_calls_go_wherever_coroutines_go(url: str) -> None:
    async with ParrotClient(base_url=url) as client:
        await asyncio.create_task(client.reset())  # type: ignore[arg-type]
        await asyncio.wait_for(client.step(Say(text="a")), 5)
        await asyncio.wait([asyncio.ensure_future(client.step(Say(text="b")))])
        await asyncio.ensure_future(client.step(Say(text="c")))
        await asyncio.shield(client.step(Say(text="d")))
        (state,) = await asyncio.gather(client.state())
        assert (state.step_count, state.last) == (4, "d")


def test_a_pending_call_can_be_run_by_a_loop(url: str) -> None:
    client = ParrotClient(base_url=url)

    async def call(name: str) -> Any:
        return getattr(client, name)()

    loop = asyncio.new_event_loop()
    for name in ("reset", "close"):
        loop.run_until_complete(loop.run_until_complete(call(name)))
    loop.close()


async def test_looking_at_a_pending_call_does_not_do_it(url: str) -> None:
    client = ParrotClient(base_url=url)
    call: Any = client.reset(seed=1)
    assert "reset" in repr(call)
    assert not hasattr(call, "_repr_html_")
    assert not hasattr(call, "_ipython_display_")
    assert not hasattr(call, "__len__")
    task = asyncio.create_task(call)
    assert "Pending" in repr(task)
    task.get_stack()
    assert (await task).observation.seed == 1
    assert "done" in repr(task)
    await client.close()


async def test_many_clients_on_one_loop(url: str) -> None:
    clients = [ParrotClient(base_url=url) for _ in range(32)]
    firsts = await asyncio.gather(*(c.reset(seed=i) for i, c in enumerate(clients)))
    assert [first.observation.seed for first in firsts] == list(range(32))
    for n in range(3):
        results = await asyncio.gather(
            *(c.step(Say(text=f"{i}-{n}")) for i, c in enumerate(clients))
        )
        assert [r.observation.text for r in results] == [f"{i}-{n}" for i in range(32)]
    await asyncio.gather(*(client.close() for client in clients))


async def test_a_call_that_nobody_awaits_warns() -> None:
    client = ParrotClient(base_url="http://127.0.0.1:9")
    with pytest.warns(RuntimeWarning, match=r"ParrotClient.reset\(\) was never awaited"):
        client.reset()
        gc.collect()


async def test_calls_that_nobody_reads_are_done_before_the_first_that_is_read(url: str) -> None:
    client = ParrotClient(base_url=url)
    with pytest.warns(RuntimeWarning, match="unless the next call blocks"):
        client.connect()
        client.reset(episode_id="unread")
    assert client.step(Say(text="hi")).observation.text == "hi"
    state = client.state()
    assert (state.episode_id, state.step_count) == ("unread", 1)
    client.reset(episode_id="at once")
    assert client.state().episode_id == "at once"
    client.close()


async def test_a_call_that_nobody_awaits_is_not_done_by_a_client_that_awaits(url: str) -> None:
    client = ParrotClient(base_url=url)
    with pytest.warns(RuntimeWarning, match="never awaited"):
        client.reset(episode_id="forgotten")
    await client.connect()
    with pytest.raises(ResetRequired):
        await client.step(Say(text="hi"))
    await client.close()


async def test_a_call_that_is_given_up_does_not_warn(url: str) -> None:
    client = ParrotClient(base_url=url)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call: Any = client.reset()
        call.close()
        other: Any = client.reset()
        task = asyncio.create_task(other)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gc.collect()


def test_no_method_is_a_coroutine_function() -> None:
    for name in ("connect", "reset", "step", "state", "close"):
        assert not inspect.iscoroutinefunction(getattr(EnvClient, name))
        assert not inspect.iscoroutinefunction(getattr(SyncEnvClient, name))


def test_a_blocking_client_cannot_be_awaited(url: str) -> None:
    client = ParrotClient(base_url=url)
    client.reset()

    async def enter() -> None:
        async with client:
            pass

    with pytest.raises(ModeError, match=r"blocking mode.*one client\s+works one way"):
        asyncio.run(enter())
    assert client.step(Say(text="on")).observation.text == "on"
    client.close()


async def test_an_awaiting_client_cannot_block(url: str) -> None:
    async with ParrotClient(base_url=url) as client:
        await client.reset()
        with pytest.raises(ModeError, match="awaiting mode"), client:
            pass
        with pytest.raises(ModeError, match="awaiting mode"):
            client.sync()
        with pytest.raises(ModeError, match="await"):
            _ = client.step(Say(text="lost")).observation
        assert (await client.step(Say(text="on"))).observation.step == 1


def test_an_awaiting_client_outside_a_loop_says_what_is_wrong(url: str) -> None:
    client = ParrotClient(base_url=url)

    async def use() -> None:
        await client.reset()
        await client.close()

    asyncio.run(use())
    for call in (client.reset, client.state, client.close):
        with pytest.raises(ModeError, match="awaiting mode since its first use"):
            call()


def test_a_refused_mode_does_not_harm(url: str) -> None:
    client = ParrotClient(base_url=url)
    with client:
        client.reset(seed=1)

        async def mix() -> None:
            with pytest.raises(ModeError):
                async with client:
                    pass

        asyncio.run(mix())
        assert client.step(Say(text="on")).observation.text == "on"


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_second_event_loop_needs_a_reset_in_v1(url: str) -> None:
    client = ParrotClient(base_url=url, protocol="v1")

    async def begin() -> None:
        await client.reset(episode_id="first")
        await client.step(Say(text="a"))

    async def go_on() -> None:
        with pytest.raises(SessionLost, match="another event loop"):
            await client.step(Say(text="b"))
        with pytest.raises(SessionLost):
            await client.state()
        await client.reset(episode_id="second")
        assert (await client.step(Say(text="c"))).observation.step == 1
        assert (await client.state()).episode_id == "second"
        await client.close()

    asyncio.run(begin())
    gc.collect()
    asyncio.run(go_on())
    gc.collect()


def test_a_pickled_client_opens_a_session_of_its_own(url: str) -> None:
    with ParrotClient(base_url=url, headers={"X-Team": "red"}, message_timeout_s=7) as client:
        client.reset(episode_id="one")
        with pickle.loads(pickle.dumps(client)) as other:
            assert isinstance(other, ParrotClient)
            assert other.base_url == client.base_url
            assert (other._endpoint, other._message_timeout) == (client._endpoint, 7)
            other.reset(episode_id="two")
            assert client.state().episode_id == "one"
        blocking = pickle.loads(pickle.dumps(client.sync()))
        with blocking:
            blocking.reset(episode_id="three")
            assert blocking.async_client.sync() is blocking
        assert client.state().episode_id == "one"


async def test_a_pickled_blocking_client_blocks_inside_a_loop(url: str) -> None:
    blocking = pickle.loads(pickle.dumps(GenericEnvClient(base_url=url).sync()))
    assert blocking.reset(seed=1).observation["seed"] == 1
    blocking.close()
