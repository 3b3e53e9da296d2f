"""How many sessions there are, who must wait for one, and who gets it next."""

import functools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from openenv.protocol.errors import ConcurrencyConfigurationError, ConfigurationError
from openenv.runtime.capacity import ConcurrencyConfig
from openenv.runtime.limits import Limits
from openenv.server.app import create_app
from openenv.server.http_server import HTTPEnvServer
from tests.server.worlds import Gate, Unbuildable, World
from tests.serving import Served, eventually, serving


@pytest.fixture
def pair() -> Iterator[Served]:
    """A server with two slots, and a queue for two."""
    with serving(World, limits=Limits(capacity=2, waiting=2)) as server:
        yield server
        eventually(lambda: server.active() == 0)
        assert server.health()["waiting"] == 0


def refused(server: Served, path: str = "/ws") -> dict[str, Any]:
    """What a client hears that gets no session."""
    with server.socket(path) as client:
        message = client.receive()
        assert message["type"] == "error"
        assert client.closed() == 1000
        error: dict[str, Any] = message["data"]
        return error


def test_a_client_too_many_is_told_the_numbers(pair: Served) -> None:
    with pair.socket() as first, pair.socket() as second:
        first.reset()
        second.reset()
        error = refused(pair)
        assert error["code"] == "CAPACITY_REACHED"
        assert error["active_sessions"] == error["max_sessions"] == 2
        assert "2/2" in error["message"]
        assert "MAX_CONCURRENT_ENVS" in error["message"]
        assert first.step(text="undisturbed")["observation"]["text"] == "undisturbed"


def test_what_a_refused_client_sends_is_ignored(pair: Served) -> None:
    with pair.socket() as first, pair.socket() as second:
        first.reset()
        second.reset()
        with pair.socket() as third:
            with suppress(ConnectionClosed):
                for _ in range(10):
                    third.send({"type": "reset"})
            assert third.receive()["data"]["code"] == "CAPACITY_REACHED"
            assert third.closed() == 1000


def test_a_closed_session_makes_room_at_once(pair: Served) -> None:
    with pair.socket() as first:
        first.reset()
        for _ in range(20):
            with pair.socket() as second:
                second.reset()
                second.send({"type": "close"})
                assert second.closed() == 1000


def test_who_waits_gets_the_slot_that_is_freed(pair: Served) -> None:
    with pair.socket() as first, pair.socket() as second:
        first.reset()
        second.reset()
        with pair.socket("/ws?wait_s=30") as third:
            third.send({"type": "reset", "data": {"episode_id": "patient"}})
            eventually(lambda: pair.health()["waiting"] == 1)
            first.send({"type": "close"})
            assert third.receive()["data"]["observation"]["text"] == "ready"
            assert third.state()["episode_id"] == "patient"
            assert pair.health()["waiting"] == 0
            assert pair.active() == 2


def test_who_waits_longest_is_next(pair: Served) -> None:
    with pair.socket() as first, pair.socket() as second:
        first.reset()
        second.reset()
        with pair.socket("/ws?wait_s=30") as third:
            eventually(lambda: pair.health()["waiting"] == 1)
            with pair.socket("/ws?wait_s=30") as fourth:
                eventually(lambda: pair.health()["waiting"] == 2)
                first.send({"type": "close"})
                assert third.reset()["observation"]["text"] == "ready"
                assert pair.health()["waiting"] == 1
                assert refused(pair)["code"] == "CAPACITY_REACHED"
                second.send({"type": "close"})
                assert fourth.reset()["observation"]["text"] == "ready"


def test_a_wait_in_vain_is_told(pair: Served) -> None:
    with pair.socket() as first, pair.socket() as second:
        first.reset()
        second.reset()
        error = refused(pair, "/ws?wait_s=0.05")
        assert error["code"] == "CAPACITY_REACHED"
        assert error["max_sessions"] == 2


def test_a_queue_has_an_end(pair: Served) -> None:
    with pair.socket() as first, pair.socket() as second:
        first.reset()
        second.reset()
        with pair.socket("/ws?wait_s=30"), pair.socket("/ws?wait_s=30"):
            eventually(lambda: pair.health()["waiting"] == 2)
            assert refused(pair, "/ws?wait_s=30")["code"] == "CAPACITY_REACHED"


def test_who_leaves_the_queue_is_forgotten(pair: Served) -> None:
    with pair.socket() as first, pair.socket() as second:
        first.reset()
        second.reset()
        with pair.socket("/ws?wait_s=30"):
            eventually(lambda: pair.health()["waiting"] == 1)
        eventually(lambda: pair.health()["waiting"] == 0)
        with pair.raw() as rude:
            rude.upgrade(request="GET /ws?wait_s=30 HTTP/1.1")
            eventually(lambda: pair.health()["waiting"] == 1)
            rude.reset()
        eventually(lambda: pair.health()["waiting"] == 0)
        first.send({"type": "close"})
        first.closed()
        with pair.socket() as third:
            third.reset()


@pytest.mark.parametrize("wait_s", ["", "soon", "-1", "nan", "inf", "1e999", "0", "%00"])
def test_a_wait_that_means_nothing_is_none(pair: Served, wait_s: str) -> None:
    with pair.socket() as first, pair.socket() as second:
        first.reset()
        second.reset()
        assert refused(pair, f"/ws?wait_s={wait_s}")["code"] == "CAPACITY_REACHED"


def test_a_queue_hands_every_slot_on() -> None:
    """More clients than slots, all patient: each gets its turn."""
    with serving(World, limits=Limits(capacity=3)) as server:

        def episode(number: int) -> str:
            with server.socket("/ws?wait_s=30") as client:
                client.reset()
                text = str(client.step(text=str(number))["observation"]["text"])
                client.send({"type": "close"})
                client.closed()
                return text

        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(episode, range(60))) == [str(number) for number in range(60)]
        assert server.health()["active_sessions"] == server.health()["waiting"] == 0


def test_constructors_that_fail_hold_no_slot() -> None:
    with serving(Unbuildable, limits=Limits(capacity=1)) as server:
        for _ in range(10):
            assert refused(server, "/ws?wait_s=10")["code"] == "FACTORY_ERROR"
        eventually(lambda: server.active() == 0)


class Slow(World):
    """Takes its time to begin and to end."""

    building = Gate()
    ending = Gate()

    def __init__(self) -> None:
        super().__init__()
        self.building.pass_through()

    def close(self) -> None:
        self.ending.pass_through()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Gate, Gate]]:
    gates = Gate(), Gate()
    monkeypatch.setattr(Slow, "building", gates[0])
    monkeypatch.setattr(Slow, "ending", gates[1])
    yield gates
    for gate in gates:
        gate.opened.set()


def test_a_session_that_begins_or_ends_counts(slow: tuple[Gate, Gate]) -> None:
    building, ending = slow
    with serving(Slow, limits=Limits(capacity=1)) as server:
        with server.socket() as client:
            building.wait_until_entered()
            assert refused(server)["code"] == "CAPACITY_REACHED"
            building.opened.set()
            client.reset()
        ending.wait_until_entered()
        assert server.active() == 1
        assert refused(server)["code"] == "CAPACITY_REACHED"
        ending.opened.set()
        eventually(lambda: server.active() == 0)


def test_a_client_that_leaves_while_its_world_is_built_frees_the_slot(
    slow: tuple[Gate, Gate],
) -> None:
    building, ending = slow
    ending.opened.set()
    with serving(Slow, limits=Limits(capacity=1)) as server:
        with server.raw() as client:
            client.upgrade()
            building.wait_until_entered()
            client.reset()
        building.opened.set()
        eventually(lambda: server.active() == 0)
        with server.socket() as other:
            other.reset()


# What an environment says of itself.


class Alone(World):
    SUPPORTS_CONCURRENT_SESSIONS = False


class Many(World):
    SUPPORTS_CONCURRENT_SESSIONS = True


class Heir(Alone):
    """Inherits what its base wrote."""


@pytest.mark.parametrize(
    ("env", "capacity"), [(World, 64), (Many, 64), (Alone, 1), (Heir, 1), (World(), 1)]
)
def test_the_default_capacity(env: Any, capacity: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAX_CONCURRENT_ENVS", raising=False)
    assert create_app(env).state.openenv.max_concurrent_envs == capacity


def test_the_variable_for_the_capacity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_CONCURRENT_ENVS", "5")
    assert create_app(World).state.openenv.max_concurrent_envs == 5
    assert create_app(World, max_concurrent_envs=7).state.openenv.max_concurrent_envs == 7
    assert create_app(Alone).state.openenv.max_concurrent_envs == 1


@pytest.mark.parametrize("env", [Alone, Heir, functools.partial(Alone), World()])
@pytest.mark.parametrize(
    "options",
    [
        {"max_concurrent_envs": 2},
        {"concurrency_config": ConcurrencyConfig(max_concurrent_envs=2)},
    ],
    ids=["number", "config"],
)
def test_more_sessions_than_an_environment_bears_are_refused(
    env: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(ConcurrencyConfigurationError, match="2"):
        create_app(env, **options)


@pytest.mark.parametrize("number", [0, -1])
def test_a_server_holds_at_least_one(number: int) -> None:
    with pytest.raises(ConfigurationError, match=str(number)):
        create_app(World, max_concurrent_envs=number)


def test_both_ways_to_say_it_are_one_too_many() -> None:
    config = ConcurrencyConfig(max_concurrent_envs=2)
    with pytest.raises(ConfigurationError, match="not both"):
        create_app(World, max_concurrent_envs=2, concurrency_config=config)


def test_one_session_at_a_time_of_a_world_that_is_alone() -> None:
    with serving(Alone) as server:
        with server.socket() as first:
            first.reset()
            error = refused(server)
            assert (error["active_sessions"], error["max_sessions"]) == (1, 1)
        with server.socket("/ws?wait_s=10") as second:
            second.reset()


class Kept(World):
    """Counts how often it is closed."""

    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_an_instance_serves_one_session_after_another() -> None:
    env = Kept()
    with serving(env) as server:
        for number in range(3):
            with server.socket("/ws?wait_s=10") as client:
                client.reset(episode_id=f"e{number}")
                client.step()
                assert client.state()["episode_id"] == f"e{number}"
                assert refused(server)["code"] == "CAPACITY_REACHED"
        assert env.closed == 0
        with server.socket("/ws?wait_s=10") as client:
            assert client.refused({"type": "step", "data": {}})["code"] == "RESET_REQUIRED"
    assert env.closed == 1


def test_the_timeout_of_the_configuration_ends_an_idle_session() -> None:
    config = ConcurrencyConfig(max_concurrent_envs=2, session_timeout=0.1)
    with serving(World, concurrency_config=config) as server, server.socket() as client:
        client.reset()
        error = client.receive()["data"]
        assert error["code"] == "SESSION_ERROR"
        assert "expired" in error["message"]
        assert client.closed() == 1000
        eventually(lambda: server.active() == 0)


def test_a_configuration_without_a_timeout_leaves_the_one_that_is_set() -> None:
    config, limits = ConcurrencyConfig(max_concurrent_envs=2), Limits(idle_timeout=60)
    assert HTTPEnvServer(World, limits=limits, concurrency_config=config).sessions.limits == Limits(
        capacity=2, idle_timeout=60
    )


def test_a_busy_session_is_not_idle() -> None:
    gate = Gate()
    World.gate, before = gate, World.gate
    config = ConcurrencyConfig(max_concurrent_envs=2, session_timeout=0.05)
    try:
        with serving(World, concurrency_config=config) as server, server.socket() as client:
            client.reset()
            client.send({"type": "step", "data": {"what": "wait", "text": "slow"}})
            gate.wait_until_entered()
            with server.socket() as other:  # is idle meanwhile, and ends
                assert other.receive()["data"]["code"] == "SESSION_ERROR"
            gate.opened.set()
            assert client.receive()["data"]["observation"]["text"] == "slow"
    finally:
        gate.opened.set()
        World.gate = before
