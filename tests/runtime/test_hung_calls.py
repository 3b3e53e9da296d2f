"""Calls that do not return: who is told, what is stopped, and what is still counted."""

import asyncio
import threading
from typing import Any, ClassVar

import pytest

from openenv.env.environment import HostKind
from openenv.protocol.errors import StepTimeout
from tests.runtime.seats import ask, happened, reset, serving, step, until
from tests.runtime.worlds import AsyncGated, Do, Gated, Seen, World

KINDS: list[HostKind] = ["inline", "thread", "process", "sandbox"]


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
