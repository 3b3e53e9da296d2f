"""Sessions: who may open one, who holds which, and when it ends."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping

from openenv.env.environment import HostKind
from openenv.env.spec import AnyEnvironment, EnvSpec
from openenv.protocol.errors import (
    ConcurrencyConfigurationError,
    SessionGone,
    SessionNotFoundError,
)
from openenv.runtime.eviction import Eviction
from openenv.runtime.host import (
    Host,
    InlineHost,
    ThreadHost,
    Worker,
    session_factory,
)
from openenv.runtime.limits import Limits
from openenv.runtime.nursery import Nursery
from openenv.runtime.plan import Plan
from openenv.runtime.process import ProcessHost
from openenv.runtime.reaper import Reaper
from openenv.runtime.resumable import Resumable
from openenv.runtime.seat import Seat
from openenv.runtime.session import closing
from openenv.runtime.slots import Slots


class Sessions:
    """All sessions of one server.

    Args:
        spec: the environment that is served.
        limits: its bounds.
        host_kind: where environments live; `None` lets the environment say.
        environ: the environment variables of process hosts: no credentials.
        tracebacks: whether errors carry the author's part of the traceback.
        clock: seconds, monotonic.

    Raises:
        ConfigurationError: a process host was asked for, and the environment cannot be imported.
    """

    def __init__(
        self,
        spec: EnvSpec,
        limits: Limits,
        *,
        host_kind: HostKind | None = None,
        environ: Mapping[str, str] | None = None,
        tracebacks: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.spec = spec
        self.limits = limits
        single = spec.shared or spec.traits.one_session
        self._slots = Slots(1 if single else limits.capacity, limits.waiting, limits.max_wait)
        self.host_kind: HostKind = host_kind or spec.traits.default_host
        self._nursery: Nursery | None = None
        if self.host_kind == "process":
            plan = Plan.of(spec, tracebacks=tracebacks)
            patience = limits.reset_timeout
            self._nursery = Nursery(spec.name, plan, environ or {}, patience_s=patience)
        self._tracebacks = tracebacks
        self._clock = clock
        self._seats: set[Seat] = set()
        self._by_id: dict[str, Seat] = {}
        self._resumable: dict[str, Resumable] = {}
        self._shared_worker: Worker | None = None
        self._reaper = Reaper(clock, self._seats)
        self._eviction = Eviction(self._slots, self._resumable, limits, clock)

    @property
    def capacity(self) -> int:
        """Sessions that may exist at once."""
        return self._slots.capacity

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

    async def open(
        self, session_id: str | None = None, *, wait_s: float = 0.0, attached: bool = False
    ) -> Seat:
        """Opens a session.

        Args:
            session_id: its name; a new one by default.
            wait_s: how long to queue for a slot, at most `limits.max_wait`.
            attached: a socket holds it.

        Raises:
            SessionCapacityError: no slot was free, or became free in time.
            EnvironmentFactoryError: the environment's constructor raised.
            SessionCreationError: the server is stopping.
        """
        try:
            await self._slots.take(max(wait_s, self._eviction.make_room()))
        finally:
            self._eviction.look()
        try:
            host = self._host()
        except BaseException:
            self._slots.free()
            raise
        seat = Seat(
            session_id or str(uuid.uuid4()),
            host,
            self.limits,
            self._clock,
            attached=attached,
            on_end=self._release,
        )
        self._seats.add(seat)
        self._by_id[seat.session_id] = seat
        await seat.start()
        self._reaper.watch(seat)
        return seat

    async def open_resumable(self, *, wait_s: float = 0.0) -> Resumable:
        """Opens a session that outlives its socket; arguments and errors as `open`."""
        seat = await self.open(wait_s=wait_s, attached=True)
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

    async def close_all(self) -> None:
        """Closes every session."""
        self._reaper.stop()
        self._eviction.stop()
        await asyncio.gather(*(seat.close() for seat in list(self._seats)))
        await asyncio.gather(*(seat.forsake() for seat in list(self._seats)))
        if self._nursery is not None:
            await self._nursery.close()
        if self.spec.shared:
            await self._close_shared()
        if self._shared_worker is not None:
            self._shared_worker.stop()

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

    async def _close_shared(self) -> None:
        """Closes the instance that outlived its sessions, on the thread that its calls ran on."""
        environment, worker = self.spec.make(), self._shared_worker
        closed: asyncio.Future[None] = (
            asyncio.ensure_future(_close(environment))
            if worker is None
            else worker.run(lambda: worker.calls.settle(closing(environment)))
        )
        await asyncio.wait([closed], timeout=self.limits.close_grace)
        closed.cancel()

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

    def _host(self) -> Host:
        make = session_factory(self.spec, tracebacks=self._tracebacks)
        if self.host_kind == "inline":
            return InlineHost(make)
        if self._nursery is not None:
            return ProcessHost(self.spec.name, self._nursery)
        if not (self.spec.traits.one_thread or self.spec.shared):
            return ThreadHost(make, Worker(f"openenv-{self.spec.name}"))
        if self._shared_worker is None:
            self._shared_worker = Worker(f"openenv-{self.spec.name}")
        return ThreadHost(make, self._shared_worker, owns_worker=False)


async def _close(environment: AnyEnvironment) -> None:
    if (pending := closing(environment)) is not None:
        await pending


def check_capacity(spec: EnvSpec, asked: int | None) -> None:
    """Refuses more sessions than the environment allows.

    Raises:
        ConcurrencyConfigurationError: it says that it holds one.
    """
    if asked is not None and asked > 1 and (spec.shared or spec.traits.one_session):
        raise ConcurrencyConfigurationError(spec.name, asked)
