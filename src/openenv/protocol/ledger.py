"""Ledger: what a session did last, so that no request is carried out twice."""

from __future__ import annotations

from dataclasses import dataclass

from openenv.protocol.errors import OutOfTurn
from openenv.protocol.messages import Operation, Reply


@dataclass(slots=True)
class Ledger:
    """The last request that changed one session, and the reply to it.

    Requests come one at a time: the last one is settled before the next is admitted.

    Attributes:
        last: its sequence number; 0 before the first.
    """

    last: int = 0
    _op: Operation = "reset"
    _reply: Reply | None = None

    def admit(self, seq: int, op: Operation) -> Reply | None:
        """Whether a request is to be carried out: `None`, or else the reply that was kept.

        Raises:
            OutOfTurn: it is neither the next request nor the last one again.
        """
        if seq == self.last + 1:
            self.last, self._op, self._reply = seq, op, None
            return None
        if seq == self.last and op == self._op and self._reply is not None:
            return self._reply
        code = "SEQ_GAP" if seq > self.last else "STALE_SEQ"
        raise OutOfTurn(
            f"{op} has seq {seq}, but the session's last was {self.last} ({self._op}): expected "
            f"{self.last + 1}, or {self.last} again; nothing was done",
            code=code,
            seq=seq,
            last_seq=self.last,
        )

    def settle(self, reply: Reply) -> None:
        """Keeps the reply to the request that was admitted last."""
        self._reply = reply
