"""A counting environment, the record of all that was carried out in it, and its server."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from openenv import Action, Environment, Observation, State
from openenv.env.spec import EnvSpec
from openenv.runtime.hosts import Housing
from openenv.runtime.limits import Limits
from openenv.runtime.sessions import Sessions

GRACE_S = 300.0
EVICTION_AGE_S = 30.0
IDLE_S = 1000.0
TURNS = 14
"""Rounds of an event loop in which all that can go on without time or frames has gone on."""


class Count(Action):
    """A step, told from all others by its ticket."""

    ticket: int
    slow: bool = False
    fails: bool = False


class Counted(Observation):
    """What the environment knows of itself."""

    ticket: int
    home: int
    count: int


class Whereabouts(State):
    """The same as a state."""

    ticket: int = 0
    home: int = 0


class Done(NamedTuple):
    """One thing that was carried out.

    `home` is the environment's own number, `episode` the ticket of the reset that began what it
    belongs to; `steps` tells those of that episode.
    """

    ticket: int
    op: str
    home: int
    episode: int
    steps: int


@dataclass
class Record:
    """All that was carried out, in order, and the steps that still run."""

    done: list[Done] = field(default_factory=list)
    running: list[asyncio.Future[None]] = field(default_factory=list)
    homes: int = 0
    hurry: bool = False

    def of(self, ticket: int) -> list[Done]:
        """What became of one call."""
        return [entry for entry in self.done if entry.ticket == ticket]

    def finish_one(self) -> None:
        """Lets the step end that has run for the longest."""
        if self.running:
            running = self.running.pop(0)
            if not running.done():
                running.set_result(None)


class Counting(Environment[Count, Counted, Whereabouts]):
    """Counts, and writes down what it does; a slow call ends when it is told to."""

    REQUIRES_RESET = False

    def __init__(self, record: Record) -> None:
        super().__init__()
        record.homes += 1
        self._record = record
        self._home = record.homes
        self._episode = 0
        self._count = 0
        self._ticket = 0

    def reset(self, ticket: int = 0, slow: bool = False) -> Any:
        self._episode, self._count = ticket, 0
        return self._carry_out(ticket, "reset", slow)

    def step(self, action: Count) -> Any:
        self._count += 1
        seen = self._carry_out(action.ticket, "step", action.slow)
        if action.fails:
            raise ValueError(f"step {action.ticket} fails")
        return seen

    @property
    def state(self) -> Whereabouts:
        return Whereabouts(step_count=self._count, ticket=self._ticket, home=self._home)

    def _carry_out(self, ticket: int, op: str, slow: bool) -> Any:
        self._ticket = ticket
        self._record.done.append(Done(ticket, op, self._home, self._episode, self._count))
        seen = Counted(ticket=ticket, home=self._home, count=self._count)
        return self._slowly(seen) if slow and not self._record.hurry else seen

    def _slowly(self, seen: Counted) -> Coroutine[Any, Any, Counted]:
        running = asyncio.get_running_loop().create_future()
        self._record.running.append(running)

        async def wait() -> Counted:
            await running
            return seen

        return wait()


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 1000.0

    def time(self) -> float:
        return self._now

    def turn(self) -> None:
        """Lets everything that can go on do so."""
        self.run_until_complete(_turns())

    def pass_by(self, seconds: float) -> None:
        """Lets time pass."""
        self._now += seconds
        self.turn()


async def _turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def counting_sessions(record: Record, clock: Clock, capacity: int) -> Sessions:
    """A server's sessions, before the first one."""
    limits = Limits(
        capacity=capacity,
        resume_grace=GRACE_S,
        eviction_age=EVICTION_AGE_S,
        idle_timeout=IDLE_S,
    )
    spec = EnvSpec.of(partial(Counting, record), Count, Counted, Whereabouts)
    return Sessions(spec, limits, Housing("inline"), clock=clock.time)
