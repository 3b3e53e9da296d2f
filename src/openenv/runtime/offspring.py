"""The process of one session as its server sees it, however it came to be."""

from __future__ import annotations

import asyncio
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from openenv.runtime.link import Link
from openenv.runtime.stderr import Stderr

OUT_OF_MEMORY = "its memory limit"
"""How the reason of a death begins that want of memory has caused."""


@dataclass(frozen=True)
class Death:
    """How a process ended.

    Attributes:
        code: its exit code, or the number of the signal that ended it, negative.
        why: the limit that it had reached, where that can be told.
    """

    code: int
    why: str = ""

    @property
    def is_for_memory(self) -> bool:
        """Whether it wanted more memory than it may have."""
        return self.why.startswith(OUT_OF_MEMORY)

    @property
    def cause(self) -> str:
        """The same in words."""
        if self.why and self.code == 0:  # there never was one
            return self.why
        return f"{self.why}, {_ended_by(self.code)}" if self.why else _ended_by(self.code)


class Newborn(ABC):
    """A process that a zygote is to fork, as those see it who asked for it."""

    @property
    @abstractmethod
    def descriptors(self) -> Sequence[int]:
        """What the child is given: a socket, its stdout and its stderr, or one pipe for both."""

    @abstractmethod
    async def open(self) -> None:
        """Closes these, for the child has them, and begins to listen to it."""

    @abstractmethod
    def born(self, kill: Callable[[], None]) -> None:
        """It runs; `kill` ends it and all that it started."""

    @abstractmethod
    def died(self, death: Death) -> None:
        """It has ended."""


class Offspring(Newborn):
    """A process that holds one session.

    Args:
        whose: the session, for people.

    Attributes:
        link: the socket to it.
        stderr: what it prints.
        death: how it ended, once it has.
    """

    def __init__(self, whose: str) -> None:
        self.link = Link()
        try:
            self.stderr = Stderr(whose)
        except OSError:
            self.link.close()
            raise
        self.death: asyncio.Future[Death] = asyncio.get_running_loop().create_future()
        self._kill: Callable[[], None] | None = None

    @property
    def descriptors(self) -> Sequence[int]:
        """The socket, and one pipe for all that it prints."""
        return self.link.child_end.fileno(), self.stderr.child_end

    async def open(self) -> None:
        """Begins to listen to it."""
        await self.link.open()
        await self.stderr.open()

    def born(self, kill: Callable[[], None]) -> None:
        """It runs; `kill` ends it and all that it started."""
        self._kill = kill

    def died(self, death: Death) -> None:
        """It has ended."""
        if not self.death.done():
            self.death.set_result(death)

    @property
    def is_born(self) -> bool:
        """Whether it runs, or did."""
        return self._kill is not None

    async def close(self) -> None:
        """Reads its last words; to be called when it is dead."""
        self.link.close()
        await self.stderr.close()

    def let_go(self) -> None:
        """Gives up what is held of it, dead or alive."""
        self.link.close()
        self.stderr.let_go()

    def kill(self) -> None:
        """Ends it, and all that it started."""
        if self._kill is not None and not self.death.done():
            self._kill()


def _ended_by(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal has no name
        return f"signal {-code}"
