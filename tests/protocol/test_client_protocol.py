"""The table of a client's turns, walked cell by cell: what each event does in each state."""

from collections.abc import Callable

import pytest

from openenv.protocol.client import ClientProtocol, Turn, raise_uninvited
from openenv.protocol.errors import ConcurrentCall, ProtocolError, SessionCapacityError, StepTimeout
from openenv.protocol.messages import Operation, Request

GOOD = '{"type":"observation","data":{"observation":{},"reward":null,"done":false}}'
ERROR = '{"type":"error","data":{"code":"STEP_TIMEOUT","message":"too slow"}}'
WRONG = '{"type":"state","data":{}}'

Event = Callable[[ClientProtocol], object]


def send(protocol: ClientProtocol) -> object:
    return protocol.send(Request("step", {"n": 1}))


def good(protocol: ClientProtocol) -> object:
    return protocol.receive(GOOD)


def error(protocol: ClientProtocol) -> object:
    return protocol.receive(ERROR)


def wrong(protocol: ClientProtocol) -> object:
    return protocol.receive(WRONG)


def unreadable(protocol: ClientProtocol) -> object:
    return protocol.receive("{")


def abandon(protocol: ClientProtocol) -> object:
    protocol.abandon()
    return None


TABLE: list[tuple[Turn, Event, type[Exception] | None, Turn]] = [
    (Turn.IDLE, send, None, Turn.WAITING),
    (Turn.IDLE, good, ProtocolError, Turn.BROKEN),
    (Turn.IDLE, error, StepTimeout, Turn.BROKEN),
    (Turn.IDLE, wrong, ProtocolError, Turn.BROKEN),
    (Turn.IDLE, unreadable, ProtocolError, Turn.BROKEN),
    (Turn.IDLE, abandon, None, Turn.BROKEN),
    (Turn.WAITING, send, ConcurrentCall, Turn.WAITING),
    (Turn.WAITING, good, None, Turn.IDLE),
    (Turn.WAITING, error, StepTimeout, Turn.IDLE),
    (Turn.WAITING, wrong, ProtocolError, Turn.BROKEN),
    (Turn.WAITING, unreadable, ProtocolError, Turn.BROKEN),
    (Turn.WAITING, abandon, None, Turn.BROKEN),
    (Turn.BROKEN, send, ProtocolError, Turn.BROKEN),
    (Turn.BROKEN, good, ProtocolError, Turn.BROKEN),
    (Turn.BROKEN, error, StepTimeout, Turn.BROKEN),
    (Turn.BROKEN, wrong, ProtocolError, Turn.BROKEN),
    (Turn.BROKEN, unreadable, ProtocolError, Turn.BROKEN),
    (Turn.BROKEN, abandon, None, Turn.BROKEN),
]


def at(turn: Turn) -> ClientProtocol:
    """A conversation that came to this turn by what happened in it."""
    protocol = ClientProtocol()
    if turn is not Turn.IDLE:
        send(protocol)
    if turn is Turn.BROKEN:
        abandon(protocol)
    return protocol


@pytest.mark.parametrize(
    ("turn", "event", "raised", "then"),
    TABLE,
    ids=[f"{turn.value}-{event.__name__}" for turn, event, _, _ in TABLE],
)
def test_each_cell(turn: Turn, event: Event, raised: type[Exception] | None, then: Turn) -> None:
    protocol = at(turn)
    if raised is None:
        event(protocol)
    else:
        with pytest.raises(raised):
            event(protocol)
    assert protocol.turn is then


def test_the_table_has_every_cell() -> None:
    events = {send, good, error, wrong, unreadable, abandon}
    assert {(turn, event) for turn, event, _, _ in TABLE} == {(t, e) for t in Turn for e in events}


def test_a_good_reply_gives_its_data() -> None:
    assert good(at(Turn.WAITING)) == {"observation": {}, "reward": None, "done": False}


def test_many_calls_in_turn() -> None:
    protocol = ClientProtocol()
    for _ in range(3):
        protocol.send(Request("step"))
        protocol.receive(GOOD)
        protocol.send(Request("state"))
        assert protocol.receive(WRONG) == {}


@pytest.mark.parametrize("frame", ["[]", "1", '{"type":"observation"}', '{"data":{}}', b"\xff", ""])
def test_what_is_no_reply_breaks_the_conversation(frame: str | bytes) -> None:
    protocol = at(Turn.WAITING)
    with pytest.raises(ProtocolError):
        protocol.receive(frame)
    assert protocol.turn is Turn.BROKEN


@pytest.mark.parametrize("op", ["reset", "step"])
def test_a_request_that_cannot_be_sent_changes_nothing(op: Operation) -> None:
    protocol = ClientProtocol()
    with pytest.raises(Exception, match="no wire form"):
        protocol.send(Request(op, {"value": object()}))
    assert protocol.turn is Turn.IDLE


def test_a_second_call_is_told_of_the_first() -> None:
    protocol = at(Turn.WAITING)
    with pytest.raises(ConcurrentCall, match=r"state\(\) was called while step\(\)"):
        protocol.send(Request("state"))


def test_a_parting_error_is_raised_as_it_is() -> None:
    full = '{"type":"error","data":{"code":"CAPACITY_REACHED","message":"full"}}'
    with pytest.raises(SessionCapacityError):
        raise_uninvited(full)


def test_anything_else_uninvited_is_a_fault() -> None:
    with pytest.raises(ProtocolError):
        raise_uninvited(GOOD)
