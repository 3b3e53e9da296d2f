"""Servers that take nothing for a while: what is sent meanwhile, and what is heard."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
import uvloop
from websockets.frames import Frame
from websockets.protocol import State
from websockets.server import ServerProtocol

from openenv.client.endpoint import Endpoint
from openenv.client.transports.awaiting import AwaitingSocket
from openenv.protocol.errors import SessionLost
from tests.client.peers import raw
from tests.client.test_transports import LARGE, accept
from tests.client.worlds import PATIENCE_S

SHORT_S = 0.05


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Any:
    return request.param


Talk = Callable[[AwaitingSocket, list[Any]], Coroutine[Any, Any, None]]


def talking(port: int, talk: Talk) -> Coroutine[Any, Any, None]:
    """Has a body talk over a socket, with a list of what it will have heard."""

    async def body() -> None:
        connection = await AwaitingSocket.open(Endpoint(f"http://127.0.0.1:{port}"))
        try:
            await talk(connection, [])
        finally:
            connection.abort()

    return body()


def messages(connection: socket.socket) -> Iterator[bytes]:
    """What comes over a WebSocket on which hands were shaken."""
    protocol = ServerProtocol(state=State.OPEN, max_size=None)
    while data := connection.recv(1 << 20):
        protocol.receive_data(data)
        for event in protocol.events_received():
            assert isinstance(event, Frame)
            yield bytes(event.data)


def test_nothing_is_sent_again_until_there_is_room(run: Any) -> None:
    may_read, taken = threading.Event(), list[int]()

    def stalled(connection: socket.socket) -> None:
        accept(connection)
        may_read.wait(PATIENCE_S)
        for message in messages(connection):
            taken.append(len(message))
            if message == b"last":
                connection.sendall(b"\x81\x06answer")

    async def talk(client: AwaitingSocket, heard: list[Any]) -> None:
        def any_answer() -> bool:
            return bool(heard)

        for _ in range(6):
            until = time.monotonic() + SHORT_S
            assert not await client.transmit([b"x" * LARGE], heard.append, any_answer, until)
        may_read.set()
        until = time.monotonic() + PATIENCE_S
        assert await client.transmit(["last"], heard.append, any_answer, until)
        assert heard == ["answer"]

    with raw(stalled) as port:
        run(talking(port, talk))
    assert taken == [LARGE, len("last")]


def test_what_comes_is_heard_though_there_is_no_room(run: Any) -> None:
    done = threading.Event()

    def speaking(connection: socket.socket) -> None:
        accept(connection)
        connection.recv(1)
        connection.sendall(b"\x81\x06answer")
        done.wait(PATIENCE_S)

    async def talk(client: AwaitingSocket, heard: list[Any]) -> None:
        frames: list[str | bytes] = [b"x" * LARGE, "more"]
        until = time.monotonic() + PATIENCE_S
        assert await client.transmit(frames, heard.append, lambda: bool(heard), until)
        assert heard == ["answer"]
        done.set()

    with raw(speaking) as port:
        run(talking(port, talk))


def test_a_server_that_leaves_without_having_taken_all_is_told(run: Any) -> None:
    def leaving(connection: socket.socket) -> None:
        accept(connection)
        connection.recv(1)

    async def talk(client: AwaitingSocket, heard: list[Any]) -> None:
        frames: list[str | bytes] = [b"x" * LARGE, "more"]
        until = time.monotonic() + PATIENCE_S
        for _ in range(2):
            with pytest.raises(SessionLost):
                await client.transmit(frames, heard.append, lambda: bool(heard), until)

    with raw(leaving) as port:
        run(talking(port, talk))
