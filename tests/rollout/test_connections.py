"""The connections of a pool: how many, and what becomes of it when they are disturbed."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.server import ServerConnection

from openenv import ConnectFailed, Limits, MessageTooLarge, SessionLost
from openenv.rollout.breaker import Breaker
from openenv.rollout.pool import EnvPool
from openenv.testing import FaultProxy, Faults
from tests.client.peers import scripted
from tests.client.ways import Ask, talking
from tests.rollout.playing import Play, look, until
from tests.rollout.worlds import Soldier
from tests.serving import serving


@pytest.mark.parametrize(
    ("size", "sockets", "connections"), [(1, None, 1), (64, None, 1), (6, 2, 2), (2, 5, 2)]
)
def test_a_step_of_many_slots_is_one_message_each_way(
    colour: str, url: str, size: int, sockets: int | None, connections: int
) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        before = proxy.counts.frames
        assert proxy.counts.connections == connections
        batch = await ask(pool.step([f"go{slot}" for slot in range(size)]))
        assert look(batch, "word") == [f"go{slot}" for slot in range(size)]
        after = proxy.counts.frames
        assert {way: after[way] - before[way] for way in after} == {
            "to_server": connections,
            "to_client": connections,
        }

    with FaultProxy(url) as proxy:
        Play(colour, proxy.url).run(talk, size=size, sockets=sockets)


def test_more_slots_have_more_connections(url: str) -> None:
    pools = [EnvPool(url, size) for size in (64, 65, 128, 129)]
    assert [len(pool._scheduler._lanes) for pool in pools] == [1, 2, 2, 3]
    assert len(EnvPool([url] * 3, 200)._scheduler._lanes) == 6


def test_a_connection_that_is_cut_is_a_slow_step(colour: str, url: str) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        sessions = look(await ask(pool.reset()), "session")
        for step in range(1, 6):
            proxy.cut(reset=step % 2 == 0)
            batch = await ask(pool.step(["go"] * 4))
            assert look(batch, "step") == [step] * 4
            assert look(batch, "session") == sessions
        assert (pool.metrics.faults, pool.metrics.restarts) == (0, 0)

    with FaultProxy(url) as proxy:
        Play(colour, proxy.url).run(talk)


def test_a_connection_that_is_cut_while_steps_run(colour: str, url: str, tmp_path: Path) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        await ask(pool.send([f"stay {tmp_path}/0", "go", f"stay {tmp_path}/2"], [0, 1, 2]))
        await until(colour, lambda: all((tmp_path / mark).exists() for mark in "02"))
        proxy.cut()
        (tmp_path / "go").touch()
        batch = await ask(pool.recv())
        assert sorted(batch.slots) == [0, 1, 2]
        assert look(batch, "step") == [1, 1, 1]
        assert look(await ask(pool.step(["go"] * 4)), "step") == [2, 2, 2, 1]

    with FaultProxy(url) as proxy:
        Play(colour, proxy.url).run(talk)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("colour", "how"), [("blocking", "step"), ("awaiting", "send")])
def test_no_step_is_lost_or_repeated_whatever_happens_to_frames(
    colour: str, url: str, how: str
) -> None:
    faults = Faults(
        swallow=0.005, delay=0.05, duplicate=0.05, cut_before=0.02, cut_after=0.02, cut_inside=0.02
    )
    chance = random.Random(3)
    due = {slot: (1, 0) for slot in range(8)}

    def check(batch: Any) -> None:
        for slot, sight in zip(batch.slots.tolist(), batch.observations, strict=True):
            assert sight is not None, batch.errors
            assert (sight.episode, sight.step) == due[slot]

    def order(slot: int) -> str:
        episode, step = due[slot]
        word = chance.choice(["go", "go", "end"])
        due[slot] = (episode + 1, 0) if over.pop(slot, False) else (episode, step + 1)
        if word == "end" and due[slot][1]:
            over[slot] = True
        return word

    over: dict[int, bool] = {}

    async def talk(pool: Any, ask: Ask) -> None:
        batch = await ask(pool.reset())
        check(batch)
        for _ in range(40):
            orders = [order(slot) for slot in batch.slots.tolist()]
            if how == "step":
                batch = await ask(pool.step(orders, slots=batch.slots))
            else:
                await ask(pool.send(orders, batch.slots))
                batch = await ask(pool.recv(chance.randint(1, 8)))
            check(batch)
        assert (pool.metrics.faults, pool.metrics.restarts) == (0, 0)
        assert proxy.counts.disturbed > 5

    with FaultProxy(url, faults, seed=11) as proxy:
        Play(colour, proxy.url).run(talk, size=8)


def test_a_message_that_is_too_large_is_its_slots_error(colour: str, protocol: str | None) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        batch = await ask(pool.step(["go", "x" * 3000, "go"]))
        assert batch.valid.tolist() == [True, False, True]
        assert isinstance(batch.errors[1], MessageTooLarge)
        steps = look(await ask(pool.step(["go"] * 3)), "step")
        assert steps == [2, 0 if protocol == "v1" else 1, 2]  # v1 loses the session

    with serving(Soldier, limits=Limits(max_message_bytes=2000)) as served:
        Play(colour, f"http://127.0.0.1:{served.port}", protocol).run(talk, size=3)


def test_a_session_that_has_expired_is_begun_again(colour: str, protocol: str | None) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        await until(colour, lambda: served.openenv.active_sessions == 0)
        batch = await ask(pool.step(["go"] * 3))
        assert not batch.valid.any()
        assert protocol == "v1" or {type(error) for error in batch.errors} == {SessionLost}
        assert look(await ask(pool.step(["go"] * 3)), "step") == [0] * 3
        assert pool.metrics.restarts == 3

    with serving(Soldier, limits=Limits(idle_timeout=0.2)) as served:
        Play(colour, f"http://127.0.0.1:{served.port}", protocol).run(talk, size=3)


def test_a_server_that_knows_only_v1_has_a_connection_for_each_slot(colour: str) -> None:
    connections = []

    def speak_v1(connection: ServerConnection) -> None:
        connections.append(connection)
        for step, frame in enumerate(connection):
            if json.loads(frame)["type"] == "close":
                return
            data = {"observation": {"step": step}, "reward": None, "done": False}
            connection.send(json.dumps({"type": "observation", "data": data}))

    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        assert len(connections) == 1 + 3  # the first one asked what is spoken
        for step in (1, 2):
            batch = await ask(pool.step([{}] * 3))
            assert batch.stacked["step"].tolist() == [step] * 3

    with scripted(speak_v1) as address:
        talking(colour, talk, EnvPool(address, 3))


def test_json_can_be_asked_for(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        assert look(await ask(pool.step(["go"] * 4)), "step") == [1] * 4

    play.run(talk, protocol="v2+json")


async def test_a_server_that_is_gone_is_not_tried_for_long() -> None:
    breaker, now, attempts = Breaker(), [0.0], []

    async def slowly() -> None:
        attempts.append(now[0])
        now[0] += 2.0
        raise ConnectFailed("nobody", worth_retrying=True)

    async def at_last() -> str:
        return "connected"

    breaker.clock = lambda: now[0]
    for expected in (True, True):
        with pytest.raises(ConnectFailed) as caught:
            await breaker.attempt(slowly)
        assert caught.value.worth_retrying is expected
    breaker.trip()
    with pytest.raises(ConnectFailed):
        await breaker.attempt(slowly)
    assert len(attempts) == 2, "it rests"
    now[0] += 20.0
    with pytest.raises(ConnectFailed) as caught:
        await breaker.attempt(slowly)
    assert not caught.value.worth_retrying
    now[0] += 20.0
    assert await breaker.attempt(at_last) == "connected"
    with pytest.raises(ConnectFailed) as caught:
        await breaker.attempt(slowly)
    assert caught.value.worth_retrying
