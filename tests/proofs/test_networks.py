"""Bad networks, one at a time: what a caller sees of each, which is as little as can be."""

from collections.abc import Iterator
from typing import Any

import pytest

from openenv import ConnectFailed, ReplyTimeout
from openenv.testing import Add, Counting, CountingClient, Direction, FaultProxy, Faults, FrameFault
from openenv.testing.faults import DIRECTIONS, FRAME_FAULTS
from tests.client.ways import Ask, talking
from tests.serving import Served, eventually, serving

PING_SETTINGS = ("websocket_ping_interval_s", "websocket_ping_timeout_s")
CALLS = ["connect", "reset", "step", "state", "close"]
SLOW_S = 0.2
"""How long a step runs whose connection ends meanwhile; a client is back much earlier."""


@pytest.fixture(scope="module")
def counting() -> Iterator[Served]:
    with serving(Counting, host_kind="thread") as served:
        yield served


@pytest.fixture
def url(counting: Served) -> Iterator[str]:
    """The server's address; nobody may be left there."""
    yield f"http://127.0.0.1:{counting.port}"
    eventually(lambda: counting.openenv.active_sessions == 0)


@pytest.fixture(params=["blocking", "awaiting"])
def colour(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("fault", FRAME_FAULTS)
def test_every_call_survives_every_fault(
    url: str, colour: str, fault: FrameFault, direction: Direction
) -> None:
    # what was swallowed is sent again after a second: two of them will do
    disturbed = ["reset", "step"] if fault == "swallow" else CALLS

    def disturb(call: str) -> None:
        if call in disturbed:
            proxy.disturb_next(fault, direction)

    async def talk(client: Any, ask: Ask) -> None:
        disturb("connect")
        await ask(client.connect())
        disturb("reset")
        first = (await ask(client.reset(seed=10, episode_id="one"))).observation
        assert (first.count, first.episode, first.resets) == (10, "one", 1)
        disturb("step")
        result = await ask(client.step(Add(amount=1, pause_s=SLOW_S)))
        assert (result.observation.count, result.observation.ordinal) == (11, 1)
        disturb("state")
        assert (await ask(client.state())).amounts == [1]
        result = await ask(client.step(Add(amount=2)))
        assert (result.observation.count, result.observation.ordinal) == (13, 2)
        tally = await ask(client.state())
        assert (tally.amounts, tally.resets) == ([1, 2], 1)
        disturb("close")

    with FaultProxy(url, Faults(freeze_s=(0.05, 0.1))) as proxy:
        talking(colour, talk, CountingClient(base_url=proxy.url))
    assert proxy.counts.disturbed == len(disturbed)


@pytest.mark.parametrize("reset", [True, False], ids=["reset", "end"])
def test_a_connection_that_breaks_between_calls_is_made_again(
    url: str, colour: str, reset: bool
) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset(episode_id="one"))
        for count in (1, 2, 3):
            proxy.cut(reset=reset)
            assert (await ask(client.step(Add()))).observation.count == count
        assert (await ask(client.state())).resets == 1

    with FaultProxy(url) as proxy:
        talking(colour, talk, CountingClient(base_url=proxy.url))
    assert proxy.counts.connections == 4


def test_a_server_that_is_away_for_a_while_is_waited_for(url: str, colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        for status in (502, 503, None):
            proxy.refuse(status, times=3)
            proxy.cut()
            await ask(client.step(Add()))
        assert (await ask(client.state())).amounts == [1, 1, 1]

    with FaultProxy(url) as proxy:
        talking(colour, talk, CountingClient(base_url=proxy.url))
    assert proxy.counts.faults["refuse"] == 9


def test_a_dead_network_is_a_timeout_and_the_session_goes_on_after_it(
    url: str, colour: str
) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset(episode_id="one"))
        proxy.freeze()
        for amount in (1, 2):
            with pytest.raises(ReplyTimeout):
                await ask(client.step(Add(amount=amount), timeout_s=0.1))
        proxy.thaw()
        result = await ask(client.step(Add(amount=4)))
        assert (result.observation.count, result.observation.ordinal) == (7, 3)
        assert (await ask(client.state())).amounts == [1, 2, 4]

    with FaultProxy(url) as proxy:
        talking(colour, talk, CountingClient(base_url=proxy.url))


def test_a_tunnel_that_swallows_pings_is_good_enough(url: str, colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset(episode_id="one"))
        await ask(client.step(Add(pause_s=1.0)))
        assert (await ask(client.step(Add()))).observation.count == 2

    options: dict[str, Any] = dict.fromkeys(PING_SETTINGS, 0.1)
    with FaultProxy(url, Faults(swallow_pings=1.0)) as proxy:
        talking(colour, talk, CountingClient(base_url=proxy.url, **options))
    assert proxy.counts.connections == 1


@pytest.mark.parametrize("status", [429, 502, 503, None])
def test_a_server_that_refuses_at_first_is_reached(
    url: str, colour: str, status: int | None
) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConnectFailed) as caught:
            await ask(client.connect())
        assert caught.value.status == status

    async def insist(client: Any, ask: Ask) -> None:
        assert (await ask(client.reset(seed=3))).observation.count == 3

    with FaultProxy(url) as proxy:
        proxy.refuse(status, times=3)
        talking(colour, talk, CountingClient(base_url=proxy.url, connect_retries=0))
        talking(colour, insist, CountingClient(base_url=proxy.url, connect_retries=5))
    assert proxy.counts.faults["refuse"] == 3
