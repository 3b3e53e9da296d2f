"""What carries frames, below any client: both directions at any time, and every end typed."""

import asyncio
from typing import Any

import pytest
from websockets.sync.server import ServerConnection

from openenv.client.endpoint import Endpoint
from openenv.client.transports.stream import Stream
from openenv.protocol.errors import OpenEnvError
from tests.client.peers import scripted
from tests.client.worlds import PATIENCE_S

V2 = ("openenv.v2+msgpack", "openenv.v2+json")


def echo(connection: ServerConnection) -> None:
    while True:
        connection.send(connection.recv(PATIENCE_S))


class Heard:
    """What a stream was told."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[str | bytes] = asyncio.Queue()
        self.lost: list[OpenEnvError] = []
        self.over = asyncio.Event()

    def on_lost(self, error: OpenEnvError) -> None:
        self.lost.append(error)
        self.over.set()

    async def open(self, url: str, **options: Any) -> Stream:
        return await Stream.open(Endpoint(url, **options), self.messages.put_nowait, self.on_lost)


@pytest.mark.parametrize("size", [0, 5, 125, 126, 65_536, 3_000_000])
async def test_a_stream_carries_text_and_bytes(size: int) -> None:
    heard = Heard()
    with scripted(echo, subprotocols=list(V2), max_size=None) as url:
        stream = await heard.open(url, subprotocols=V2)
        assert stream.subprotocol == V2[0]
        for message in ("x" * size, b"x" * size):
            stream.send(message)
            await stream.drain()
            assert await heard.messages.get() == message
        await stream.close(None, PATIENCE_S)
    assert heard.lost == []
