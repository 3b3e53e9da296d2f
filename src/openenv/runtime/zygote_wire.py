"""What a server and its zygote tell each other, over a Unix socket."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

ORDER = struct.Struct("!BI")
"""An order to the zygote: what to do, with which session. That of a fork carries descriptors."""
EVENT = struct.Struct("!BIiI")
"""Its news: what, of which session, a number, and the size of the text that follows."""


class Order(IntEnum):
    """What a server asks for."""

    FORK = 1
    KILL = 2


class News(IntEnum):
    """What a zygote tells.

    READY: it has imported the environment.
    FAILED: it could not; the text says why.
    UNFIT: it holds what a fork cannot copy, so that it must not; the text says what.
    BORN: a session runs; the number is the group of its processes, if they have one of their own.
    DIED: a session's process has ended; the number is how, the text the limit it had reached.
    """

    READY = 1
    FAILED = 2
    UNFIT = 3
    BORN = 4
    DIED = 5


@dataclass(frozen=True)
class Event:
    """One piece of news."""

    news: News
    session: int = 0
    number: int = 0
    text: str = ""

    def encode(self) -> bytes:
        """As it is sent."""
        text = self.text.encode()
        return EVENT.pack(self.news, self.session, self.number, len(text)) + text


def take_events(received: bytearray) -> Iterator[Event]:
    """The complete ones of what was received, which are taken out of it."""
    while len(received) >= EVENT.size:
        news, session, number, size = EVENT.unpack_from(received)
        end = EVENT.size + size
        if len(received) < end:
            return
        text = received[EVENT.size : end].decode(errors="replace")
        del received[:end]
        yield Event(News(news), session, number, text)
