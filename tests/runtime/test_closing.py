"""How sessions and their server end."""

import asyncio
import threading

import pytest

from openenv.env.environment import HostKind
from openenv.env.spec import EnvSpec
from openenv.protocol.messages import Request
from openenv.runtime.limits import Limits
from openenv.runtime.sessions import Sessions
from tests.runtime.seats import happened, serving, step, until
from tests.runtime.worlds import AsyncGated, AsyncWorld, Do, Gated, Seen, World

KINDS: list[HostKind] = ["inline", "thread", "process", "sandbox"]


class TestClosing:
    @pytest.mark.parametrize("kind", ["inline", "thread"])
    async def test_a_running_call_ends_before_the_environment_is_closed(
        self, kind: HostKind
    ) -> None:
        env = (AsyncGated if kind == "inline" else Gated).fresh()
        async with serving(env, kind) as sessions:
            seat = await sessions.open()
            running = asyncio.ensure_future(step(seat, "go", True))
            await happened(env.entered)
            closing = asyncio.ensure_future(seat.close())
            await asyncio.sleep(0)
            env.gate.set()
            await closing
            answer = await running
        assert answer.type in ("observation", "error")
        assert env.log == ["made", "go", "go ended", "closed"]

    async def test_what_is_still_awaited_is_given_up(self) -> None:
        env = AsyncGated.fresh()
        async with serving(env, close_grace=3600) as sessions:
            seat = await sessions.open()
            running = asyncio.ensure_future(step(seat, "go", True))
            await happened(env.entered)
            await seat.close()
            assert (await running).code == "SESSION_ERROR"
        assert env.log == ["made", "go", "go ended", "closed"]

    @pytest.mark.parametrize("kind", KINDS)
    async def test_a_closed_seat_answers_that_it_is(self, kind: HostKind) -> None:
        async with serving(World, kind) as sessions:
            seat = await sessions.open()
            await seat.close()
            answer = await step(seat, "echo")
            assert (answer.code, answer.ends_session) == ("SESSION_ERROR", True)
            await seat.close()
            assert sessions.active == 0

    async def test_an_environment_that_will_not_close(self) -> None:
        env = Gated.fresh()

        class Unclosable(World):
            def close(self) -> None:
                assert env.gate.wait(15)

        async with serving(Unclosable, "thread", close_grace=0.05) as sessions:
            seat = await sessions.open()
            await seat.close()
            assert sessions.active == 1
            env.gate.set()
            await until(lambda: sessions.active == 0)

    async def test_a_server_that_ends_waits_for_hung_threads_only_for_the_grace(self) -> None:
        env = Gated.fresh()
        sessions = Sessions(EnvSpec.of(env, Do, Seen), Limits(close_grace=0.05, step_timeout=0.05))
        seats = [await sessions.open() for _ in range(3)]
        await asyncio.gather(*(step(seat, "go", True) for seat in seats))
        running = await sessions.open()
        unanswered = asyncio.ensure_future(running.ask(Request("step", {"what": "x", "arg": True})))
        await asyncio.sleep(0)
        await sessions.close_all()
        assert sessions.active == 0
        others = asyncio.all_tasks() - {asyncio.current_task(), unanswered}
        assert others == set()
        env.gate.set()
        await unanswered


def test_no_task_is_left_when_a_loop_ends_with_hung_threads() -> None:
    """Without `asyncio.run`, which would cancel what is left."""
    env = Gated.fresh()

    async def life() -> None:
        sessions = Sessions(EnvSpec.of(env, Do, Seen), Limits(close_grace=0.05, step_timeout=0.05))
        await step(await sessions.open(), "go", True)
        await sessions.close_all()

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(life())
        assert asyncio.all_tasks(loop) == set()
    finally:
        loop.close()
        env.gate.set()


class TestSharedInstance:
    async def test_one_session_at_a_time_and_closed_with_the_server(self) -> None:
        env = Gated.fresh()
        env.gate.set()
        instance = env()
        async with serving(instance) as sessions:
            assert sessions.capacity == 1
            for n in range(3):
                seat = await sessions.open()
                assert (await step(seat, f"{n}")).value == f"{n}"
                await seat.close()
            assert "closed" not in env.log
        assert env.log.count("closed") == 1

    async def test_it_closes_on_the_thread_that_its_calls_ran_on(self) -> None:
        closed = []

        class Threaded(World):
            def close(self) -> None:
                closed.append(threading.get_ident())

        async with serving(Threaded(), "thread") as sessions:
            thread = (await step(await sessions.open(), "thread")).value
        assert closed == [thread]

    async def test_one_that_will_not_close_holds_up_no_server(self) -> None:
        env = Gated.fresh()

        class Unclosable(World):
            def close(self) -> None:
                assert env.gate.wait(15)

        async with serving(Unclosable(), "thread", close_grace=0.05) as sessions:
            await sessions.open()
        env.gate.set()

    async def test_an_awaited_close(self) -> None:
        closed = []

        class Closing(AsyncWorld):
            async def close(self) -> None:  # type: ignore[override]
                await asyncio.sleep(0)
                closed.append(1)

        async with serving(Closing()):
            pass
        assert closed == [1]

    async def test_a_close_that_fails_is_only_logged(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        class Closing(World):
            def close(self) -> None:
                raise OSError("device busy")

        async with serving(Closing()):
            pass
        assert "Closing.close() failed" in caplog.text
