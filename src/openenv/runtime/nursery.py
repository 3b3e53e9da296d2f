"""Nursery: where the processes of sessions come from."""

from __future__ import annotations

import asyncio
import logging
import pickle
import sys
from collections.abc import Mapping
from contextlib import suppress

from openenv.protocol.errors import StepTimeout
from openenv.runtime.anew import start_anew
from openenv.runtime.offspring import Offspring
from openenv.runtime.plan import Plan
from openenv.runtime.zygote import Unfit, Zygote

logger = logging.getLogger("openenv.sessions")

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
ATTEMPTS = 3


class Nursery:
    """Forks each session's process from a zygote, or starts it anew where that cannot be.

    A zygote that dies is followed by another when the next session is asked for; one that dies
    again and again is given longer and longer pauses.

    Args:
        name: the environment's, for people.
        plan: how a new process comes to it.
        environ: the processes' environment variables: no credentials.
        patience_s: how long importing it may take; `None` is no limit.
    """

    def __init__(
        self, name: str, plan: Plan, environ: Mapping[str, str], *, patience_s: float | None
    ) -> None:
        self._name = name
        self._plan = pickle.dumps(plan)
        self._environ = environ
        self._patience_s = patience_s
        self._forks = sys.platform == "linux"
        self._zygote: Zygote | None = None
        self._starting: asyncio.Task[Zygote | None] | None = None
        self._failures = 0

    def warm_up(self) -> None:
        """Begins to import the environment, so that the first session need not wait for it."""
        if self._forks and (self._zygote is None or not self._zygote.is_alive):
            self._begin()

    async def bear(self, child: Offspring) -> bytes:
        """Makes a session's process; gives what it must be told first.

        Raises:
            EnvironmentFactoryError: the environment could not be imported.
            HostCrashed: importing it, or forking, killed the process.
            StepTimeout: importing it took too long.
        """
        for _ in range(ATTEMPTS):
            zygote = await self._warm_zygote()
            if zygote is None:
                await start_anew(child, self._environ)
                return self._plan
            with suppress(ConnectionError):  # it has just died: there will be another
                await zygote.fork(child)
                self._failures = 0
                return b""
        raise ConnectionError(f"no process of {self._name} lives long enough to fork a session")

    async def close(self) -> None:
        """Ends the zygote."""
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()
            await asyncio.wait([starting])
        if self._zygote is not None:
            await self._zygote.close()

    async def _warm_zygote(self) -> Zygote | None:
        """The zygote, once it is ready; `None` where sessions are to be started anew."""
        if not self._forks:
            return None
        if self._zygote is not None and self._zygote.is_alive:
            return self._zygote
        return await asyncio.shield(self._begin())

    def _begin(self) -> asyncio.Task[Zygote | None]:
        if self._starting is None or self._starting.done():
            self._starting = asyncio.ensure_future(self._start())
            self._starting.add_done_callback(_forget)
        return self._starting

    async def _start(self) -> Zygote | None:
        await self._pause()
        self._failures += 1
        if self._zygote is not None:
            await self._zygote.close()
            self._zygote = None
        zygote = Zygote(self._name, self._plan, self._environ)
        try:
            await asyncio.wait_for(zygote.start(), self._patience_s)
        except Unfit as unfit:
            self._forks = False
            logger.warning(
                "importing %s starts threads (%s), which a fork does not copy: each of its "
                "sessions is started anew, which is slower",
                self._name,
                unfit,
            )
            await zygote.close()
            return None
        except BaseException as error:
            zygote.kill()
            await zygote.close()
            if isinstance(error, asyncio.TimeoutError):
                raise StepTimeout(
                    f"importing {self._name} took longer than {self._patience_s:g} s",
                    timeout_s=self._patience_s,
                ) from None
            raise
        self._zygote = zygote
        return zygote

    async def _pause(self) -> None:
        if self._failures > 1:
            pause = FIRST_PAUSE_S * 2 ** min(self._failures - 2, 10)
            await asyncio.sleep(min(pause, LONGEST_PAUSE_S))


def _forget(starting: asyncio.Task[Zygote | None]) -> None:
    """Sessions that waited were told; with none of them, the next one tries again."""
    if not starting.cancelled():
        starting.exception()
