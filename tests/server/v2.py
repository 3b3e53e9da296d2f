"""Wire v2 as raw frames on real sockets: a client that says what it is told, in both encodings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from websockets.sync.client import ClientConnection

from tests.serving import PATIENCE_S, Served

MSGPACK, JSON = "openenv.v2+msgpack", "openenv.v2+json"
ENCODINGS = (MSGPACK, JSON)


class V2:
    """One v2 socket. Requests get ids of their own, unless they are told one."""

    def __init__(self, connection: ClientConnection, encoding: str) -> None:
        self.connection = connection
        self.binary = encoding == MSGPACK
        self._id = 0

    def send(self, op: str, **fields: Any) -> int:
        """Sends a request; gives its id."""
        self._id += 1
        message = {"id": self._id, "op": op, **fields}
        self.send_frame(message)
        return int(message["id"])

    def send_frame(self, message: Any) -> None:
        """Sends a frame: bytes and text as they are, anything else encoded."""
        if isinstance(message, str | bytes):
            self.connection.send(message)
        elif self.binary:
            self.connection.send(msgspec.msgpack.encode(message))
        else:
            self.connection.send(json.dumps(message))

    def receive(self) -> dict[str, Any]:
        """The next frame, whatever it answers."""
        frame = self.connection.recv(timeout=PATIENCE_S)
        assert isinstance(frame, bytes) is self.binary
        message = msgspec.msgpack.decode(frame) if isinstance(frame, bytes) else json.loads(frame)
        assert isinstance(message, dict)
        return message

    def gather(self, count: int) -> dict[int, dict[str, Any]]:
        """That many replies, by their ids."""
        replies = [self.receive() for _ in range(count)]
        return {reply["id"]: reply for reply in replies}

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """Sends a request; the reply, which must be the next frame."""
        ident = self.send(op, **fields)
        reply = self.receive()
        assert reply["id"] == ident
        return reply

    def done(self, op: str, **fields: Any) -> Any:
        """The data of a reply that is no error."""
        reply = self.ask(op, **fields)
        assert reply["type"] != "error", reply
        return reply["data"]

    def refused(self, op: str, **fields: Any) -> str:
        """The code of the error that is the reply."""
        return code(self.ask(op, **fields))

    def open(self, ch: int = 0, **data: Any) -> dict[str, Any]:
        """Opens a session, or comes back to one."""
        reply = self.ask("open", ch=ch, data=data)
        assert reply["type"] == "opened", reply
        opened: dict[str, Any] = reply["data"]
        return opened

    def step(self, seq: int, ch: int = 0, **action: Any) -> Any:
        """The observation of a step."""
        return self.done("step", ch=ch, seq=seq, data=action)["observation"]


def code(reply: dict[str, Any]) -> str:
    """The code of an error."""
    assert reply["type"] == "error", reply
    assert reply["data"]["message"]
    assert isinstance(reply["data"]["retryable"], bool)
    return str(reply["data"]["code"])


@contextmanager
def speaking(server: Served, encoding: str = MSGPACK) -> Iterator[V2]:
    """A v2 socket."""
    with server.socket(subprotocols=[encoding]) as socket:
        assert socket.connection.subprotocol == encoding
        yield V2(socket.connection, encoding)


def back(opened: dict[str, Any], last_seq: int = 0) -> dict[str, Any]:
    """What `open` is told to come back to a session."""
    return {
        "session_id": opened["session_id"],
        "token": opened["token"],
        "last_seq": last_seq,
    }
