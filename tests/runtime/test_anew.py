"""Where nothing forks well, each session's process is started anew."""

import asyncio

import pytest

from tests.runtime.families import bearers, marked
from tests.runtime.seats import serving, step, until
from tests.runtime.worlds import World

SLEEP = ["sleep", "600"]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openenv.runtime.nursery.FORKS", False)


async def test_sessions_come_and_go() -> None:
    mark, environ = marked()
    async with serving(World, "process", environ=environ) as sessions:
        seats = await asyncio.gather(*(sessions.open() for _ in range(2)))
        pids = [(await step(seat, "pid")).value for seat in seats]
        assert sorted(bearers(mark)) == sorted(pids)
        crashed = await step(seats[0], "exit_at_once", 7)
        assert (crashed.code, crashed.data["exit_code"]) == ("HOST_CRASHED", 7)
        assert crashed.data["stderr"].endswith("last words\n")
        assert (await step(seats[1], "echo", 1)).value == 1
    await until(lambda: bearers(mark) == [])


async def test_a_call_that_hangs_is_killed_with_all_it_started() -> None:
    mark, environ = marked()
    async with serving(World, "process", environ=environ, step_timeout=0.3) as sessions:
        seat = await sessions.open()
        await step(seat, "spawn", SLEEP)
        assert (await step(seat, "hang")).code == "STEP_TIMEOUT"
        await until(lambda: bearers(mark) == [])
