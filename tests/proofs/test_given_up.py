"""Calls whose callers have gone, or whose sessions never lived, on a bad network."""

from collections.abc import Iterator
from typing import Any

import pytest

from openenv import ReplyTimeout
from openenv.testing import Add, Counting, CountingClient, FaultProxy, Faults, FrameFault
from tests.client.ways import Ask, talking
from tests.serving import eventually, serving

LATE_S = 0.5


@pytest.fixture
def proxy() -> Iterator[FaultProxy]:
    """A proxy before a server; nobody may be left there."""
    faults = Faults(delay_s=(LATE_S, LATE_S))
    with serving(Counting, host_kind="thread") as served:
        with FaultProxy(f"http://127.0.0.1:{served.port}", faults) as running:
            yield running
        eventually(lambda: served.openenv.active_sessions == 0)


@pytest.fixture(params=["blocking", "awaiting"])
def colour(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_a_step_that_was_given_up_does_not_end_its_session(proxy: FaultProxy, colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        proxy.swallow_next("to_client")
        with pytest.raises(ReplyTimeout):
            await ask(client.step(Add(amount=1), timeout_s=0.1))
        proxy.swallow_next("to_client", 2)  # the same answer again, and the next step's
        assert (await ask(client.step(Add(amount=2)))).observation.count == 3
        assert (await ask(client.step(Add(amount=4)))).observation.count == 7
        assert (await ask(client.state())).amounts == [1, 2, 4]

    talking(colour, talk, CountingClient(base_url=proxy.url))


@pytest.mark.parametrize("call", ["step", "state"])
def test_what_comes_after_a_step_that_was_given_up_comes_after_it(
    proxy: FaultProxy, colour: str, call: str
) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        proxy.swallow_next("to_server")
        with pytest.raises(ReplyTimeout):
            await ask(client.step(Add(amount=1), timeout_s=0.1))
        proxy.swallow_next("to_server")  # the same again, on its way before the next call
        if call == "step":
            assert (await ask(client.step(Add(amount=2)))).observation.count == 3
        else:
            assert (await ask(client.state())).amounts == [1]

    talking(colour, talk, CountingClient(base_url=proxy.url))


def test_a_reset_begins_again_as_long_as_nothing_was_lost(proxy: FaultProxy, colour: str) -> None:
    # a session that was asked nothing yet does not outlive its socket
    faults: list[FrameFault] = ["cut_before", "delay", "delay", "cut_before"]

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.connect())
        for fault in faults:  # the reset; its resumption and the new session; the reset in it
            proxy.disturb_next(fault, "to_server")
        assert (await ask(client.reset(seed=5))).observation.count == 5
        assert (await ask(client.step(Add()))).observation.count == 6

    talking(colour, talk, CountingClient(base_url=proxy.url))


def test_a_connection_that_was_given_up_takes_nothing_from_its_client(
    proxy: FaultProxy, colour: str
) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        proxy.disturb_next("delay", "to_server")  # the word with which it comes back is late,
        proxy.cut()
        with pytest.raises(ReplyTimeout):
            await ask(client.step(Add(amount=1), timeout_s=LATE_S / 5))
        assert (await ask(client.step(Add(amount=2)))).observation.count == 3  # over another one
        assert (await ask(client.step(Add(amount=4, pause_s=LATE_S)))).observation.count == 7
        assert (await ask(client.step(Add(amount=8)))).observation.count == 15
        assert (await ask(client.state())).amounts == [1, 2, 4, 8]

    talking(colour, talk, CountingClient(base_url=proxy.url))
