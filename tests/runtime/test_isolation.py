"""What one session does is nothing to another, and nothing is left of it."""

import asyncio
import gc
import sys
from typing import Any

import pytest

from openenv.env.environment import HostKind
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions
from tests.runtime.seats import ask, reset, serving, step
from tests.runtime.worlds import Walk, World


async def walk(sessions: Sessions, seed: int) -> list[int]:
    """One seeded episode, other sessions' turns between its steps."""
    seat = await sessions.open()
    await reset(seat, seed=seed)
    done = False
    while not done:
        await asyncio.sleep(0)
        answer = await step(seat, "go", 1)
        done = answer.data["done"]
    await seat.close()
    path: list[int] = answer.value
    return path


class TestSeeds:
    @pytest.mark.parametrize("kind", ["inline", "thread", "process", "sandbox"])
    async def test_concurrency_does_not_change_seeded_episodes(self, kind: HostKind) -> None:
        async with serving(Walk, kind) as sessions:
            alone = [await walk(sessions, seed) for seed in range(8 if kind == "process" else 50)]
            together: list[list[int]] = []
            for first in range(0, len(alone), 8):
                seeds = range(first, min(first + 8, len(alone)))
                together += await asyncio.gather(*(walk(sessions, seed) for seed in seeds))
        assert together == alone
        assert len({tuple(path) for path in alone}) == len(alone)

    async def test_processes_have_even_their_global_generators_to_themselves(self) -> None:
        async with serving(World, "process") as sessions:
            seats = await asyncio.gather(*(sessions.open() for _ in range(3)))
            await asyncio.gather(*(step(seat, "seed", 7) for seat in seats))
            for _ in range(3):
                drawn = await asyncio.gather(*(step(seat, "draw") for seat in seats))
                assert len({answer.value for answer in drawn}) == 1


class TestIsolation:
    @pytest.mark.parametrize("kind", ["inline", "thread", "process", "sandbox"])
    async def test_two_sessions_share_nothing(self, kind: HostKind) -> None:
        class Remembers(World):
            def keep(self, arg: Any) -> Any:
                self.__dict__.setdefault("kept", []).append(arg)
                return self.__dict__["kept"]

        env = World if kind in ("process", "sandbox") else Remembers
        async with serving(env, kind) as sessions:
            easy, hard = await sessions.open(), await sessions.open()
            await reset(easy, episode_id="easy")
            await reset(hard, episode_id="hard")
            for n in range(20):
                if env is Remembers:
                    assert (await step(easy, "keep", n)).value == list(range(n + 1))
                    assert (await step(hard, "keep", -n)).value == [-m for m in range(n + 1)]
                else:
                    await step(easy, "echo")
                await step(hard, "echo")
            for seat, name, count in ((easy, "easy", 20), (hard, "hard", 0)):
                state = (await ask(seat, "state")).data
                assert state["episode_id"] == name
                assert state["step_count"] >= count


async def test_a_thousand_sessions_leave_nothing_behind() -> None:
    class Fleeting(World):
        pass

    others = {id(thing) for thing in gc.get_objects() if type(thing) is Seat}  # of other tests
    async with serving(Fleeting, "inline", capacity=1000) as sessions:
        for _ in range(2):
            seats = [await sessions.open() for _ in range(1000)]
            assert sessions.active == 1000
            for seat in seats:
                assert (await step(seat, "echo", 1)).value == 1
            await asyncio.gather(*(seat.close() for seat in seats))
            assert sessions.active == 0
        del seats, seat
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        assert not tasks
        gc.collect()
        left = [thing for thing in gc.get_objects() if type(thing) in (Seat, Fleeting)]
        assert [thing for thing in left if id(thing) not in others] == []
        assert sys.getrefcount(sessions) < 20
