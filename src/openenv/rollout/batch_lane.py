"""A lane of channels: all its sessions share one connection of wire v2."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any

from openenv.client.env_client import EnvClient
from openenv.protocol.envelope import Ask, encode_ask
from openenv.protocol.errors import (
    Json,
    OpenEnvError,
    ReplyTimeout,
    SessionError,
    SessionGone,
    SessionLost,
)
from openenv.protocol.line import Call, ClientChannel, lost_because
from openenv.rollout.lanes import RECOVERY_WAIT_S, Outcome, Turn
from openenv.rollout.mux import Mux

GRACE_S = 2.0
"""How long an answer may be on its way once the server's time for it is up."""
CLOSE_TIMEOUT_S = 15.0
"""How long `close()` waits for the server to free the sessions."""
DEFAULT_TIMEOUT_S = 60.0
MORE_ATTEMPTS = 4
"""How often a reset goes on in another session when its own turns out to be gone."""
LAST_TRY_S = 1.0
"""How long it tries to reach a server whose connection is broken."""


class BatchLane:
    """Sessions side by side. Turns that are taken together are one message each way.

    Args:
        mux: an open connection.
        size: how many slots there are.
        client: whose answers are read; it connects nowhere.
        wait_s: how long the first sessions queue for slots of the server.
        timeout_s: how long the server may take for a turn; `None` as long as it allows itself.
    """

    def __init__(
        self,
        mux: Mux,
        size: int,
        client: EnvClient[Any, Any, Any],
        wait_s: float,
        timeout_s: float | None,
    ) -> None:
        self._mux = mux
        self._client = client
        self._wait_s = wait_s
        self._timeout_s = timeout_s
        self._size = size
        self._channels: dict[int, ClientChannel] = {}
        self._opened = 0

    async def perform(self, turns: Sequence[Turn]) -> list[Outcome]:
        """Takes turns of different slots at the same time."""
        outcomes = await self._attempt(turns)
        for _ in range(MORE_ATTEMPTS):
            again = [
                index
                for index, outcome in enumerate(outcomes)
                if isinstance(outcome, SessionLost) and turns[index].op == "reset"
            ]
            if not again:
                break
            fresh = await self._attempt([turns[index] for index in again])
            for index, outcome in zip(again, fresh, strict=True):
                outcomes[index] = outcome
        return outcomes

    async def close(self) -> None:
        """Ends the sessions; when it returns the server has freed them."""
        mux = self._mux
        mux.come_over()
        patience = LAST_TRY_S if mux.dialogue.is_broken else CLOSE_TIMEOUT_S
        goodbyes = [
            mux.dialogue.line.call(channel, "close", {"now": bool(channel.owed)})
            for channel in self._channels.values()
            if channel.is_open
        ]
        try:
            await asyncio.gather(
                *(mux.settle(goodbye, patience) for goodbye in goodbyes), return_exceptions=True
            )
        finally:
            await mux.close()

    async def _attempt(self, turns: Sequence[Turn]) -> list[Outcome]:
        """Takes turns, each reset in the session there is or else in a new one."""
        if self._mux.dialogue.is_broken:
            await self._mux.ready(self._patience("reset"))
        new = [turn.slot for turn in turns if turn.op == "reset" and not self._is_open(turn.slot)]
        refused = {} if not new else await self._open_all(new)
        ready = [turn for turn in turns if self._is_open(turn.slot)]
        outcomes = await self._outcomes(ready)
        if len(ready) == len(turns):
            return outcomes
        done = {turn.slot: outcome for turn, outcome in zip(ready, outcomes, strict=True)}
        return [done.get(slot) or refused.get(slot) or self._lost(slot) for slot, *_ in turns]

    def _is_open(self, slot: int) -> bool:
        channel = self._channels.get(slot)
        return channel is not None and channel.is_open

    def _lost(self, slot: int) -> SessionLost:
        """Why a slot has no session."""
        channel = self._channels.get(slot, ClientChannel())
        gone = channel.ended or SessionGone("the session is gone; reset() begins a new one")
        return lost_because(gone, channel)

    async def _open_all(self, slots: Sequence[int]) -> dict[int, OpenEnvError | None]:
        """Opens sessions at the same time; why some could not be opened."""
        return dict(zip(slots, await asyncio.gather(*map(self._open, slots)), strict=True))

    async def _open(self, slot: int) -> OpenEnvError | None:
        """Opens a session on a channel that was never used before; gives the error if it failed."""
        wait_s = self._wait_s if self._opened < self._size else max(self._wait_s, RECOVERY_WAIT_S)
        channel = ClientChannel(self._opened)
        self._opened += 1
        if (old := self._channels.pop(slot, None)) is not None:
            self._mux.dialogue.channels.pop(old.number, None)
        try:
            await self._mux.open(channel, wait_s, self._patience("reset"))
        except OpenEnvError as error:
            return error
        self._channels[slot] = channel
        return None

    async def _outcomes(self, turns: Sequence[Turn]) -> list[Outcome]:
        """Asks what was asked of open sessions, in one message if it can be."""
        if len(turns) <= 1:
            return [await self._alone(turn) for turn in turns]
        asked = [(self._channels[turn.slot], turn.op, turn.data) for turn in turns]
        try:
            batch = self._mux.dialogue.line.batch(asked)
        except SessionError:  # one of them can't be sent: the others can
            return await asyncio.gather(*map(self._alone, turns))
        self._limit(batch, {"items": batch.items}, None)
        return await self._settled(turns, batch, list(batch.parts))

    async def _alone(self, turn: Turn) -> Outcome:
        if not self._is_open(turn.slot):
            return self._lost(turn.slot)
        channel = self._channels[turn.slot]
        try:
            call = self._mux.dialogue.line.call(channel, turn.op, turn.data)
        except SessionError as error:
            return error
        self._limit(call, turn.data, channel.seq)
        return (await self._settled([turn], call, [call]))[0]

    async def _settled(
        self, turns: Sequence[Turn], call: Call, parts: Sequence[Call]
    ) -> list[Outcome]:
        """Waits for the answer to a message; what it means for each turn."""
        try:
            await self._mux.settle(call, self._patience(turns[0].op))
        except ReplyTimeout as error:
            return [
                self._outcome(part) if part.done() else self._given_up(turn.slot, error)
                for turn, part in zip(turns, parts, strict=True)
            ]
        except OpenEnvError as error:
            return [self._outcome(part) if part.done() else error for part in parts]
        return list(map(self._outcome, parts))

    def _given_up(self, slot: int, error: ReplyTimeout) -> ReplyTimeout:
        """Gives up a session in which something hangs; the slot's next one is another."""
        self._mux.forsake(self._channels.pop(slot))
        return error

    def _outcome(self, part: Call) -> Outcome:
        try:
            return self._client._read_result(part.result())
        except Exception as error:  # noqa: BLE001  # one slot's fault is nobody else's
            return error

    def _limit(self, call: Call, data: Json, seq: int | None) -> None:
        """Has the server keep to the time that a turn may take, and tell whose it was."""
        if self._timeout_s is not None:
            ask = Ask(call.ident, call.op, call.channel.number, seq, self._timeout_s, data)
            call.frame = encode_ask(ask, self._mux.dialogue.line.encoding)

    def _patience(self, op: str) -> float:
        """How long an answer is waited for: longer than the server may take for it."""
        allowed = self._timeout_s
        if allowed is None:
            channel = next(iter(self._channels.values()), ClientChannel())
            allowed = channel.limits.get(f"{op}_timeout_s", DEFAULT_TIMEOUT_S)
        return math.inf if allowed is None else allowed + GRACE_S
