"""Sessions: who may open one, who holds which, and when it ends."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from dataclasses import replace

from openenv.env.spec import EnvSpec
from openenv.protocol.errors import (
    ConcurrencyConfigurationError,
    Json,
    SessionGone,
    SessionNotFoundError,
)
from openenv.protocol.wire import ServerMode
from openenv.runtime.audience import Audience
from openenv.runtime.eviction import Eviction
from openenv.runtime.host import Host
from openenv.runtime.hosts import Hosts, Housing
from openenv.runtime.joined import Joined
from openenv.runtime.limits import Limits
from openenv.runtime.reaper import Reaper
from openenv.runtime.resumable import Resumable
from openenv.runtime.seat import Seat
from openenv.runtime.slots import Slots, Tell
from openenv.runtime.terms import Terms


class Sessions:
    """All sessions of one server.

    Args:
        spec: the environment that is served.
        limits: its bounds.
        housing: how environments live.
        clock: seconds, monotonic.
        of_workers: servers that share the port, this one included.
        agents_apart: those who call tools may not control episodes; always so in production.

    Attributes:
        hosts: where environments live.

    Raises:
        ConfigurationError: they cannot live there; see `Hosts`.
    """

    def __init__(
        self,
        spec: EnvSpec,
        limits: Limits,
        housing: Housing | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        of_workers: int = 1,
        agents_apart: bool = False,
    ) -> None:
        self.spec = spec
        self.limits = limits
        single = spec.shared or spec.traits.one_session
        capacity = 1 if single else limits.capacity
        self._slots = Slots(capacity, limits.waiting, limits.max_wait, of_workers)
        housing = replace(housing or Housing(), tool_timeout=limits.tool_timeout)
        self.hosts = Hosts(spec, housing, limits.reset_timeout)
        self._agents_apart = agents_apart
        self._audience: Audience | None = None
        self._clock = clock
        self._seats: set[Seat] = set()
        self._by_id: dict[str, Seat] = {}
        self._resumable: dict[str, Resumable] = {}
        self._reaper = Reaper(clock, self._seats)
        self._eviction = Eviction(self._slots, self._resumable, limits, clock)

    @property
    def capacity(self) -> int:
        """Sessions that may exist at once."""
        return self._slots.capacity

    @property
    def mode(self) -> ServerMode:
        """For whom the server is."""
        return self.hosts.mode

    @property
    def agents_apart(self) -> bool:
        """Whether those who call tools may not control episodes."""
        return self._agents_apart or self.mode is ServerMode.PRODUCTION

    @property
    def active(self) -> int:
        """Sessions that exist: starting, open, closing, or hanging in a call."""
        return self._slots.taken

    @property
    def busy(self) -> int:
        """Sessions in which a call is running."""
        return sum(seat.is_busy for seat in self._seats)

    @property
    def waiting(self) -> int:
        """Clients in the queue."""
        return self._slots.waiting

    def find(self, session_id: str) -> Seat:
        """An open session that no socket holds, by its id.

        Raises:
            SessionNotFoundError: there is none.
        """
        seat = self._by_id.get(session_id)
        if seat is None or seat.attached or not seat.is_open:
            raise SessionNotFoundError(session_id)
        return seat

    def held(self, session_id: str) -> Seat:
        """An open session by its id, whoever holds it.

        Where agents are kept apart, not one whose id a trainer chose: an agent could guess it.

        Raises:
            SessionNotFoundError: there is none.
        """
        seat = self._by_id.get(session_id)
        if seat is None or not seat.is_open or (self.agents_apart and seat.is_named):
            raise SessionNotFoundError(session_id)
        return seat

    def join(self, session_id: str) -> Joined:
        """Attaches a `/ws` socket to a session that was made over `/mcp` or plain HTTP.

        Raises:
            SessionNotFoundError: there is none.
            SessionError: another socket holds it, or is attached to it.
        """
        return Joined(self.held(session_id), self.limits.idle_timeout, self._reaper.watch)

    async def open(
        self,
        session_id: str | None = None,
        *,
        wait_s: float = 0.0,
        attached: bool = False,
        is_named: bool = False,
        tell: Tell | None = None,
        host: Host | None = None,
    ) -> Seat:
        """Opens a session.

        Args:
            session_id: its name; a new one by default.
            is_named: a trainer chose the name.
            wait_s: how long to queue for a slot, at most `limits.max_wait`.
            attached: a socket holds it.
            tell: told the place in the queue, at once and whenever it changes.
            host: where its environment lives; a new place of the server's kind by default.

        Raises:
            SessionCapacityError: no slot was free, or became free in time.
            EnvironmentFactoryError: the environment's constructor raised.
            SessionCreationError: the server is stopping.
        """
        try:
            await self._slots.take(max(wait_s, self._eviction.make_room()), tell)
        finally:
            self._eviction.look()
        try:
            session_id = session_id or str(uuid.uuid4())
            host = host or self.hosts.new(session_id)
        except BaseException:
            self._slots.free()
            raise
        seat = Seat(
            session_id,
            host,
            self._terms(),
            attached=attached,
            on_end=self._release,
        )
        seat.is_named = is_named
        if self._audience is not None:
            seat.tap = self._audience.tap(seat, self._clock())
        self._seats.add(seat)
        self._by_id[seat.session_id] = seat
        await seat.start()
        self._reaper.watch(seat)
        return seat

    async def open_resumable(self, *, wait_s: float = 0.0, tell: Tell | None = None) -> Resumable:
        """Opens a session that outlives its socket; arguments and errors as `open`."""
        seat = await self.open(wait_s=wait_s, attached=True, tell=tell)
        made = Resumable(seat, grace=self.limits.resume_grace, clock=self._clock, watch=self._watch)
        self._resumable[seat.session_id] = made
        return made

    def resume(self, session_id: str, token: object) -> Resumable:
        """The session that a client comes back to.

        Raises:
            SessionGone: there is none of that id (any more).
            Unauthorized: the token is not its own.
        """
        found = self._resumable.get(session_id)
        if found is None or not found.seat.is_open:
            raise SessionGone(
                f"no session {session_id!r} to resume: it has ended, or the server was started "
                "anew; reset() begins a new one",
                session_id=session_id,
            )
        found.check(token)
        return found

    def let_watch(self) -> Audience:
        """Lets others look on at the sessions that begin from now; gives those who do."""
        if self._audience is None:
            self._audience = Audience()
        return self._audience

    def watched(self) -> list[Json]:
        """What those who look on are told of each session; nothing where nobody may."""
        now, taps = self._clock(), [] if self._audience is None else self._audience.taps
        return [tap.told(now, held=self._is_held(tap.session)) for tap in taps]

    def _is_held(self, seat: Seat) -> bool:
        """Whether a socket holds a session now."""
        resumable = self._resumable.get(seat.session_id)
        return not seat.joinable and (resumable is None or resumable.detached_at is None)

    async def close_all(self) -> None:
        """Closes every session."""
        self._reaper.stop()
        self._eviction.stop()
        await asyncio.gather(*(seat.close() for seat in list(self._seats)))
        await asyncio.gather(*(seat.forsake() for seat in list(self._seats)))
        await self.hosts.close(self.limits.close_grace)

    async def drain(self) -> None:
        """Opens nothing more and waits for the running calls, at most `limits.drain_grace`."""
        self._slots.shut()
        running = [asyncio.ensure_future(seat.idle()) for seat in self._seats]
        if not running:
            return
        try:
            _, hanging = await asyncio.wait(running, timeout=self.limits.drain_grace)
        finally:
            for call in running:
                call.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    async def give_up(self) -> None:
        """Ends the sessions in which a call is running, without waiting for it."""
        await asyncio.gather(*(seat.forsake() for seat in list(self._seats) if seat.is_busy))

    def _terms(self) -> Terms:
        return Terms(self.limits, self._clock, self.spec.traits, self.mode)

    def _watch(self, seat: Seat) -> None:
        self._reaper.watch(seat)
        self._eviction.look()

    def _release(self, seat: Seat) -> None:
        self._seats.discard(seat)
        self._resumable.pop(seat.session_id, None)
        if self._by_id.get(seat.session_id) is seat:
            del self._by_id[seat.session_id]
        self._slots.free()
        self._eviction.look()


def check_capacity(spec: EnvSpec, asked: int | None) -> None:
    """Refuses more sessions than the environment allows.

    Raises:
        ConcurrencyConfigurationError: it says that it holds one.
    """
    if asked is not None and asked > 1 and (spec.shared or spec.traits.one_session):
        raise ConcurrencyConfigurationError(spec.name, asked)
