"""Where environments live: on which thread, how many calls at once, what a hung one does."""

import asyncio
import os
import threading
from typing import Any

import pytest

from openenv.env.environment import HostKind
from openenv.protocol.errors import EnvironmentFactoryError, SessionCreationError
from openenv.protocol.wire import ServerMode
from tests.runtime import worlds
from tests.runtime.seats import ask, happened, reset, serving, step, until
from tests.runtime.worlds import AsyncGated, AsyncWorld, Do, Gated, Seen, World

KINDS: list[HostKind] = ["inline", "thread", "process", "sandbox"]


class Counted:
    """A factory that counts how often it is pickled."""

    pickled = 0

    def __call__(self) -> World:
        return World()

    def __reduce__(self) -> tuple[type["Counted"], tuple[()]]:
        Counted.pickled += 1
        return Counted, ()


@pytest.mark.parametrize("kind", ["process", "sandbox"])
async def test_another_mode_is_prepared_for_no_second_time(kind: HostKind) -> None:
    Counted.pickled = 0
    async with serving(Counted(), kind) as sessions:
        sessions.hosts.turn_to(ServerMode.PRODUCTION)
        seat = await sessions.open()
        fault = await step(seat, "fail", "the answer is 42")
        assert "incident" in fault.data
        assert "42" not in str(fault.data)
    assert Counted.pickled == 1


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
