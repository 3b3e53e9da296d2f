"""How a pool begins: on one server or several, full ones, and some that are not there."""

import re
import threading
from typing import Any

import pytest

from openenv import (
    ConnectFailed,
    EnvironmentFailed,
    GenericEnvClient,
    ResetRequired,
    SessionCapacityError,
)
from openenv.rollout.pool import EnvPool
from tests.client.ways import Ask, talking
from tests.rollout.playing import Play, look
from tests.rollout.worlds import Soldier, SoldierClient
from tests.serving import Served, eventually, serving

NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def pair() -> Any:
    """Two servers of four sessions each."""
    with serving(Soldier, max_concurrent_envs=4) as a, serving(Soldier, max_concurrent_envs=4) as b:
        yield a, b


def address(served: Served) -> str:
    return f"http://127.0.0.1:{served.port}"


def test_a_server_with_too_few_slots_refuses_the_first_reset(colour: str, pair: Any) -> None:
    small, _ = pair

    async def talk(pool: Any, ask: Ask) -> None:
        for _ in range(2):
            with pytest.raises(SessionCapacityError, match="wants 6 sessions of") as caught:
                await ask(pool.reset())
            assert (caught.value.active_sessions, caught.value.max_sessions) == (4, 4)
            assert address(small) in str(caught.value)
            assert small.openenv.active_sessions == 0, "a pool that did not begin holds nothing"
        with pytest.raises(ResetRequired):
            await ask(pool.step(["go"] * 6))

    talking(colour, talk, EnvPool(address(small), 6, SoldierClient))


def test_a_pool_queues_for_slots_if_it_is_told_to(colour: str, pair: Any) -> None:
    small, _ = pair

    async def talk(pool: Any, ask: Ask) -> None:
        with GenericEnvClient(base_url=address(small)).sync() as other:
            other.reset()
            leaving = threading.Timer(0.1, other.close)
            leaving.start()
            assert (await ask(pool.reset())).valid.all()
            leaving.join()

    talking(colour, talk, EnvPool(address(small), 4, SoldierClient, wait_s=10.0))


@pytest.mark.parametrize(("size", "shares"), [(7, (3, 4)), (2, (1, 1)), (8, (4, 4))])
def test_slots_are_spread_over_servers(
    colour: str, pair: Any, size: int, shares: tuple[int, int]
) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        batch = await ask(pool.reset(0))
        assert look(batch, "seed") == list(range(size))
        assert tuple(served.openenv.active_sessions for served in pair) == shares
        batch = await ask(pool.step([f"go{slot}" for slot in range(size)]))
        assert look(batch, "word") == [f"go{slot}" for slot in range(size)]
        assert pool.urls == tuple(map(address, pair))

    talking(colour, talk, EnvPool([address(served) for served in pair], size, SoldierClient))


def test_a_server_that_is_not_there_is_the_fault_of_its_slots(colour: str, url: str) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        batch = await ask(pool.reset())
        assert batch.valid.tolist() == [True, True, False, False]
        assert all(isinstance(error, ConnectFailed) for error in batch.errors[2:])
        batch = await ask(pool.step(["go"] * 4))
        assert look(batch, "step") == [1, 1, None, None]

    talking(colour, talk, EnvPool([url, NOBODY], 4, SoldierClient))


def test_where_nobody_is_the_first_reset_raises(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        with pytest.raises(ConnectFailed, match=re.escape("127.0.0.1:9")):
            await ask(pool.reset())

    play.run(talk, urls=NOBODY)


def test_where_no_episode_begins_the_first_reset_raises(play: Play, soldiers: Served) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        with pytest.raises(EnvironmentFailed, match="does not begin"):
            await ask(pool.reset(refuse=True))
        assert soldiers.openenv.active_sessions == 0
        assert (await ask(pool.reset())).valid.all()

    play.run(talk)


def test_a_slot_that_was_never_reset_cannot_be_stepped(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset(slots=[0, 2]))
        with pytest.raises(ResetRequired, match=r"slots \[1, 3\]"):
            await ask(pool.step(["go"] * 4))
        assert look(await ask(pool.step(["go"] * 2, slots=[2, 0])), "step") == [1, 1]

    play.run(talk)


def test_a_pool_in_the_place_of_another(url: str, soldiers: Served) -> None:
    for _ in range(3):
        with EnvPool(url, 64, SoldierClient) as pool:
            assert pool.reset().valid.all()
        assert soldiers.openenv.active_sessions == 0
    eventually(lambda: soldiers.openenv.active_sessions == 0)
