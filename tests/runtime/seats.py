"""Sessions without a server around them, and their answers read."""

import asyncio
import json
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from openenv.env.environment import HostKind
from openenv.env.spec import EnvSpec
from openenv.protocol.messages import Operation, Request
from openenv.runtime.hosts import Housing
from openenv.runtime.limits import Limits
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions
from tests.runtime.worlds import Do, Seen

PATIENCE_S = 30.0


class Answer(NamedTuple):
    """A reply, read."""

    type: str
    data: Any
    ends_session: bool

    @property
    def value(self) -> Any:
        assert self.type == "observation", self
        return self.data["observation"]["value"]

    @property
    def code(self) -> str:
        assert self.type == "error", self
        return str(self.data["code"])


async def ask(
    seat: Seat, op: Operation, data: dict[str, Any] | None = None, timeout_s: float | None = None
) -> Answer:
    reply = await seat.ask(Request(op, data or {}, timeout_s))
    return Answer(reply.type, json.loads(reply.body), reply.ends_session)


async def step(seat: Seat, what: str, arg: Any = None, timeout_s: float | None = None) -> Answer:
    return await ask(seat, "step", {"what": what, "arg": arg}, timeout_s)


async def reset(seat: Seat, **keywords: Any) -> Answer:
    return await ask(seat, "reset", keywords)


@asynccontextmanager
async def serving(
    env: Any,
    kind: HostKind | None = None,
    *,
    environ: dict[str, str] | None = None,
    clock: Callable[[], float] = time.monotonic,
    typed: bool = True,
    **limits: Any,
) -> AsyncIterator[Sessions]:
    """All sessions of one environment; none of them is left afterwards.

    Its types are those of the worlds, unless they are its own.
    """
    sessions = Sessions(
        EnvSpec.of(env, Do, Seen) if typed else EnvSpec.of(env),
        Limits(**{"close_grace": 5.0, **limits}),
        Housing(kind, environ={"PATH": os.environ["PATH"]} if environ is None else environ),
        clock=clock,
    )
    try:
        yield sessions
    finally:
        await sessions.close_all()
        assert sessions.active == 0


async def until(holds: Callable[[], object]) -> None:
    """Returns as soon as a condition holds; fails if it does not in time."""
    deadline = asyncio.get_running_loop().time() + PATIENCE_S
    while not holds():
        assert asyncio.get_running_loop().time() < deadline, "the condition did not come to hold"
        await asyncio.sleep(0.002)


async def turn() -> None:
    """Lets everything that can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def happened(event: threading.Event) -> None:
    """Waits for what another thread does, without stopping the loop."""
    await until(event.is_set)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that was killed and not yet collected does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"
