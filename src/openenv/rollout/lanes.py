"""Lanes: what carries the turns of some of a pool's slots to one server."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from openenv.client.env_client import EnvClient
from openenv.client.results import StepResult
from openenv.protocol.errors import Json

Outcome = StepResult[Any] | Exception
"""What became of a turn."""
RECOVERY_WAIT_S = 2.0
"""How long a new session queues for the slot that a lost one may still hold."""
SLOTS_PER_SOCKET = 64


class Turn(NamedTuple):
    """One thing that a slot does.

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

    async def perform(self, turns: Sequence[Turn]) -> list[Outcome]:
        """Takes turns of different slots at the same time; what failed is its own outcome."""

    async def close(self) -> None:
        """Ends the sessions; when it returns the server has freed them."""


MakesClients = Callable[..., EnvClient[Any, Any, Any]]
"""Makes a client for one slot, which is not connected; takes the arguments of its constructor."""


def spread(slots: range, parts: int) -> list[range]:
    """Slots in as many neighbouring parts, whose sizes differ by one at most; none is empty."""
    parts = min(parts, len(slots))
    edges = [len(slots) * part // parts for part in range(parts + 1)]
    return [slots[first:last] for first, last in zip(edges, edges[1:], strict=False)]


def sockets_for(slots: range) -> int:
    """How many connections carry so many slots, unless somebody says otherwise."""
    return math.ceil(len(slots) / SLOTS_PER_SOCKET)
