"""One test body for pools of both colours."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from openenv.rollout.pool import EnvPool
from tests.client.ways import Talk, talking
from tests.rollout.worlds import SoldierClient
from tests.serving import PATIENCE_S

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Play:
    """A colour, a server of soldiers, and a version of the wire."""

    colour: str
    url: str
    protocol: str | None = None

    def pool(self, size: int = 4, **options: Any) -> EnvPool[Any, Any]:
        """A pool that has not been used yet."""
        options.setdefault("protocol", self.protocol)
        return EnvPool(options.pop("urls", self.url), size, SoldierClient, **options)

    def run(self, talk: Talk[ResultT], size: int = 4, **options: Any) -> ResultT:
        """Runs a body with a pool, which is closed afterwards."""
        return talking(self.colour, talk, self.pool(size, **options))


def look(batch: Any, field: str) -> list[Any]:
    """A field of each row's observation, `None` where there is none."""
    return [None if seen is None else getattr(seen, field) for seen in batch.observations]


async def until(colour: str, holds: Callable[[], object]) -> None:
    """Lets time pass in one of the colours until a condition holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "the condition did not come to hold in time"
        if colour == "awaiting":
            await asyncio.sleep(0.01)
        else:
            time.sleep(0.01)
