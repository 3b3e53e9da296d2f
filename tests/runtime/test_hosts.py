"""Where environments live: on which thread, how many calls at once, what a hung one does."""

import asyncio
import os
import threading
from typing import Any, ClassVar

import pytest

from openenv.env.environment import HostKind
from openenv.env.spec import EnvSpec
from openenv.protocol.errors import EnvironmentFactoryError, SessionCreationError, StepTimeout
from openenv.protocol.messages import Request
from openenv.runtime.limits import Limits
from openenv.runtime.sessions import Sessions
from tests.runtime import worlds
from tests.runtime.seats import ask, happened, reset, serving, step, until
from tests.runtime.worlds import AsyncGated, AsyncWorld, Do, Gated, Seen, World

KINDS: list[HostKind] = ["inline", "thread", "process"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("env", [World, AsyncWorld])
async def test_every_kind_of_environment_in_every_kind_of_host(
    env: type[World], kind: HostKind
) -> None:
    async with serving(env, kind) as sessions:
        seat = await sessions.open()
        assert (await reset(seat, seed=1, x=[None])).value == {"seed": 1, "x": [None]}
        assert (await step(seat, "echo", {"deep": ["ü", 1.5]})).value == {"deep": ["ü", 1.5]}
        assert (await step(seat, "fail", "no")).code == "EXECUTION_ERROR"
        assert (await step(seat, "unsendable", "lock")).code == "EXECUTION_ERROR"
        assert (await ask(seat, "step", {})).code == "VALIDATION_ERROR"
        state = await ask(seat, "state")
        assert (state.type, state.data["step_count"]) == ("state", 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arg", ["exit", "fatal", "stop", "unspeakable", "surrogate", "huge"])
async def test_whatever_an_environment_raises_its_session_lives(kind: HostKind, arg: str) -> None:
    async with serving(World, kind) as sessions:
        seat = await sessions.open()
        answer = await step(seat, "fail_badly", arg)
        assert (answer.code, answer.ends_session) == ("EXECUTION_ERROR", False)
        assert (await step(seat, "echo", 1)).value == 1


@pytest.mark.parametrize("env", [World, AsyncWorld])
@pytest.mark.parametrize("arg", ["interrupt", "cancelled", "generator"])
async def test_an_environment_cannot_interrupt_its_server(env: type[World], arg: str) -> None:
    async with serving(env, "thread") as sessions:
        seat, other = await sessions.open(), await sessions.open()
        answer = await step(seat, "fail_badly", arg)
        assert answer.type == "error"
        assert (await step(other, "echo", 1)).value == 1


@pytest.mark.expects_error_log
@pytest.mark.parametrize("arg", ["cancelled", "generator"])
async def test_an_async_environment_cannot_cancel_its_server(arg: str) -> None:
    async with serving(AsyncWorld) as sessions:
        seat, other = await sessions.open(), await sessions.open()
        assert (await step(seat, "fail_badly", arg)).type == "error"
        assert (await step(other, "echo", 1)).value == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("env", "says"),
    [
        (worlds.Raises, "ValueError: cannot be built"),
        (worlds.Exits, r"sys.exit\(3\)"),
        (worlds.Panics, "panic"),
    ],
)
async def test_a_constructor_that_fails_is_told_and_leaks_no_slot(
    kind: HostKind, env: type[World], says: str
) -> None:
    async with serving(env, kind, capacity=1) as sessions:
        for _ in range(2):
            with pytest.raises(EnvironmentFactoryError, match=says):
                await sessions.open()
            await until(lambda: sessions.active == 0)


async def test_a_factory_that_makes_no_environment_is_told() -> None:
    def makes_nothing() -> Any:
        return 3

    for kind in ("inline", "thread"):
        async with serving(makes_nothing, kind) as sessions:
            with pytest.raises(EnvironmentFactoryError, match="must give an Environment, got int"):
                await sessions.open()


@pytest.mark.parametrize("kind", ["thread", "process"])
async def test_a_machine_that_has_no_room_for_one_more(
    kind: HostKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError("no room")

    async with serving(World, kind, capacity=1) as sessions:
        with monkeypatch.context() as full:
            full.setattr(threading.Thread, "start", refuse)
            full.setattr(asyncio, "create_subprocess_exec", refuse)
            with pytest.raises(SessionCreationError, match="no room"):
                await sessions.open()
            await until(lambda: sessions.active == 0)
        assert (await step(await sessions.open(), "echo", 1)).value == 1


class TestThreads:
    async def test_one_thread_for_the_whole_life(self) -> None:
        env = Gated.fresh()
        async with serving(env, "thread") as sessions:
            seats = [await sessions.open() for _ in range(3)]
            for seat in seats * 2:
                await reset(seat)
                await step(seat, "go")
                await ask(seat, "state")
        assert env.log.count("closed") == 3
        assert len(env.threads) == 3
        used = {thread for _, thread in env.threads}
        assert threading.get_ident() not in used
        assert len(used) == 3

    async def test_inline_means_the_loops_thread(self) -> None:
        env = AsyncGated.fresh()
        async with serving(env) as sessions:
            seat = await sessions.open()
            await reset(seat)
            await step(seat, "go")
        assert {thread for _, thread in env.threads} == {threading.get_ident()}
        assert "closed" in env.log

    async def test_an_async_environment_on_a_thread_keeps_one_loop(self) -> None:
        class Looping(AsyncWorld):
            async def reset_async(self, **options: Any) -> Seen:
                self.loop = asyncio.get_running_loop()
                self.lock = asyncio.Lock()
                return Seen()

            async def step_async(self, action: Do) -> Seen:
                async with self.lock:
                    return Seen(value=self.loop is asyncio.get_running_loop())

        async with serving(Looping, "thread") as sessions:
            seat = await sessions.open()
            await reset(seat)
            for _ in range(2):
                assert (await step(seat, "x")).value is True

    async def test_tasks_that_an_async_environment_leaves_end_with_it(self) -> None:
        ended = threading.Event()

        class Leaving(AsyncWorld):
            async def reset_async(self, **options: Any) -> Seen:
                self.task = asyncio.ensure_future(self._watch())
                await asyncio.sleep(0)
                return Seen()

            async def _watch(self) -> None:
                try:
                    await asyncio.Event().wait()
                finally:
                    ended.set()

        async with serving(Leaving, "thread") as sessions:
            seat = await sessions.open()
            await reset(seat)
            await seat.close()
            await happened(ended)

    async def test_one_thread_for_all_where_a_class_asks_for_it(self) -> None:
        class OneThread(Gated):
            REQUIRES_SINGLE_THREAD_EXECUTOR = True

        env = OneThread.fresh()
        async with serving(env) as sessions:
            seats = [await sessions.open() for _ in range(3)]
            await asyncio.gather(*(step(seat, "go", None) for seat in seats))
            await seats[0].close()
            late = await sessions.open()
            await step(late, "go")
        (used,) = {thread for _, thread in env.threads}
        assert used != threading.get_ident()
        assert env.most_inside == 1

    async def test_threads_end_with_their_sessions(self) -> None:
        before = set(threading.enumerate())
        async with serving(World, "thread") as sessions:
            for _ in range(20):
                seat = await sessions.open()
                await step(seat, "echo")
                await seat.close()
        await until(lambda: set(threading.enumerate()) <= before)


class TestOneCallAtATime:
    @pytest.mark.parametrize(("base", "kind"), [(Gated, "thread"), (AsyncGated, "inline")])
    async def test_many_tasks_on_one_seat(self, base: type[Gated], kind: HostKind) -> None:
        env = base.fresh()
        env.gate.set()
        async with serving(env, kind) as sessions:
            seat = await sessions.open()
            answers = await asyncio.gather(*(step(seat, f"{n}", True) for n in range(30)))
        assert [answer.value for answer in answers] == [str(n) for n in range(30)]
        assert env.most_inside == 1

    @pytest.mark.parametrize(("base", "kind"), [(Gated, "thread"), (AsyncGated, "inline")])
    async def test_a_caller_that_leaves_does_not_let_the_next_one_in(
        self, base: type[Gated], kind: HostKind
    ) -> None:
        env = base.fresh()
        async with serving(env, kind) as sessions:
            seat = await sessions.open()
            first = asyncio.ensure_future(step(seat, "first", True))
            await happened(env.entered)
            first.cancel()
            second = asyncio.ensure_future(step(seat, "second", False))
            await asyncio.wait([first])
            env.gate.set()
            assert (await second).value == "second"
        assert env.most_inside == 1
        assert env.log == ["made", "first", "first ended", "second", "second ended", "closed"]

    async def test_processes_answer_each_in_turn(self) -> None:
        async with serving(World, "process") as sessions:
            seat = await sessions.open()
            answers = await asyncio.gather(*(step(seat, "echo", n) for n in range(30)))
            assert [answer.value for answer in answers] == list(range(30))

    async def test_a_caller_of_a_process_that_leaves_shifts_no_answers(self) -> None:
        async with serving(World, "process") as sessions:
            seat = await sessions.open()
            for n in range(10):
                leaver = asyncio.ensure_future(step(seat, "echo", "left"))
                for _ in range(n):
                    await asyncio.sleep(0)
                leaver.cancel()
                assert (await step(seat, "echo", n)).value == n


class TestHungCalls:
    @pytest.mark.parametrize("op", ["step", "reset"])
    async def test_a_thread_that_hangs_keeps_its_seat_until_it_returns(self, op: str) -> None:
        env = Gated.fresh()
        limits: dict[str, Any] = {f"{op}_timeout": 0.05, "capacity": 2, "close_grace": 0.05}
        async with serving(env, "thread", **limits) as sessions:
            seat, other = await sessions.open(), await sessions.open()
            hung = await (step(seat, "go", True) if op == "step" else reset(seat, wait=True))
            assert (hung.code, hung.ends_session) == ("STEP_TIMEOUT", True)
            assert hung.data["timeout_s"] == 0.05
            assert (await step(seat, "more")).code == "SESSION_ERROR"
            await seat.close()
            assert sessions.active == 2
            assert (await step(other, "other")).value == "other"
            env.gate.set()
            await until(lambda: sessions.active == 1)
            assert env.log.count("closed") == 1
            assert (await step(other, "other")).value == "other"

    async def test_what_a_hung_call_still_does_reaches_no_other_session(self) -> None:
        class Late(Gated):
            def step(self, action: Do) -> Seen:
                if action.what == "late":
                    super().step(Do(what="late", arg=True))
                self.mine = action.what
                return Seen(value=self.mine)

        env = Late.fresh()
        async with serving(env, "thread", step_timeout=0.05) as sessions:
            seat = await sessions.open()
            assert (await step(seat, "late")).code == "STEP_TIMEOUT"
            other = await sessions.open()
            assert (await step(other, "own")).value == "own"
            env.gate.set()
            await until(lambda: sessions.active == 1)
            state = await ask(other, "state")
            assert (state.type, (await step(other, "own")).value) == ("state", "own")

    async def test_what_an_async_environment_awaits_is_cancelled(self) -> None:
        env = AsyncGated.fresh()
        async with serving(env, step_timeout=0.05) as sessions:
            seat = await sessions.open()
            assert (await step(seat, "go", True)).code == "STEP_TIMEOUT"
            await until(lambda: sessions.active == 0)
        assert env.log == ["made", "go", "go ended", "closed"]

    async def test_an_async_environment_that_will_not_be_cancelled(self) -> None:
        class Stubborn(AsyncGated):
            stubborn = True

        env = Stubborn.fresh()
        async with serving(env, step_timeout=0.05, close_grace=0.05) as sessions:
            seat, other = await sessions.open(), await sessions.open()
            assert (await step(seat, "go", True)).code == "STEP_TIMEOUT"
            await seat.close()
            assert sessions.active == 2
            assert (await step(other, "go", False)).value == "go"
            env.gate.set()
            await until(lambda: sessions.active == 1)

    async def test_the_callers_own_deadline_counts_where_it_is_shorter(self) -> None:
        env = Gated.fresh()
        async with serving(env, "thread", step_timeout=3600) as sessions:
            seat = await sessions.open()
            hung = await ask(seat, "step", {"what": "go", "arg": True}, 0.05)
            assert (hung.code, hung.data["timeout_s"]) == ("STEP_TIMEOUT", 0.05)
            env.gate.set()

    async def test_quick_calls_after_slow_limits_have_their_own_deadline(self) -> None:
        """One timer serves many calls: a later, shorter deadline must not wait for it."""
        env = Gated.fresh()
        async with serving(env, "thread", step_timeout=0.05, reset_timeout=3600) as sessions:
            seat = await sessions.open()
            await reset(seat)
            await step(seat, "quick")
            await reset(seat)
            assert (await step(seat, "go", True)).code == "STEP_TIMEOUT"
            env.gate.set()

    async def test_without_limits_a_call_may_take_its_time(self) -> None:
        env = Gated.fresh()
        async with serving(env, "thread", step_timeout=None, reset_timeout=None) as sessions:
            seat = await sessions.open()
            slow = asyncio.ensure_future(step(seat, "go", True))
            await happened(env.entered)
            env.gate.set()
            assert (await slow).value == "go"

    async def test_a_constructor_that_hangs_on_a_thread(self) -> None:
        class Slow(Gated):
            gates: ClassVar[list[threading.Event]] = []

            def __init__(self) -> None:
                gate = threading.Event()
                self.gates.append(gate)
                assert gate.wait(15)
                super().__init__()

        env = Slow.fresh()
        async with serving(env, "thread", reset_timeout=0.05, capacity=1) as sessions:
            with pytest.raises(StepTimeout):
                await sessions.open()
            assert sessions.active == 1
            Slow.gates[0].set()
            await until(lambda: sessions.active == 0)
        assert env.log == ["made", "closed"]


class TestCancelledOpening:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("turns", range(6))
    async def test_it_leaks_no_slot(self, kind: HostKind, turns: int) -> None:
        async with serving(World, kind, capacity=1) as sessions:
            opening = asyncio.ensure_future(sessions.open())
            for _ in range(turns):
                await asyncio.sleep(0)
            opening.cancel()
            await asyncio.wait([opening])
            if not opening.cancelled():
                await opening.result().close()
            await until(lambda: sessions.active == 0)
            seat = await sessions.open()
            assert (await step(seat, "echo", 1)).value == 1

    async def test_an_environment_that_was_built_for_nobody_is_closed(self) -> None:
        class Slow(Gated):
            def __init__(self) -> None:
                self.entered.set()
                assert self.gate.wait(15)
                super().__init__()

        env = Slow.fresh()
        async with serving(env, "thread") as sessions:
            opening = asyncio.ensure_future(sessions.open())
            await happened(env.entered)
            opening.cancel()
            await asyncio.wait([opening])
            assert sessions.active == 1
            env.gate.set()
            await until(lambda: sessions.active == 0)
        assert env.log == ["made", "closed"]


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
        sessions = Sessions(
            EnvSpec.of(env, Do, Seen), Limits(close_grace=0.05, step_timeout=0.05), environ={}
        )
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
        sessions = Sessions(
            EnvSpec.of(env, Do, Seen), Limits(close_grace=0.05, step_timeout=0.05), environ={}
        )
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


class TestHosting:
    """Who decides where an environment lives."""

    async def test_a_class_asks(self) -> None:
        async with serving(worlds.Imported) as sessions:
            seat = await sessions.open()
            assert (await step(seat, "pid")).value != os.getpid()

    async def test_a_server_decides(self) -> None:
        async with serving(worlds.Imported, "thread") as sessions:
            seat = await sessions.open()
            assert (await step(seat, "pid")).value == os.getpid()
