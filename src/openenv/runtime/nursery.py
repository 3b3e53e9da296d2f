"""Nursery: where the processes of sessions come from."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from openenv.protocol.errors import HostCrashed, StepTimeout
from openenv.runtime.anew import start_anew
from openenv.runtime.birth import Birth
from openenv.runtime.offspring import Newborn, Offspring
from openenv.runtime.zygote import Unfit, Zygote

logger = logging.getLogger("openenv.sessions")

FORKS = sys.platform == "linux"
"""Elsewhere, what the system's own libraries have started does not survive a fork."""
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
ATTEMPTS = 3


class Nursery:
    """Forks each session's process from a zygote, or starts it anew where that cannot be.

    A zygote that dies is followed by another when the next session is asked for; one that dies
    again and again is given longer and longer pauses.

    Args:
        name: the environment's, for people.
        birth: what a process must know.
        environ: the processes' environment variables: no credentials.
        patience_s: how long importing it may take; `None` is no limit.
    """

    def __init__(
        self, name: str, birth: Birth, environ: Mapping[str, str], *, patience_s: float | None
    ) -> None:
        self._name = name
        self._birth = birth
        self._environ = environ
        self._patience_s = patience_s
        self._zygote: Zygote | None = None
        self._starting: asyncio.Task[Zygote] | None = None
        self._failures = 0
        self._burials: set[asyncio.Task[None]] = set()

    def warm_up(self) -> None:
        """Begins to import the environment, so that the first session need not wait for it."""
        if FORKS and (self._zygote is None or not self._zygote.is_alive):
            self._begin()

    async def bear(self, child: Offspring) -> bytes:
        """Makes a session's process; gives what it must be told first.

        Raises:
            EnvironmentFactoryError: the environment could not be imported.
            HostCrashed: importing it, or forking, killed the process.
            StepTimeout: importing it took too long.
        """
        if not FORKS:
            await start_anew(child, self._environ)
            return self._birth.encode()
        await self.fork(child)
        return b""

    async def fork(self, child: Newborn) -> None:
        """Has a process forked. Raises what `bear` does."""
        for _ in range(ATTEMPTS):
            with suppress(ConnectionError):  # it has just died: there will be another
                zygote = await self._warm_zygote()
                await zygote.fork(child)
                if zygote.is_alive:
                    self._failures = 0
                return
        raise HostCrashed(f"no process lives long enough to fork a session of {self._name}")

    async def close(self) -> None:
        """Ends the zygote."""
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()
            await asyncio.wait([starting])
        if self._zygote is not None:
            self._bury(self._zygote)
        if self._burials:
            await asyncio.wait(self._burials)

    async def _warm_zygote(self) -> Zygote:
        if self._zygote is not None and self._zygote.is_alive:
            return self._zygote
        return await asyncio.shield(self._begin())

    def _begin(self) -> asyncio.Task[Zygote]:
        if self._starting is None or self._starting.done():
            self._starting = asyncio.ensure_future(self._start())
            self._starting.add_done_callback(_forget)
        return self._starting

    async def _start(self) -> Zygote:
        await self._pause()
        self._failures += 1
        if self._zygote is not None:
            self._bury(self._zygote)
            self._zygote = None
        try:
            self._zygote = await self._started()
        except Unfit as unfit:
            logger.warning(
                "importing %s %s: each of its sessions imports it anew, which is slower",
                self._name,
                unfit,
            )
            self._birth = replace(self._birth, preload=False)
            self._zygote = await self._started()
        return self._zygote

    async def _started(self) -> Zygote:
        """A new zygote, ready; one that fails to be is ended."""
        zygote = Zygote(self._name, self._birth.encode(), self._environ)
        try:
            await asyncio.wait_for(zygote.start(), self._patience_s)
        except BaseException as error:
            zygote.kill()
            self._bury(zygote)
            if isinstance(error, asyncio.TimeoutError):
                raise StepTimeout(
                    f"importing {self._name} took longer than {self._patience_s:g} s",
                    timeout_s=self._patience_s,
                ) from None
            raise
        return zygote

    def _bury(self, zygote: Zygote) -> None:
        """Sees a zygote to its end, whoever is cancelled meanwhile."""
        burial = asyncio.ensure_future(zygote.close())
        self._burials.add(burial)
        burial.add_done_callback(self._burials.discard)

    async def _pause(self) -> None:
        if self._failures > 1:
            pause = FIRST_PAUSE_S * 2 ** min(self._failures - 2, 10)
            await asyncio.sleep(min(pause, LONGEST_PAUSE_S))


def _forget(starting: asyncio.Task[Zygote]) -> None:
    """Sessions that waited were told; with none of them, the next one tries again."""
    if not starting.cancelled():
        starting.exception()
