"""A lane of clients: one connection for each slot, as any server understands it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from openenv.client.env_client import EnvClient
from openenv.client.results import StepResult
from openenv.protocol.errors import ConnectFailed, Json
from openenv.rollout.breaker import Breaker
from openenv.rollout.lanes import RECOVERY_WAIT_S, MakesClients, Outcome, Turn

OPENING_AT_ONCE = 64


class ClientLane:
    """One client for each slot.

    Args:
        slots: which.
        client: makes them.
        wait_s: how long the first sessions queue for slots of the server.
        breaker: what is known of the server.
    """

    def __init__(
        self, slots: Sequence[int], client: MakesClients, wait_s: float, breaker: Breaker
    ) -> None:
        self._client = client
        self._recovery_s = max(wait_s, RECOVERY_WAIT_S)
        self._breaker = breaker
        self._clients = {slot: client(wait_s=wait_s) for slot in slots}
        self._door = asyncio.Semaphore(OPENING_AT_ONCE)

    async def perform(self, turns: Sequence[Turn]) -> list[Outcome]:
        """Takes turns of different slots at the same time."""
        return await asyncio.gather(*map(self._outcome, turns))

    async def close(self) -> None:
        """Ends the sessions; when it returns the server has freed them."""
        await asyncio.gather(*(client.close() for client in self._clients.values()))

    async def _outcome(self, turn: Turn) -> Outcome:
        client = self._clients[turn.slot]
        take = self._reset if turn.op == "reset" else _step
        try:
            return await take(client, turn.data)
        except Exception as error:  # noqa: BLE001  # one slot's fault is nobody else's
            if isinstance(error, ConnectFailed):
                self._breaker.trip()
            if not client._conversation.is_connected:
                self._clients[turn.slot] = self._client(wait_s=self._recovery_s, connect_retries=0)
            return error

    async def _reset(self, client: EnvClient[Any, Any, Any], options: Json) -> StepResult[Any]:
        if not client._conversation.is_connected:
            async with self._door:
                await self._breaker.attempt(partial(_connect, client))
        return await client.reset(**options)


async def _connect(client: EnvClient[Any, Any, Any]) -> None:
    await client.connect()


async def _step(client: EnvClient[Any, Any, Any], payload: Json) -> StepResult[Any]:
    flow = client._conversation.step(payload, None, client._read_result)
    result: StepResult[Any] = await client._operate("step", flow)
    return result
