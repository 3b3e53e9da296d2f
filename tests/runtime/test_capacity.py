"""How many sessions there may be, and who is next."""

import asyncio
import random
from typing import Any, ClassVar

import pytest

from openenv.env.spec import EnvSpec
from openenv.protocol.errors import (
    ConcurrencyConfigurationError,
    ConfigurationError,
    EnvironmentFactoryError,
    SessionCapacityError,
    SessionNotFoundError,
)
from openenv.protocol.messages import Request
from openenv.runtime.capacity import ServerCapacityStatus
from openenv.runtime.hosts import Housing
from openenv.runtime.limits import Limits
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions, check_capacity
from tests.runtime.seats import happened, serving, step, turn, until
from tests.runtime.worlds import Do, Gated, Seen, World


async def test_a_full_server_says_how_full_it_is() -> None:
    async with serving(World, "inline", capacity=2) as sessions:
        seats = [await sessions.open() for _ in range(2)]
        with pytest.raises(SessionCapacityError) as caught:
            await sessions.open()
        assert (caught.value.active_sessions, caught.value.max_sessions) == (2, 2)
        assert "2/2" in caught.value.message
        await seats[0].close()
        await sessions.open()


@pytest.mark.parametrize("attribute", [False, True, None])
async def test_a_class_may_say_that_it_lives_alone(attribute: bool | None) -> None:
    class Alone(World):
        pass

    if attribute is not None:
        Alone.SUPPORTS_CONCURRENT_SESSIONS = attribute
    async with serving(Alone, "inline", capacity=9) as sessions:
        assert sessions.capacity == (1 if attribute is False else 9)


def test_more_than_a_class_allows_is_refused() -> None:
    class Alone(World):
        SUPPORTS_CONCURRENT_SESSIONS = False

    for env in (Alone, World()):
        spec = EnvSpec.of(env)
        with pytest.raises(ConcurrencyConfigurationError, match="4 concurrent sessions"):
            check_capacity(spec, 4)
        check_capacity(spec, 1)
        check_capacity(spec, None)
    check_capacity(EnvSpec.of(World), 4)


@pytest.mark.parametrize(
    "limits",
    [
        {"capacity": 0},
        {"step_timeout": 0},
        {"idle_timeout": -1.0},
        {"unattached_timeout": 0},
        {"max_message_bytes": 0},
        {"drain_grace": -1.0},
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="at least 1|more than 0|0 or more"):
        Limits(**limits)


class TestNames:
    async def test_a_session_is_found_by_its_name(self) -> None:
        async with serving(World, "inline") as sessions:
            seat = await sessions.open("mine")
            assert sessions.find("mine") is seat
            assert sessions.find((await sessions.open()).session_id)
            await seat.close()
            for name in ("mine", "never", ""):
                with pytest.raises(SessionNotFoundError):
                    sessions.find(name)

    async def test_one_that_still_closes_is_not_found_and_its_name_is_free(self) -> None:
        env = Gated.fresh()
        async with serving(env, "thread", step_timeout=0.02, close_grace=0.02) as sessions:
            seat = await sessions.open("mine")
            await step(seat, "go", True)
            with pytest.raises(SessionNotFoundError):
                sessions.find("mine")
            again = await sessions.open("mine")
            env.gate.set()
            await until(lambda: sessions.active == 1)
            assert sessions.find("mine") is again

    async def test_one_that_still_starts_is_found_and_waited_for(self) -> None:
        class Slow(Gated):
            def __init__(self) -> None:
                self.entered.set()
                assert self.gate.wait(15)
                super().__init__()

        env = Slow.fresh()
        async with serving(env, "thread") as sessions:
            opening = asyncio.ensure_future(sessions.open("mine"))
            await happened(env.entered)
            seat = sessions.find("mine")
            early = asyncio.ensure_future(step(seat, "early"))
            await turn()
            assert not early.done()
            env.gate.set()
            assert (await early).value == "early"
            assert await opening is seat


class TestQueue:
    async def test_those_who_wait_come_in_order(self) -> None:
        order: list[int] = []
        async with serving(World, "inline", capacity=1) as sessions:
            first = await sessions.open()

            async def come(n: int) -> None:
                seat = await sessions.open(wait_s=60)
                order.append(n)
                await seat.close()

            tasks = [asyncio.ensure_future(come(n)) for n in range(5)]
            await turn()
            assert (sessions.waiting, order) == (5, [])
            await first.close()
            await asyncio.gather(*tasks)
            assert (sessions.waiting, order) == (0, [0, 1, 2, 3, 4])

    async def test_a_newcomer_does_not_overtake_those_who_wait(self) -> None:
        async with serving(World, "inline", capacity=1) as sessions:
            first = await sessions.open()
            waiting = asyncio.ensure_future(sessions.open(wait_s=60))
            await turn()
            await first.close()
            with pytest.raises(SessionCapacityError):
                await sessions.open()
            assert (await waiting).is_open

    async def test_waiting_ends_in_time(self) -> None:
        async with serving(World, "inline", capacity=1, max_wait=0.02) as sessions:
            first = await sessions.open()
            for wait_s in (0.01, 3600.0):
                with pytest.raises(SessionCapacityError):
                    await sessions.open(wait_s=wait_s)
            assert sessions.waiting == 0
            await first.close()
            await sessions.open()

    async def test_the_queue_is_bounded(self) -> None:
        async with serving(World, "inline", capacity=1, waiting=2) as sessions:
            await sessions.open()
            waiting = [asyncio.ensure_future(sessions.open(wait_s=60)) for _ in range(2)]
            await turn()
            with pytest.raises(SessionCapacityError):
                await sessions.open(wait_s=60)
            for task in waiting:
                task.cancel()
            await asyncio.wait(waiting)
            assert sessions.waiting == 0

    async def test_one_who_leaves_gives_the_turn_to_the_next(self) -> None:
        async with serving(World, "inline", capacity=1) as sessions:
            first = await sessions.open()
            leaver = asyncio.ensure_future(sessions.open(wait_s=60))
            await turn()
            stayer = asyncio.ensure_future(sessions.open(wait_s=60))
            await turn()
            free = first._on_end

            def leave_when_called(seat: Seat) -> None:
                free(seat)  # the leaver has its turn now, but does not know yet
                leaver.cancel()

            first._on_end = leave_when_called
            await first.close()
            await asyncio.wait([leaver])
            if not leaver.cancelled():
                await leaver.result().close()
            assert (await stayer).is_open

    async def test_a_failing_constructor_gives_the_turn_to_the_next(self) -> None:
        made = []

        class FirstFails(World):
            def __init__(self) -> None:
                made.append(1)
                if len(made) == 2:
                    raise ValueError("the second one fails")

        async with serving(FirstFails, "inline", capacity=1) as sessions:
            first = await sessions.open()
            tasks = [asyncio.ensure_future(sessions.open(wait_s=60)) for _ in range(2)]
            await turn()
            await first.close()
            with pytest.raises(EnvironmentFactoryError):
                await tasks[0]
            assert (await tasks[1]).is_open

    @pytest.mark.parametrize("seed", range(5))
    async def test_no_interleaving_overshoots_or_leaks(self, seed: int) -> None:
        chance = random.Random(seed)
        env = Counted.fresh(chance)
        async with serving(env, "inline", capacity=3) as sessions:
            tasks = [asyncio.ensure_future(live(sessions, chance)) for _ in range(200)]
            for task in chance.sample(tasks, 60):
                await asyncio.sleep(0)
                task.cancel()
            await asyncio.wait(tasks)
            ends = {"left" if task.cancelled() else task.result() for task in tasks}
            assert {"lived", "left"} <= ends
            await until(lambda: sessions.active == 0)
            assert (sessions.waiting, env.alive, env.most_alive) == (0, 0, 3)
            env.fails = 0.0
            assert len([await sessions.open() for _ in range(3)]) == 3


class Counted(World):
    """Knows how many of it are alive; sometimes cannot be built."""

    chance: ClassVar[random.Random]
    fails: ClassVar[float]
    alive: ClassVar[int]
    most_alive: ClassVar[int]

    @classmethod
    def fresh(cls, chance: random.Random) -> "type[Counted]":
        registers = {"chance": chance, "fails": 0.1, "alive": 0, "most_alive": 0}
        return type("Counted", (cls,), registers)

    def __init__(self) -> None:
        cls = type(self)
        if self.chance.random() < self.fails:
            raise ValueError("not this time")
        cls.alive += 1
        cls.most_alive = max(cls.most_alive, cls.alive)

    def close(self) -> None:
        type(self).alive -= 1


async def live(sessions: Sessions, chance: random.Random) -> str:
    """A client's whole life; says how it went."""
    for _ in range(chance.randrange(20)):
        await asyncio.sleep(0)
    try:
        seat = await sessions.open(wait_s=chance.choice([0, 0.001, 60]))
    except (SessionCapacityError, EnvironmentFactoryError) as error:
        return type(error).__name__
    try:
        for n in range(chance.randrange(5)):
            assert (await step(seat, "echo", n)).value == n
            await asyncio.sleep(0)
    finally:
        await seat.close()
    return "lived"


def test_a_report_of_how_full_a_server_is() -> None:
    status = ServerCapacityStatus.from_counts(3, 4)
    assert (status.available_slots, status.is_at_capacity) == (1, False)
    assert ServerCapacityStatus.from_counts(4, 4).is_at_capacity
    with pytest.raises(ValueError, match="active_sessions"):
        ServerCapacityStatus.from_counts(5, 4)


def test_sessions_may_be_made_before_there_is_a_loop() -> None:
    sessions = Sessions(EnvSpec.of(World, Do, Seen), Limits(), Housing("inline"))

    async def life() -> None:
        seat = await sessions.open()
        reply = await seat.ask(Request("step", {"what": "echo"}))
        assert reply.type == "observation"
        await sessions.close_all()

    asyncio.run(life())
