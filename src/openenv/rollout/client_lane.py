"""A lane of clients: one connection for each slot, as any server understands it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from openenv.client.env_client import EnvClient
from openenv.client.results import StepResult
from openenv.protocol.errors import Json
from openenv.rollout.lanes import Call, Outcome

RECOVERY_WAIT_S = 2.0
"""How long a new session queues for the slot that a lost one may still hold."""
OPENING_AT_ONCE = 64


class MakesClients(Protocol):
    """Makes a client that queues for a session for so long."""

    def __call__(self, *, wait_s: float) -> EnvClient[Any, Any, Any]:
        """The client, not connected."""


class ClientLane:
    """One client for each slot.

    Args:
        url: the server's address.
        slots: which.
        client: makes a client for one slot.
        wait_s: how long the first sessions queue.
    """

    def __init__(self, url: str, slots: Sequence[int], client: MakesClients, wait_s: float) -> None:
        self.url = url
        self._slots = slots
        self._client = client
        self._wait_s = wait_s
        self._clients = {slot: client(wait_s=wait_s) for slot in slots}
        self._door = asyncio.Semaphore(OPENING_AT_ONCE)

    async def perform(self, calls: Sequence[Call]) -> list[Outcome]:
        """Makes calls of different slots at the same time."""
        return await asyncio.gather(*map(self._outcome, calls))

    async def close(self) -> None:
        """Ends the sessions; when it returns the server has freed them."""
        await asyncio.gather(*(client.close() for client in self._clients.values()))
        self._clients = {slot: self._client(wait_s=self._wait_s) for slot in self._slots}

    async def _outcome(self, call: Call) -> Outcome:
        client = self._clients[call.slot]
        try:
            return await (self._reset if call.op == "reset" else _step)(client, call.data)
        except Exception as error:  # noqa: BLE001  # one slot's fault is nobody else's
            if client._conversation.protocol is None:
                self._clients[call.slot] = self._client(wait_s=max(self._wait_s, RECOVERY_WAIT_S))
            return error

    async def _reset(self, client: EnvClient[Any, Any, Any], options: Json) -> StepResult[Any]:
        async with self._door:
            await client.connect()
        return await client.reset(**options)


async def _step(client: EnvClient[Any, Any, Any], payload: Json) -> StepResult[Any]:
    flow = client._conversation.step(payload, client._message_timeout, client._read_result)
    result: StepResult[Any] = await client._operate("step", flow)
    return result
