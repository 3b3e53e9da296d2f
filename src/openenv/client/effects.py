"""Effects: what a client's flows want done, by a driver that blocks or one that awaits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from openenv.protocol.envelope import Frame
from openenv.protocol.errors import ReplyTimeout


@dataclass
class Wait:
    """How long a caller waits, over all that has to be done for it.

    Attributes:
        timeout_s: in seconds, infinity for ever.
        deadline: when that is, on the driver's clock; set when the waiting begins.
    """

    timeout_s: float
    deadline: float | None = None

    def until(self, now: float) -> float:
        """The deadline, if the waiting began at the latest now."""
        if self.deadline is None:
            self.deadline = now + self.timeout_s
        return self.deadline


@dataclass(frozen=True)
class Connect:
    """The client's `connect()`, which a subclass may override."""


@dataclass(frozen=True)
class Open:
    """One attempt to open the connection; gives the subprotocol that was agreed."""

    wait: Wait | None = None


@dataclass(frozen=True)
class Sleep:
    """Wait before the next attempt."""

    seconds: float
    wait: Wait | None = None


@dataclass(frozen=True)
class Exchange:
    """v1: send a frame and receive the answer; gives the answering frame."""

    frame: str
    timeout_s: float


@dataclass(frozen=True)
class Disconnect:
    """Say goodbye, in v1 with a frame, and close the connection."""

    goodbye: str | None = None


class Heard(Enum):
    """How a `Transmit` ended."""

    DONE = "what was waited for is there"
    NOTHING = "nothing for some time; there is time left"
    LATE = "the time is up"


@dataclass
class Transmit:
    """v2: send frames, and take in what comes until all that is waited for is there.

    Attributes:
        frames: to be sent, in this order.
        wait: how long at most.
        receive: takes each frame in.
        done: whether that was all; asked after each frame.
        quiet_s: how long nothing may come before the flow is asked what to do.
    """

    frames: list[Frame] = field(repr=False)
    wait: Wait
    receive: Callable[[Frame], None]
    done: Callable[[], bool]
    quiet_s: float


@dataclass(frozen=True)
class Drop:
    """v2: let go of the connection."""


@dataclass(frozen=True)
class Keep:
    """v2: how the connection shows that it is alive, and its last word if it is given up.

    Attributes:
        heartbeat: a frame that the server answers, sent when it is quiet.
        farewell: a frame that ends the sessions, sent when nobody holds the client any more.
    """

    heartbeat: Frame
    farewell: Frame


Effect = Connect | Open | Sleep | Exchange | Disconnect | Transmit | Drop | Keep


def late(wait: Wait) -> ReplyTimeout:
    """The error of a call whose answer did not come in time."""
    return ReplyTimeout(
        f"no answer within {wait.timeout_s:g} s; the session goes on and what was asked may still "
        "be carried out, once: the next call comes after it. Give a call more time with timeout_s, "
        "or message_timeout_s; reset() begins anew"
    )
