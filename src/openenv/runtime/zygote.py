"""Zygote: the server's side of a process that has imported the environment, and forks sessions."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from openenv.protocol.errors import EnvironmentFactoryError, HostCrashed
from openenv.runtime.control import Control
from openenv.runtime.offspring import Death, Newborn
from openenv.runtime.pipe import sized
from openenv.runtime.stderr import Stderr
from openenv.runtime.watch import Watch, kill_group
from openenv.runtime.zygote_wire import ORDER, Event, News, Order

BIRTHS_AT_ONCE = 16
"""Descriptors on their way count against the process's limit on open files."""
BIRTH_S = 60.0
END_S = 5.0


class Unfit(Exception):
    """The environment's imports leave what a fork would not copy: threads, connections."""


class Zygote:
    """One zygote, from its start to its end.

    Args:
        name: the environment's, for people.
        birth: what it must know, pickled.
        environ: its environment variables, and its sessions'.
    """

    def __init__(self, name: str, birth: bytes, environ: Mapping[str, str]) -> None:
        self._name = name
        self._birth = birth
        self._environ = environ
        self._control: Control | None = None
        self._stderr: Stderr | None = None
        self._transport: asyncio.SubprocessTransport | None = None
        self._sessions: dict[int, Newborn] = {}
        self._groups: dict[int, int] = {}
        self._births: dict[int, asyncio.Future[None]] = {}
        self._count = 0
        self._turns = asyncio.Semaphore(BIRTHS_AT_ONCE)
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[Event] = loop.create_future()
        self._ended: asyncio.Future[int] = loop.create_future()

    @property
    def is_alive(self) -> bool:
        """Whether it may be asked for sessions."""
        return self._control is not None and self._control.is_open

    async def start(self) -> None:
        """Starts it, and waits until it has imported the environment.

        Raises:
            EnvironmentFactoryError: it could not.
            HostCrashed: it died of it.
            Unfit: it has, and must not be forked.
        """
        self._stderr = stderr = Stderr(f"the process that imports {self._name}")
        own_end, its_end = socket.socketpair()
        try:
            self._control = Control(own_end, self._hear)
            self._transport, _ = await self._spawn(its_end, stderr.child_end)
        finally:
            its_end.close()
            await stderr.open()
        self._control.send(sized(self._birth))
        either: list[asyncio.Future[Any]] = [self._ready, self._ended]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self._ready.done():
            raise await self._crashed()
        event = self._ready.result()
        if event.news is News.FAILED:
            raise EnvironmentFactoryError(self._name, event.text)
        if event.news is News.UNFIT:
            raise Unfit(event.text)

    async def fork(self, child: Newborn) -> None:
        """Has a session's process made; it may be dead at once, as its `death` tells then.

        Raises:
            ConnectionError: the zygote is dead, and has not been asked.
        """
        async with self._turns:
            if not self.is_alive:
                raise ConnectionError("the zygote is gone")
            self._count += 1
            session = self._count
            self._order(Order.FORK, session, child.descriptors)
            self._sessions[session] = child
            child.born(lambda: self._order(Order.KILL, session))
            born = self._births[session] = asyncio.get_running_loop().create_future()
            try:
                await child.open()
                await asyncio.wait_for(born, BIRTH_S)
            except asyncio.TimeoutError:
                self.kill()
            finally:
                self._births.pop(session, None)

    async def close(self) -> None:
        """Ends it, and the sessions that it still has."""
        if self._control is not None:
            self._control.close()
        if self._transport is not None:
            await asyncio.wait([self._ended], timeout=END_S)
            self.kill()
            await self._ended
        if self._stderr is not None:
            await self._stderr.close()

    def kill(self) -> None:
        """Ends it at once."""
        if self._transport is not None and not self._ended.done():
            self._transport.kill()

    async def _spawn(self, control: socket.socket, stderr: int) -> Any:
        return await asyncio.get_running_loop().subprocess_exec(
            lambda: Watch(self._gone),
            *(sys.executable, "-m", "openenv.runtime.zygote_process"),
            stdin=control.fileno(),
            stdout=stderr,
            stderr=stderr,
            env=dict(self._environ),
            start_new_session=True,
        )

    async def _crashed(self) -> HostCrashed:
        assert self._stderr is not None
        death = Death(self._ended.result())
        await self._stderr.close()
        return HostCrashed(
            f"the process that imports {self._name} died ({death.cause})",
            exit_code=death.code,
            stderr=self._stderr.tail,
        )

    def _order(self, order: Order, session: int, descriptors: Sequence[int] = ()) -> None:
        assert self._control is not None
        self._control.send(ORDER.pack(order, session), descriptors)

    def _hear(self, event: Event) -> None:
        if event.news is News.BORN:
            if event.number:
                self._groups[event.session] = event.number
        elif event.news is News.DIED:
            self._groups.pop(event.session, None)
            self._sessions.pop(event.session).died(Death(event.number, event.text))
        elif not self._ready.done():
            self._ready.set_result(event)
        born = self._births.get(event.session)
        if born is not None and not born.done():
            born.set_result(None)

    def _gone(self, code: int) -> None:
        """The zygote has died, and the kernel has killed its children; we kill what they had."""
        if self._control is not None:
            self._control.close()
        self._ended.set_result(code)
        for pid in self._groups.values():
            kill_group(pid)
        death = Death(-signal.SIGKILL, f"its zygote died: {Death(code).cause}")
        for child in self._sessions.values():
            child.died(death)
        for born in self._births.values():
            if not born.done():
                born.set_result(None)
