"""v2: a session outlives its connection; where it does not, that is said, and a reset heals."""

import asyncio
import gc
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from openenv import ConnectFailed, SessionCapacityError, SessionLost
from openenv.client import dialogue
from openenv.protocol.errors import EnvironmentFactoryError, MessageTooLarge, StepTimeout
from openenv.runtime.limits import Limits
from openenv.testing import FaultProxy
from tests.client.ways import Ask, Way, talking, until
from tests.client.worlds import Gate, Parrot, ParrotClient, Pausing, Say
from tests.serving import Served, eventually, serving


@pytest.fixture
def proxy(url: str) -> Iterator[FaultProxy]:
    """A network to the parrots that can be broken."""
    with FaultProxy(url) as proxy:
        yield proxy


@pytest.fixture(params=["v2+msgpack", "v2+json"])
def proxied_way(request: pytest.FixtureRequest, colour: str, proxy: FaultProxy) -> Way:
    """Over that network, in both colours and encodings."""
    return Way(colour, proxy.url, request.param)


async def _begin(client: Any, ask: Ask) -> None:
    await ask(client.reset(episode_id="one"))
    assert (await ask(client.step(Say(text="a")))).observation.step == 1


async def _goes_on(client: Any, ask: Ask, step: int) -> None:
    """The next step is the so-manieth of the same episode."""
    result = await ask(client.step(Say(text="on")))
    assert (result.observation.text, result.observation.step) == ("on", step)
    state = await ask(client.state())
    assert (state.episode_id, state.step_count, state.last) == ("one", step, "on")


async def _heals(client: Any, ask: Ask) -> None:
    """A lost session stays lost, whatever is asked, until a reset begins another."""
    for call in (lambda: client.step(Say(text="wrong")), client.state):
        with pytest.raises(SessionLost, match="reset"):
            await ask(call())
    assert (await ask(client.reset(seed=7, episode_id="one"))).observation.seed == 7
    await _goes_on(client, ask, 1)


@pytest.mark.parametrize("reset", [True, False], ids=["RST", "FIN"])
def test_a_connection_that_breaks_between_two_calls(
    proxied_way: Way, proxy: FaultProxy, reset: bool
) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await _begin(client, ask)
        for step in (2, 3):
            proxy.cut(reset=reset)
            await _goes_on(client, ask, step)
        assert client.protocol == proxied_way.protocol

    proxied_way.run(talk)


@pytest.mark.parametrize("fault", ["cut_before", "cut_inside", "cut_after", "swallow", "duplicate"])
@pytest.mark.parametrize("direction", ["to_server", "to_client"])
def test_a_step_whose_frame_meets_a_fault_is_taken_once(
    colour: str, proxy: FaultProxy, fault: Any, direction: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await _begin(client, ask)
        proxy.disturb_next(fault, direction)
        await _goes_on(client, ask, 2)
        proxy.disturb_next(fault, direction)
        assert (await ask(client.reset(seed=3))).observation.seed == 3
        assert (await ask(client.step(Say(text="b")))).observation.step == 1

    monkeypatch.setattr(dialogue, "FIRST_QUIET_S", 0.1)
    Way(colour, proxy.url).run(talk)


def test_a_connection_that_breaks_while_the_step_runs(proxied_way: Way, proxy: FaultProxy) -> None:
    gate = Gate()

    def cut() -> None:
        gate.await_entered()
        proxy.cut()
        gate.opened.set()

    async def talk(client: Any, ask: Ask) -> None:
        await _begin(client, ask)
        cutting = threading.Thread(target=cut)
        cutting.start()
        result = await ask(client.step(Say(text="slow", gate=gate.name)))
        assert (result.observation.text, result.observation.step) == ("slow", 2)
        cutting.join()
        await _goes_on(client, ask, 3)

    proxied_way.run(talk)


def test_a_network_that_is_away_for_a_while(proxied_way: Way, proxy: FaultProxy) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await _begin(client, ask)
        proxy.refuse(503, times=3)
        proxy.cut()
        await _goes_on(client, ask, 2)

    proxied_way.run(talk)


def test_who_comes_back_too_late_is_told_what_was_lost(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await _begin(client, ask)
        proxy.refuse(503)
        proxy.cut()
        await until(client, ask, lambda: served.openenv.active_sessions == 0)
        proxy.accept()
        with pytest.raises(SessionLost, match="no session '.*' to resume") as lost:
            await ask(client.step(Say(text="wrong")))
        assert lost.value.details["cause"] == "SESSION_GONE"
        await _heals(client, ask)

    with (
        serving(Parrot, limits=Limits(resume_grace=0.1)) as served,
        FaultProxy(f"http://127.0.0.1:{served.port}") as proxy,
    ):
        talking(colour, talk, Pausing(base_url=proxy.url))


def test_a_server_that_was_restarted_has_no_session_to_go_on_with(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with serving(Parrot, port=int(client.base_url.rpartition(":")[2])):
            await _begin(client, ask)
        with serving(Parrot, port=int(client.base_url.rpartition(":")[2])) as second:
            with pytest.raises(SessionLost, match="no session '.*' to resume"):
                await ask(client.step(Say(text="wrong")))
            with pytest.raises(SessionLost, match="after 1 step: .*no session '.*' to resume"):
                await ask(client.step(Say(text="wrong")))
            assert second.openenv.active_sessions == 0
            await _heals(client, ask)
            await ask(client.close())
            assert second.openenv.active_sessions == 0

    with serving(Parrot) as free:
        url = f"http://127.0.0.1:{free.port}"
    talking(colour, talk, Pausing(base_url=url))


def test_a_reset_after_a_restart_begins_at_once(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with serving(Parrot, port=int(client.base_url.rpartition(":")[2])):
            await _begin(client, ask)
        with serving(Parrot, port=int(client.base_url.rpartition(":")[2])):
            assert (await ask(client.reset(seed=7, episode_id="one"))).observation.seed == 7
            await _goes_on(client, ask, 1)
            await ask(client.close())

    with serving(Parrot) as free:
        url = f"http://127.0.0.1:{free.port}"
    talking(colour, talk, Pausing(base_url=url))


async def test_eight_clients_of_a_server_that_is_gone_are_told_the_same(impatient: None) -> None:
    with serving(Parrot) as served:
        clients = [ParrotClient(base_url=f"http://127.0.0.1:{served.port}") for _ in range(8)]
        await asyncio.gather(*(client.reset() for client in clients))
    for _ in range(2):
        steps: Any = (client.step(Say(text="wrong")) for client in clients)
        for told in await asyncio.gather(*steps, return_exceptions=True):
            assert isinstance(told, ConnectFailed)
            assert "the session may still live: the next call tries to resume it" in str(told)
    for client in clients:
        await client.close()


def test_whoever_has_the_token_takes_the_session_over(v2_way: Way, parrots: Served) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await _begin(client, ask)
        session = client._conversation._talk._channel
        with connect(
            f"{v2_way.url}/ws".replace("http", "ws"),
            subprotocols=[Subprotocol("openenv.v2+json")],
            proxy=None,
        ) as other:
            details = {"session_id": session.session_id, "token": session.token, "last_seq": 2}
            other.send(json.dumps({"id": 1, "op": "open", "data": details}))
            assert json.loads(other.recv(10))["data"]["resumed"] is True
            with pytest.raises(SessionLost, match="taken this session over"):
                await ask(client.step(Say(text="wrong")))
            await _heals(client, ask)
            other.send(json.dumps({"id": 2, "op": "state"}))
            assert json.loads(other.recv(10))["data"]["last"] == "a"
            other.send(json.dumps({"id": 3, "op": "close"}))
            assert json.loads(other.recv(10))["type"] == "closed"

    v2_way.run(talk)


@pytest.mark.parametrize("encoding", ["v2+msgpack", "v2+json"])
def test_messages_that_are_too_large_leave_the_session_as_it_is(colour: str, encoding: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await _begin(client, ask)
        with pytest.raises(MessageTooLarge, match="OPENENV_MAX_MESSAGE_MB") as caught:
            await ask(client.step(Say(text="x" * 200_000)))
        assert caught.value.details["limit"] == 100_000
        assert caught.value.details["size"] > 200_000
        await _goes_on(client, ask, 2)
        with pytest.raises(MessageTooLarge) as caught:
            await ask(client.step(Say(size=600_000)))
        assert caught.value.details["limit"] == 0.5 * 2**20
        await _goes_on(client, ask, 4)

    with serving(Parrot, limits=Limits(max_message_bytes=100_000)) as served:
        url = f"http://127.0.0.1:{served.port}"
        client = Pausing(base_url=url, max_message_size_mb=0.5, protocol=encoding)
        talking(colour, talk, client)


def test_a_full_server_refuses_at_connect_or_has_a_queue(colour: str) -> None:
    async def refused(client: Any, ask: Ask) -> None:
        for _ in range(2):
            with pytest.raises(SessionCapacityError, match="1/1") as caught:
                await ask(client.connect())
            assert (caught.value.active_sessions, caught.value.max_sessions) == (1, 1)
        first.close()
        await ask(client.connect())
        assert served.openenv.active_sessions == 1
        await _begin(client, ask)

    async def queued(client: Any, ask: Ask) -> None:
        leaving.start()
        await ask(client.connect())
        await _begin(client, ask)

    def leave() -> None:
        eventually(lambda: served.openenv.sessions.waiting == 1)
        first.close()

    with serving(Parrot, max_concurrent_envs=1) as served:
        way = Way(colour, f"http://127.0.0.1:{served.port}")
        first = ParrotClient(base_url=way.url)
        first.connect()
        way.run(refused)
        first.reset()
        leaving = threading.Thread(target=leave)
        way.run(queued, way.client(wait_s=10, message_timeout_s=0.5))
        leaving.join()


class Stillborn(Parrot):
    """Cannot be built."""

    def __init__(self) -> None:
        super().__init__()
        raise ValueError("no perch")


def test_an_environment_that_cannot_be_built_is_told_at_connect(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        for call in (client.connect, client.reset):
            with pytest.raises(EnvironmentFactoryError, match="no perch"):
                await ask(call())
        assert not client._conversation.is_connected

    with serving(Stillborn) as served:
        talking(colour, talk, ParrotClient(base_url=f"http://127.0.0.1:{served.port}"))


def test_a_client_that_is_killed_keeps_its_slot_for_the_grace() -> None:
    with serving(Parrot, limits=Limits(resume_grace=0.3)) as served:
        client = ParrotClient(base_url=f"http://127.0.0.1:{served.port}")
        client.reset()
        client._blocking.drop()
        eventually(lambda: served.openenv.active_sessions == 0)
        client.close()


def test_a_forgotten_client_says_farewell_to_the_session_that_it_has(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        for _ in range(2):
            await ask(client.reset())
            gate = Gate()
            with pytest.raises(StepTimeout):
                await ask(client.step(Say(gate=gate.name)))
            gate.opened.set()
            await until(client, ask, lambda: served.openenv.active_sessions == 0)
        await ask(client.reset())
        assert served.openenv.active_sessions == 1
        client._blocking.transport = client._awaiting.transport = None  # nobody holds it
        gc.collect()
        await until(client, ask, lambda: served.openenv.active_sessions == 0)

    limits = Limits(step_timeout=0.05)
    with serving(Parrot, limits=limits) as served:
        talking(colour, talk, Pausing(base_url=f"http://127.0.0.1:{served.port}"))
