"""Sessions that end because nobody uses them, or because their server stops."""

import asyncio

import pytest

from openenv.protocol.errors import (
    SessionCreationError,
    SessionError,
)
from openenv.runtime.sessions import Sessions
from tests.runtime.seats import happened, serving, step, turn, until
from tests.runtime.worlds import Gated, World


class FakeClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def look(sessions: Sessions) -> None:
    """Has the reaper look now instead of after its nap."""
    sessions._reaper._round()
    await turn()


class TestReaper:
    async def test_an_idle_session_ends_and_its_client_is_told(self) -> None:
        clock = FakeClock()
        told: list[SessionError] = []
        async with serving(World, "inline", clock=clock, unattached_timeout=30.0) as sessions:
            seat = await sessions.open("mine")
            seat.on_close(told.append)
            clock.now += 29
            await look(sessions)
            assert seat.is_open
            clock.now += 1
            await look(sessions)
            assert (sessions.active, told[0].code) == (0, "SESSION_ERROR")
            assert told[0].details == {"session_id": "mine", "idle_timeout_s": 30.0}

    async def test_it_looks_by_itself(self) -> None:
        async with serving(World, "inline", unattached_timeout=0.02) as sessions:
            await sessions.open()
            await until(lambda: sessions.active == 0)
            await sessions.open()
            await until(lambda: sessions.active == 0)

    async def test_the_idle_clock_starts_after_the_answer(self) -> None:
        clock, env = FakeClock(), Gated.fresh()
        async with serving(env, "thread", clock=clock, unattached_timeout=30.0) as sessions:
            seat = await sessions.open()
            slow = asyncio.ensure_future(step(seat, "go", True))
            await happened(env.entered)
            clock.now += 3000
            await look(sessions)
            assert seat.is_open
            env.gate.set()
            assert (await slow).value == "go"
            clock.now += 29
            await look(sessions)
            assert seat.is_open
            clock.now += 1
            await look(sessions)
            assert not seat.is_open

    async def test_one_that_starts_is_not_idle(self) -> None:
        class Slow(Gated):
            def __init__(self) -> None:
                self.entered.set()
                assert self.gate.wait(15)
                super().__init__()

        clock, env = FakeClock(), Slow.fresh()
        async with serving(env, "thread", clock=clock, unattached_timeout=30.0) as sessions:
            opening = asyncio.ensure_future(sessions.open())
            await happened(env.entered)
            clock.now += 3000
            await look(sessions)
            env.gate.set()
            seat = await opening
            await look(sessions)
            assert seat.is_open

    async def test_steps_keep_a_session_and_other_sessions_do_not(self) -> None:
        clock = FakeClock()
        async with serving(World, "inline", clock=clock, unattached_timeout=30.0) as sessions:
            used, unused = await sessions.open(), await sessions.open()
            for _ in range(3):
                clock.now += 20
                await step(used, "echo")
                await look(sessions)
            assert used.is_open
            assert not unused.is_open

    async def test_one_that_a_socket_holds_has_no_limit_unless_asked_for(self) -> None:
        clock = FakeClock()
        async with serving(World, "inline", clock=clock) as sessions:
            attached = await sessions.open(attached=True)
            clock.now += 1e9
            await look(sessions)
            assert attached.is_open
        async with serving(World, "inline", clock=clock, idle_timeout=30.0) as sessions:
            attached = await sessions.open(attached=True)
            clock.now += 30
            await look(sessions)
            assert not attached.is_open


class TestDrain:
    async def test_running_calls_end_and_nothing_more_begins(self) -> None:
        env = Gated.fresh()
        async with serving(env, "thread", capacity=1) as sessions:
            seat = await sessions.open()
            waiting = asyncio.ensure_future(sessions.open(wait_s=60))
            slow = asyncio.ensure_future(step(seat, "go", True))
            await happened(env.entered)
            draining = asyncio.ensure_future(sessions.drain())
            with pytest.raises(SessionCreationError, match="stopping"):
                await waiting
            with pytest.raises(SessionCreationError):
                await sessions.open()
            assert not draining.done()
            env.gate.set()
            await draining
            await turn()
            assert slow.result().value == "go"

    async def test_it_waits_only_for_the_grace(self) -> None:
        env = Gated.fresh()
        async with serving(env, "thread", drain_grace=0.02) as sessions:
            seat = await sessions.open()
            slow = asyncio.ensure_future(step(seat, "go", True))
            await happened(env.entered)
            await sessions.drain()
            assert asyncio.all_tasks() == {asyncio.current_task(), slow}
            env.gate.set()
            await slow

    async def test_an_idle_server_is_drained_at_once(self) -> None:
        async with serving(World, "inline", drain_grace=3600) as sessions:
            await sessions.open()
            await sessions.drain()

    async def test_one_that_starts_while_the_server_ends_does_not_come_back(self) -> None:
        class Slow(Gated):
            def __init__(self) -> None:
                self.entered.set()
                assert self.gate.wait(15)
                super().__init__()

        env = Slow.fresh()
        async with serving(env, "thread") as sessions:
            opening = asyncio.ensure_future(sessions.open())
            await happened(env.entered)
            closing = asyncio.ensure_future(sessions.close_all())
            await turn()
            env.gate.set()
            await closing
            with pytest.raises(SessionCreationError):
                await opening
            assert sessions.active == 0
        assert env.log == ["made", "closed"]
