"""A proxy begins and ends with its block, and serves whoever talks through it."""

import asyncio
import socket
import threading
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from openenv import ConfigurationError
from openenv.testing import Add, Counting, CountingClient, FaultProxy
from tests.client.ways import Ask, talking
from tests.serving import serving
from tests.testing.peers import connected, echoing, hears


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if "fault-proxy" in thread.name]


def test_nothing_is_left_of_it() -> None:
    with echoing() as echo:
        with FaultProxy(echo.url) as proxy, connected(proxy) as client:
            port = int(proxy.url.rpartition(":")[2])
            assert _threads()
            proxy.__exit__(None, None, None)
            with pytest.raises(ConnectionClosed):
                hears(client)
        assert echo.hears() is None
    assert not _threads()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_nothing_is_left_of_it_after_an_error() -> None:
    with (
        echoing() as echo,
        pytest.raises(ZeroDivisionError),
        FaultProxy(echo.url) as proxy,
        connected(proxy),
    ):
        proxy.freeze()
        raise ZeroDivisionError
    assert not _threads()


def test_it_can_run_again() -> None:
    with echoing() as echo:
        proxy = FaultProxy(echo.url)
        for _ in range(2):
            with proxy, connected(proxy) as client:
                client.send("a")
                assert hears(client) == "a"
    assert proxy.counts.connections == 2


def test_outside_its_block_it_says_so() -> None:
    proxy = FaultProxy("http://127.0.0.1:9")
    for use in (lambda: proxy.url, proxy.cut, proxy.freeze, proxy.accept):
        with pytest.raises(ConfigurationError, match="inside its `with` block"):
            use()
    with proxy, pytest.raises(ConfigurationError, match="runs already"), proxy:
        pass
    assert not _threads()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: FaultProxy("https://example.com"), "TLS"),
        (lambda: FaultProxy("no address at all"), "base_url must be"),
        (lambda: FaultProxy("http://a", {"sideways": None}), "directions are"),  # type: ignore[dict-item]
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        make()


def test_unknown_faults_are_refused() -> None:
    with FaultProxy("http://127.0.0.1:9") as proxy:
        with pytest.raises(ConfigurationError, match="'explode'"):
            proxy.disturb_next("explode", "to_server")  # type: ignore[arg-type]
        with pytest.raises(ConfigurationError, match="'sideways'"):
            proxy.swallow_next("sideways")  # type: ignore[arg-type]


async def test_it_serves_code_that_awaits() -> None:
    with echoing() as echo, FaultProxy(echo.url) as proxy:
        url = proxy.url.replace("http", "ws")
        async with connect(url, proxy=None, compression=None) as client:
            await asyncio.gather(*(client.send(str(n)) for n in range(20)))
            assert [await client.recv() for _ in range(20)] == [str(n) for n in range(20)]
            proxy.swallow_next("to_server")
            await client.send("lost")
            await client.send("found")
            assert await client.recv() == "found"


@pytest.mark.parametrize("colour", ["blocking", "awaiting"])
def test_an_episode_passes_in_every_colour(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert (await ask(client.reset(seed=5, episode_id="one"))).observation.count == 5
        await ask(client.step(Add(amount=2)))
        result = await ask(client.step(Add(amount=3, last=True, payload=b"\xff")))
        assert (result.observation.count, result.observation.payload) == (10, b"\xff")
        assert result.done
        tally = await ask(client.state())
        assert (tally.episode_id, tally.amounts, tally.resets) == ("one", [2, 3], 1)

    with serving(Counting) as served, FaultProxy(f"http://127.0.0.1:{served.port}") as proxy:
        talking(colour, talk, CountingClient(base_url=proxy.url))
    assert proxy.counts.connections == 1
