"""Faults: what may happen to the frames of a connection, how often, and how often it did."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from openenv.protocol.errors import ConfigurationError

Direction = Literal["to_server", "to_client"]
"""Where a frame goes."""

FrameFault = Literal[
    "swallow", "delay", "duplicate", "cut_before", "cut_after", "cut_inside", "freeze"
]
"""What can happen to a data frame; at most one of them does."""

Fault = FrameFault | Literal["swallow_pings", "refuse"]
"""What can happen at all."""

DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
FRAME_FAULTS: tuple[FrameFault, ...] = get_args(FrameFault)
FAULTS: tuple[Fault, ...] = (*FRAME_FAULTS, "swallow_pings", "refuse")


@dataclass(frozen=True)
class Faults:
    """What happens to the frames of a connection, each with its probability (0 to 1).

    A data frame meets one fault at most, so the first seven add up to 1 or less. A fragmented
    message counts as one frame. Close frames always pass.

        Faults(delay=0.03, duplicate=0.02, cut_after=0.01)

    Attributes:
        swallow: the frame never arrives, the connection stays.
        delay: it arrives later, and all that follows in its direction after it (TCP keeps order).
        duplicate: it arrives twice. A frame of more than 1 MiB, or in fragments, passes as it is.
        cut_before: the connection ends, and the frame is lost.
        cut_after: the frame arrives, then the connection ends.
        cut_inside: the connection ends in the middle of the frame.
        freeze: nothing moves any more, either way, and the connection stays (a half-open one).
        swallow_pings: a ping or a pong never arrives, as in tunnels that forward data alone.
        refuse: a WebSocket handshake is refused.
        delay_s: between how many seconds a delay takes.
        freeze_s: likewise a freeze; `None` for ever.
        reset: the share of cuts that are a reset (RST); the others are an end (FIN).
        statuses: a refused handshake gets one of these HTTP statuses; `None` is a reset instead.

    Swallowed or doubled frames also break a connection with per-message compression, which keeps
    a memory of what it has seen.

    Raises:
        ConfigurationError: a number is out of its range.
    """

    swallow: float = 0.0
    delay: float = 0.0
    duplicate: float = 0.0
    cut_before: float = 0.0
    cut_after: float = 0.0
    cut_inside: float = 0.0
    freeze: float = 0.0
    swallow_pings: float = 0.0
    refuse: float = 0.0
    delay_s: tuple[float, float] = (0.001, 0.05)
    freeze_s: tuple[float, float] | None = (0.1, 0.5)
    reset: float = 0.5
    statuses: tuple[int | None, ...] = (502, 503, None)

    def __post_init__(self) -> None:
        for name in (*FAULTS, "reset"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ConfigurationError(
                    f"{name} is a probability from 0 to 1, got {getattr(self, name)!r}"
                )
        if self.share > 1.0 + 1e-9:
            raise ConfigurationError(
                f"a frame meets one fault at most, but {', '.join(FRAME_FAULTS)} add up to "
                f"{self.share:g}: make them 1 or less together"
            )
        for name, span in (("delay_s", self.delay_s), ("freeze_s", self.freeze_s)):
            if span is not None and not 0.0 <= span[0] <= span[1]:
                raise ConfigurationError(f"{name} is (shortest, longest) in seconds, got {span!r}")
        if not self.statuses:
            raise ConfigurationError("statuses is empty: name at least one, for example (503,)")

    @property
    def share(self) -> float:
        """The share of data frames that meet a fault."""
        return float(sum(getattr(self, name) for name in FRAME_FAULTS))

    def draw(self, dice: random.Random) -> FrameFault | None:
        """What happens to the next data frame."""
        point = dice.random()
        for name in FRAME_FAULTS:
            point -= getattr(self, name)
            if point < 0.0:
                return name
        return None


@dataclass(frozen=True)
class Counts:
    """What a proxy has seen and done so far.

    Attributes:
        connections: WebSocket connections that were opened.
        frames: data frames that came, by direction; a fragmented message is one.
        pings: pings and pongs that came, both ways.
        faults: how often each fault happened.
    """

    connections: int
    frames: Mapping[Direction, int]
    pings: int
    faults: Mapping[Fault, int]

    @property
    def disturbed(self) -> int:
        """Data frames that met a fault."""
        return sum(self.faults[name] for name in FRAME_FAULTS)

    @property
    def share(self) -> float:
        """The share of data frames that met a fault."""
        return self.disturbed / max(sum(self.frames.values()), 1)


class Counter:
    """Counts; written by one thread, read by any."""

    def __init__(self) -> None:
        self.connections = 0
        self.pings = 0
        self.frames: dict[Direction, int] = dict.fromkeys(DIRECTIONS, 0)
        self.faults: dict[Fault, int] = dict.fromkeys(FAULTS, 0)

    def read(self) -> Counts:
        """What it counted so far."""
        return Counts(self.connections, dict(self.frames), self.pings, dict(self.faults))
