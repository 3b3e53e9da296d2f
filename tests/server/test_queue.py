"""Places in the queue: those who ask for theirs are told, at once and when it changes."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from openenv.protocol.envelope import Encoding
from openenv.protocol.line import ClientChannel, Line
from openenv.runtime.limits import Limits
from tests.server.v2 import ENCODINGS, JSON, MSGPACK, V2, code, speaking
from tests.server.worlds import World
from tests.serving import Served, eventually, serving


@pytest.fixture
def single() -> Iterator[Served]:
    """A server with one slot, and a queue for three."""
    with serving(World, host_kind="inline", limits=Limits(capacity=1, waiting=3)) as server:
        yield server
        eventually(lambda: server.active() == 0)
        assert server.health()["waiting"] == 0


def queued(client: V2) -> tuple[int, int]:
    """The place that the next frame tells, and how many are in the queue."""
    frame = client.receive()
    assert frame.keys() == {"type", "ch", "data"}, frame
    assert frame["type"] == "queued"
    assert frame["data"].keys() == {"position", "waiting"}
    return frame["data"]["position"], frame["data"]["waiting"]


def wait(client: V2, **data: Any) -> int:
    """Asks for a session that is not to be had now."""
    return client.send("open", data={"wait_s": 60, **data})


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_places_are_told_as_they_change(single: Served, encoding: str) -> None:
    with ExitStack() as stack:
        first, second, third, last = (
            stack.enter_context(speaking(single, encoding)) for _ in range(4)
        )
        first.open()
        wait(second, queue=True)
        assert queued(second) == (1, 1)
        wait(third, queue=True)
        assert queued(third) == (2, 2)
        ident = wait(last, queue=True)
        assert queued(last) == (3, 3)
        third.connection.close()
        assert queued(last) == (2, 2)
        assert first.done("close") == {}
        assert second.receive()["type"] == "opened"
        assert queued(last) == (1, 1)
        assert second.done("close") == {}
        opened = last.receive()
        assert (opened["type"], opened["id"]) == ("opened", ident)
        assert last.done("close") == {}


def test_who_is_served_at_once_has_no_place(single: Served) -> None:
    with speaking(single, JSON) as client:
        assert client.open(wait_s=60, queue=True)["resumed"] is False


def test_who_does_not_ask_is_not_told(single: Served) -> None:
    with speaking(single, MSGPACK) as first, speaking(single, MSGPACK) as second:
        first.open()
        ident = wait(second)
        eventually(lambda: single.health()["waiting"] == 1)
        first.done("close")
        assert second.receive()["id"] == ident


def test_on_a_channel_of_many(single: Served) -> None:
    with speaking(single, JSON) as client:
        client.open()
        client.send("open", ch=5, data={"wait_s": 60, "queue": True})
        frame = client.receive()
        assert (frame["ch"], frame["data"]) == (5, {"position": 1, "waiting": 1})
        assert client.done("reset", seq=1)["done"] is False
        client.send("close")
        assert {client.receive()["type"] for _ in range(2)} == {"opened", "closed"}


def test_who_comes_too_late_or_waits_in_vain_is_refused(single: Served) -> None:
    with speaking(single, JSON) as first, speaking(single, JSON) as second:
        first.open()
        client = second.send("open", data={"wait_s": 0.01, "queue": True})
        assert queued(second) == (1, 1)
        refusal = second.receive()
        assert (refusal["id"], code(refusal)) == (client, "CAPACITY_REACHED")
        assert second.refused("open", data={"queue": True}) == "CAPACITY_REACHED"
        assert second.refused("open", data={"queue": "yes"}) == "VALIDATION_ERROR"


def test_a_client_of_ours_takes_no_harm() -> None:
    line = Line(Encoding.JSON)
    channel = ClientChannel()
    call = line.call(channel, "open", {"wait_s": 60.0})
    assert "queue" not in str(call.frame)
    line.receive('{"type":"queued","ch":0,"data":{"position":1,"waiting":3}}')
    assert not call.done()
    line.receive(f'{{"id":{call.ident},"type":"opened","ch":0,"data":{{"session_id":"s"}}}}')
    assert call.result() == {"session_id": "s"}
