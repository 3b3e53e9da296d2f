"""Hosts: a place for each session's environment, of the kind that the server is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from openenv.env.environment import HostKind
from openenv.env.metadata import EnvironmentMetadata
from openenv.env.spec import AnyEnvironment, EnvSpec
from openenv.protocol.errors import ConfigurationError, StepTimeout
from openenv.protocol.wire import ServerMode
from openenv.runtime.birth import SessionBirth
from openenv.runtime.host import Host, InlineHost, ThreadHost, session_factory
from openenv.runtime.limits import Limits
from openenv.runtime.nursery import FORKS, Nursery
from openenv.runtime.plan import Plan
from openenv.runtime.process import ProcessHost
from openenv.runtime.session import closing
from openenv.runtime.worker import Worker

if TYPE_CHECKING:
    from openenv.runtime.confine import Isolation
    from openenv.runtime.sandbox import Sandbox


@dataclass(frozen=True)
class Housing:
    """How environments live.

    Attributes:
        kind: where; `None` lets the environment say.
        isolation: of a sandbox: whatever this machine has, or `strict`: all or nothing.
        environ: the environment variables of processes: no credentials.
        tracebacks: whether errors carry the author's part of the traceback.
        mode: for whom the server is.
        tool_timeout: how long a call of a tool may run that says nothing else, in seconds.
    """

    kind: HostKind | None = None
    isolation: Isolation = "best"
    environ: Mapping[str, str] = field(default_factory=dict)
    tracebacks: bool = False
    mode: ServerMode = ServerMode.SIMULATION
    tool_timeout: float | None = Limits.tool_timeout


class Hosts:
    """Makes the hosts of one server, and keeps what they share.

    Args:
        spec: the environment.
        housing: how it lives.
        patience_s: how long importing it may take; `None` is no limit.

    Attributes:
        kind: what they are.

    Raises:
        ConfigurationError: they are to be processes, and no other process can import the
            environment; or sandboxes, and those cannot be what they must.
    """

    def __init__(self, spec: EnvSpec, housing: Housing, patience_s: float | None) -> None:
        self.kind: HostKind = housing.kind or spec.traits.default_host
        if housing.isolation == "strict" and self.kind != "sandbox":
            raise ConfigurationError(
                f"isolation='strict' needs host_kind='sandbox', got {self.kind!r}, which confines "
                "nothing"
            )
        self._spec = spec
        self._patience_s = patience_s
        self._shared_worker: Worker | None = None
        self._plan: Plan | None = None
        self._sandbox: Sandbox | None = None
        self._nursery: Nursery | None = None
        self._housing = housing
        if self.kind in ("process", "sandbox"):
            self._plan = self._prepare()
        self._furnish()

    @property
    def mode(self) -> ServerMode:
        """For whom the server is."""
        return self._housing.mode

    def turn_to(self, mode: ServerMode) -> None:
        """Makes hosts for another mode from now on; to be called before the first session."""
        if mode is not self.mode:
            self._housing = replace(self._housing, mode=mode)
            self._furnish()

    def _prepare(self) -> Plan:
        """Finds out, once, what processes need; a sandbox is a look around the machine."""
        spec, housing = self._spec, self._housing
        plan = Plan.of(spec, tracebacks=housing.tracebacks, tool_timeout=housing.tool_timeout)
        if FORKS:
            from openenv.runtime.confine import shield  # of Linux alone

            shield()
        if self.kind == "sandbox":
            from openenv.runtime.sandbox import Sandbox  # of Linux alone

            self._sandbox = Sandbox.of(spec, plan, housing.isolation)
        return plan

    def _furnish(self) -> None:
        """Makes what depends on the mode; nothing of it begins before the first session."""
        spec, housing = self._spec, self._housing
        self._make = session_factory(
            spec,
            tracebacks=housing.tracebacks,
            mode=housing.mode,
            tool_timeout=housing.tool_timeout,
        )
        if self._plan is not None:
            plan = replace(self._plan, mode=housing.mode)
            birth = SessionBirth(plan=plan, sandbox=self._sandbox)
            self._nursery = Nursery(spec.name, birth, housing.environ, patience_s=self._patience_s)

    @property
    def isolation(self) -> dict[str, Any]:
        """What keeps sessions from the machine, and what is missing of it."""
        told = {"level": "none", "in_force": [], "missing": {}}
        return {"host": self.kind, **(told if self._sandbox is None else self._sandbox.report())}

    def warm_up(self) -> None:
        """Begins what the first session would wait for; needs the event loop."""
        if self._nursery is not None:
            self._nursery.warm_up()

    def new(self, session_id: str) -> Host:
        """A place for one session."""
        if self.kind == "inline":
            return InlineHost(self._make)
        if self._nursery is not None:
            return ProcessHost(self._spec.name, self._nursery, f"session {session_id}")
        if not (self._spec.traits.one_thread or self._spec.shared):
            return ThreadHost(self._make, Worker(f"openenv-{self._spec.name}"))
        if self._shared_worker is None:
            self._shared_worker = Worker(f"openenv-{self._spec.name}")
        return ThreadHost(self._make, self._shared_worker, owns_worker=False)

    async def card(self) -> EnvironmentMetadata | None:
        """What an environment tells about itself, if it must be asked in a process of its own.

        Raises:
            SessionError: it could not be built, tells nothing, or took too long.
        """
        if self._nursery is None:
            return None
        host = ProcessHost(self._spec.name, self._nursery, f"{self._spec.name}.get_metadata()")
        try:
            return await asyncio.wait_for(_card(host), self._patience_s)
        except asyncio.TimeoutError:
            raise StepTimeout(
                f"get_metadata() of {self._spec.name} took too long", timeout_s=self._patience_s
            ) from None
        finally:
            host.kill()
            await host.close()

    async def close(self, grace_s: float) -> None:
        """Ends what they shared; an instance that is closed is waited for so long."""
        if self._nursery is not None:
            await self._nursery.close()
        if self._sandbox is not None:
            self._sandbox.sweep()
        if self._spec.shared:
            await self._close_shared(grace_s)
        if self._shared_worker is not None:
            self._shared_worker.stop()

    async def _close_shared(self, grace_s: float) -> None:
        """Closes the instance that outlived its sessions, on the thread that its calls ran on."""
        environment, worker = self._spec.make(), self._shared_worker
        closed: asyncio.Future[None] = (
            asyncio.ensure_future(_close(environment))
            if worker is None
            else worker.run(lambda: worker.calls.settle(closing(environment)))
        )
        await asyncio.wait([closed], timeout=grace_s)
        closed.cancel()


async def _card(host: ProcessHost) -> EnvironmentMetadata:
    await host.start()
    return await host.card()


async def _close(environment: AnyEnvironment) -> None:
    if (pending := closing(environment)) is not None:
        await pending
