"""Lanes: what carries the calls of some of a pool's slots to one server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

from openenv.client.results import StepResult
from openenv.protocol.errors import Json

Outcome = StepResult[Any] | Exception
"""What became of a call."""


class Call(NamedTuple):
    """One slot's turn.

    Attributes:
        slot: whose it is.
        op: what is asked of its session.
        data: the keywords of a reset, the payload of a step.
        stand_in: the pool itself begins an episode, where the caller asked for a step.
    """

    slot: int
    op: Literal["reset", "step"]
    data: Json
    stand_in: bool = False


class Lane(Protocol):
    """One server's part of a pool. It connects when it is first needed, also after `close`."""

    @property
    def url(self) -> str:
        """The server's address."""

    async def perform(self, calls: Sequence[Call]) -> list[Outcome]:
        """Makes calls of different slots at the same time; what failed is its own outcome."""

    async def close(self) -> None:
        """Ends the sessions; when it returns the server has freed them."""


def spread(size: int, parts: int) -> list[range]:
    """Slots in as many neighbouring parts, whose sizes differ by one at most."""
    edges = [size * part // parts for part in range(parts + 1)]
    return [range(first, last) for first, last in zip(edges, edges[1:], strict=False)]
