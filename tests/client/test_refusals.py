"""What is refused, closed or too large in wire v2 costs neither the session nor its slot."""

import asyncio
import json
import struct
from typing import Any

import pytest

from openenv import InvalidRequest, Limits, MessageTooLarge, SessionLost
from openenv.protocol.envelope import Ask as Envelope
from openenv.protocol.envelope import Encoding, encode_ask
from openenv.protocol.line import ClientChannel, Line
from tests.client.ways import Ask, Way
from tests.client.worlds import Gate, Parrot, ParrotClient, Say
from tests.serving import Served, eventually, serving

SMALL = 100_000


class Odd(ParrotClient):
    """Sends what is no object for one of its actions."""

    def _step_payload(self, action: Any) -> Any:
        return [1, 2] if action.text == "odd" else super()._step_payload(action)


def test_an_action_that_is_no_object_leaves_the_session_alone(url: str, colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        await ask(client.step(Say(text="a")))
        with pytest.raises(InvalidRequest, match="valid dictionary"):
            await ask(client.step(Say(text="odd")))
        assert (await ask(client.step(Say(text="b")))).observation.step == 2

    Way(colour, url).run(talk, Odd(base_url=url))


def test_a_frame_with_too_many_parts_is_refused_by_its_id(url: str, colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        with pytest.raises(InvalidRequest, match="send numbers as an array"):
            await ask(client.step({"text": "a", "metadata": {"n": [0, 223, 1.5] * 400_000}}))
        assert (await ask(client.step(Say(text="b")))).observation.step == 1

    Way(colour, url).run(talk, ParrotClient(base_url=url))


@pytest.mark.parametrize("protocol", ["v2+json", "v2+msgpack"])
def test_sizes_are_counted_in_bytes(colour: str, protocol: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        with pytest.raises(MessageTooLarge, match="nothing was sent"):
            await ask(client.step(Say(text="é" * (SMALL * 2 // 3))))
        assert (await ask(client.step(Say(text="b")))).observation.step == 1

    with serving(Parrot, limits=Limits(max_message_bytes=SMALL)) as served:
        url = f"http://127.0.0.1:{served.port}"
        Way(colour, url).run(talk, ParrotClient(base_url=url, protocol=protocol))


async def test_close_during_a_reset_opens_nothing_more(parrots: Served, url: str) -> None:
    client: Any = ParrotClient(base_url=url)
    await client.connect()
    gate = Gate()

    async def reset() -> Any:
        return await client.reset(gate=gate.name)

    running = asyncio.create_task(reset())
    await asyncio.to_thread(gate.entered.wait)
    closing = asyncio.create_task(client.close())
    with pytest.raises(SessionLost, match="closed"):
        await running
    gate.opened.set()
    await closing
    eventually(lambda: parrots.openenv.active_sessions == 0)


def test_a_goodbye_in_a_choked_socket_leaves_no_session_behind() -> None:
    class Slow(Parrot):
        async def close(self) -> None:  # type: ignore[override]
            await asyncio.sleep(0.5)

    def text(**message: Any) -> bytes:
        return json.dumps(message).encode()

    with serving(Slow, limits=Limits(resume_grace=0), host_kind="inline") as served:
        with served.raw() as client:
            client.upgrade("Sec-WebSocket-Protocol: openenv.v2+json")
            client.send(text(id=1, op="reset", ch=0, seq=1))
            for n in range(3):
                client.send(text(id=2 + n, op="step", ch=0, seq=2 + n, data={"size": 3_000_000}))
            for n in range(20):
                client.send(text(id=50 + n, op="reset", ch=50 + n, seq=1))
            client.send(struct.pack("!H", 1000), opcode=8)
            client.rest()
        eventually(lambda: served.openenv.active_sessions == 0)


def test_an_error_without_an_id_ends_no_session() -> None:
    line, channel = Line(Encoding.JSON), ClientChannel()
    channel.opened({"session_id": "s", "token": "t", "seq": 0})
    call = line.call(channel, "reset", {})
    with pytest.raises(Exception, match="complains of a frame"):
        line.receive('{"type":"error","ch":0,"data":{"code":"INVALID_JSON","message":"?"}}')
    assert channel.is_open
    assert call.frame == encode_ask(Envelope(1, "reset", 0, 1, data={}), Encoding.JSON)
    assert '"t"' not in repr(call)
