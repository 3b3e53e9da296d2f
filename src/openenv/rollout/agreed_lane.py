"""A lane that speaks what its server knows: v2, or else v1."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from openenv.rollout.batch_lane import BatchLane
from openenv.rollout.breaker import Breaker
from openenv.rollout.client_lane import ClientLane
from openenv.rollout.lanes import MakesClients, Outcome, Turn
from openenv.rollout.mux import Mux


class AgreedLane:
    """Connects when it is first needed, and again after `close`.

    Args:
        slots: which it carries.
        client: makes clients of the server.
        wait_s: how long sessions queue for slots of the server.
        timeout_s: how long a turn may take; `None` as long as the server allows.
    """

    def __init__(
        self, slots: range, client: MakesClients, wait_s: float, timeout_s: float | None
    ) -> None:
        self._slots = slots
        self._client = client
        self._wait_s = wait_s
        self._timeout_s = timeout_s
        self._breaker = Breaker()
        self._choosing = asyncio.Lock()
        self._lane: BatchLane | ClientLane | None = None
        self.url: str = client()._endpoint.base_url

    async def perform(self, turns: Sequence[Turn]) -> list[Outcome]:
        """Takes turns of different slots at the same time."""
        lane = self._lane
        if lane is None:
            async with self._choosing:
                lane = self._lane = self._lane or await self._chosen()
        return await lane.perform(turns)

    async def close(self) -> None:
        """Ends the sessions; when it returns the server has freed them."""
        lane, self._lane = self._lane, None
        if lane is not None:
            await lane.close()

    async def _chosen(self) -> BatchLane | ClientLane:
        client = self._client()
        if client._endpoint.subprotocols:
            mux = Mux(client._endpoint, self._breaker)
            if await mux.agree():
                return BatchLane(mux, len(self._slots), client, self._wait_s, self._timeout_s)
        return ClientLane(self._slots, self._client, self._wait_s, self._breaker)
