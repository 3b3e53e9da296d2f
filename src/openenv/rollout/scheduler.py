"""Scheduler: hands each slot's turns to its lane, and keeps the results until they are taken."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from openenv.client.results import StepResult
from openenv.protocol.errors import (
    ConcurrentCall,
    ConfigurationError,
    Json,
    ModeError,
    ResetRequired,
    SessionCapacityError,
    SessionLost,
)
from openenv.rollout.batch import Row
from openenv.rollout.lanes import Lane, Outcome, Turn
from openenv.rollout.metrics import PoolMetrics, Tally
from openenv.rollout.slots import Autoreset, Phase, Slot

EXPECTED = (StepResult, Exception)


class Scheduler:
    """The slots of a pool, on one event loop.

    A call that was made stays *outstanding* until its row is taken, also if whoever waited for it
    has given up: then `receive` takes it.

    Args:
        lanes: what carries the turns; lane by lane, the slots are counted from 0.
        autoreset: what follows an episode's end.

    Attributes:
        closed: it takes no more calls.
    """

    def __init__(self, lanes: Sequence[tuple[Lane, range]], autoreset: Autoreset) -> None:
        self._lanes = [lane for lane, _ in lanes]
        self._lane_of = [lane for lane, slots in lanes for _ in slots]
        self._slots = [Slot(number, autoreset) for number in range(len(self._lane_of))]
        self._same_step = autoreset is Autoreset.SAME_STEP
        self._tally = Tally(len(self._slots))
        self._running: dict[int, asyncio.Task[None]] = {}
        self._ready: dict[int, Row] = {}
        self._claimed: set[int] = set()
        self._delivered = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = os.getpid()
        self._started = False
        self.closed = False

    @property
    def metrics(self) -> PoolMetrics:
        """The counts now."""
        return self._tally.read(len(self._running) + len(self._ready))

    async def reset(
        self, slots: Sequence[int], seeds: Sequence[int | None], options: Json
    ) -> list[Row]:
        """Begins episodes; what is outstanding there is awaited and dropped.

        Raises:
            SessionCapacityError: at the first reset, the server has too few slots.
            OpenEnvError: at the first reset, no session could be started; one of the errors.
        """
        self._admit()
        self._refuse_if(self._claimed.intersection(slots))
        with self._claiming(slots):
            await self._take(self._outstanding(slots))
        turns = [
            self._slots[slot].reset(seed, options) for slot, seed in zip(slots, seeds, strict=True)
        ]
        self._start(turns, together=True)
        rows = await self._take(slots)
        if not self._started:
            await self._require_a_start(rows)
        return rows

    async def step(self, slots: Sequence[int], payloads: Sequence[Json]) -> list[Row]:
        """Takes an action in each slot, and waits for all."""
        self._start(self._steps(slots, payloads), together=True)
        return await self._take(slots)

    async def send(self, slots: Sequence[int], payloads: Sequence[Json]) -> None:
        """Takes an action in each slot, and waits for none."""
        self._start(self._steps(slots, payloads), together=False)

    async def receive(self, min_ready: int | None, timeout_s: float | None) -> list[Row]:
        """Waits for some of what is outstanding, and takes what is ready.

        Raises:
            ConfigurationError: nothing is outstanding.
        """
        self._admit()
        if not self._free([*self._running, *self._ready]):
            raise ConfigurationError("nothing is outstanding: send() actions before recv()")
        enough = math.inf if min_ready is None else min_ready
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._enough(enough), timeout_s)
        self.refuse_if_closed()
        return [self._ready.pop(slot) for slot in self._free(self._ready)]

    def refuse_if_closed(self) -> None:
        """Refuses calls of a closed pool.

        Raises:
            SessionLost: it is closed.
        """
        if self.closed:
            raise SessionLost("this pool is closed; make another")

    async def close(self) -> None:
        """Ends every session; whoever waits is told."""
        self.closed = True
        self._delivered.set()
        try:
            await self._close_lanes()
        finally:
            tasks = set(self._running.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await self._close_lanes()  # one that was still connecting may have come to its end

    def abandon(self) -> None:
        """Has every session ended by its event loop, from any thread, and waits for nothing."""
        loop = self._loop
        if loop is not None and not self.closed and self._pid == os.getpid():
            with contextlib.suppress(RuntimeError):  # the loop has closed
                loop.call_soon_threadsafe(lambda: loop.create_task(self.close()))

    async def _close_lanes(self) -> None:
        await asyncio.gather(*(lane.close() for lane in self._lanes))

    def _steps(self, slots: Sequence[int], payloads: Sequence[Json]) -> list[Turn]:
        self._admit()
        self._refuse_if({*self._outstanding(slots), *self._claimed.intersection(slots)})
        new = [slot for slot in slots if self._slots[slot].phase is Phase.NEW]
        if new:
            raise ResetRequired(f"slots {new} have no episode yet; call reset() first")
        return [
            self._slots[slot].step(payload) for slot, payload in zip(slots, payloads, strict=True)
        ]

    def _start(self, turns: list[Turn], *, together: bool) -> None:
        """Begins turns: those of one lane together, or each on its own."""
        shares: dict[Any, list[Turn]] = {}
        for turn in turns:
            lane = self._lane_of[turn.slot]
            shares.setdefault(lane if together else turn.slot, []).append(turn)
        for share in shares.values():
            task = asyncio.create_task(self._play(self._lane_of[share[0].slot], share))
            for turn in share:
                self._running[turn.slot] = task

    async def _play(self, lane: Lane, turns: list[Turn]) -> None:
        """Takes turns on one lane and delivers their rows."""
        try:
            rows = await self._settled(lane, turns)
            if self._same_step:
                await self._renew(lane, rows)
            for row in rows:
                self._ready[row.slot] = row
        finally:
            for turn in turns:
                del self._running[turn.slot]
            self._delivered.set()

    async def _settled(self, lane: Lane, turns: list[Turn]) -> list[Row]:
        outcomes = await _performed(lane, turns)
        return [self._settle(turn, outcome) for turn, outcome in zip(turns, outcomes, strict=True)]

    def _settle(self, turn: Turn, outcome: Outcome) -> Row:
        """Notes what became of a turn."""
        if not isinstance(outcome, EXPECTED):
            kind = type(outcome).__name__
            outcome = ConfigurationError(f"the client made a {kind} of an answer, no StepResult")
        slot = self._slots[turn.slot]
        before = slot.phase
        slot.settle(turn, outcome)
        self._tally.count(turn, outcome, before, slot.phase)
        if isinstance(outcome, Exception):
            return Row(turn.slot, error=outcome)
        return Row(turn.slot, outcome, None, turn.op == "reset", turn.stand_in)

    async def _renew(self, lane: Lane, rows: list[Row]) -> None:
        """Begins the next episode at once where one has just ended."""
        over = [
            index
            for index, row in enumerate(rows)
            if not row.began and self._slots[row.slot].phase is Phase.OVER
        ]
        if over:
            turns = [self._slots[rows[index].slot].restart() for index in over]
            for index, fresh in zip(over, await self._settled(lane, turns), strict=True):
                rows[index] = fresh._replace(final=rows[index].result)

    async def _take(self, slots: Sequence[int]) -> list[Row]:
        """Waits for these slots' rows and takes them. They stay if the wait is given up."""
        with self._claiming(slots):
            while not self._running.keys().isdisjoint(slots):
                await self._news()
        self.refuse_if_closed()
        return [self._ready.pop(slot) for slot in slots]

    @contextlib.contextmanager
    def _claiming(self, slots: Sequence[int]) -> Iterator[None]:
        """Keeps slots from other calls."""
        self._claimed.update(slots)
        try:
            yield
        finally:
            self._claimed.difference_update(slots)

    async def _enough(self, rows: float) -> None:
        """Waits until so many rows are ready, or all there are."""
        while len(self._free(self._ready)) < rows and self._free(self._running):
            await self._news()

    async def _news(self) -> None:
        """Waits until more rows are ready."""
        self.refuse_if_closed()
        self._delivered.clear()
        await self._delivered.wait()

    async def _require_a_start(self, rows: list[Row]) -> None:
        """Refuses a first reset that cannot be the beginning of anything, and undoes it."""
        errors = [self._explained(row.slot, row.error) for row in rows if row.error is not None]
        full = [error for error in errors if isinstance(error, SessionCapacityError)]
        if not full and len(errors) < len(rows):
            self._started = True
            return
        for slot in self._slots:
            slot.phase = Phase.NEW
        await self._close_lanes()
        raise (full or errors)[0]

    def _explained(self, slot: int, error: Exception) -> Exception:
        """An error of a first reset, where a full server also says how much the pool wants."""
        if not isinstance(error, SessionCapacityError):
            return error
        url = self._lane_of[slot].url
        wanted = sum(lane.url == url for lane in self._lane_of)
        return SessionCapacityError(
            error.active_sessions,
            error.max_sessions,
            f"this pool wants {wanted} sessions of {url}: {error.message}",
        )

    def _admit(self) -> None:
        """Refuses calls that this pool cannot take."""
        self.refuse_if_closed()
        loop = asyncio.get_running_loop()
        if self._loop not in (None, loop):
            raise ModeError(
                "this pool lives in the event loop of its first call, and this is another: make "
                "a pool in each loop, or use .sync()"
            )
        self._loop = loop
        self._tally.begin()

    def _outstanding(self, slots: Iterable[int]) -> list[int]:
        return [slot for slot in slots if slot in self._running or slot in self._ready]

    def _free(self, slots: Iterable[int]) -> list[int]:
        """Those that no other call waits for."""
        return [slot for slot in slots if slot not in self._claimed]

    def _refuse_if(self, busy: Iterable[int]) -> None:
        if busy := sorted(busy):
            raise ConcurrentCall(
                f"slots {busy} have a call outstanding: recv() its result, or wait for the call "
                "that does"
            )


async def _performed(lane: Lane, turns: list[Turn]) -> list[Outcome]:
    """What became of turns; what stops a lane as a whole is the outcome of each."""
    try:
        return await lane.perform(turns)
    except Exception as error:  # noqa: BLE001  # it is in the batch, for whoever takes it
        return [error] * len(turns)
