"""Whatever a client sends over `/ws`: one typed line for an answer, and the session goes on."""

import json
from typing import Any

import pytest

from openenv.protocol.errors import WSErrorCode
from tests.server.worlds import Do, Saw, World
from tests.serving import Served, Socket, eventually, frame_head, serving

STEP = {"type": "step", "data": {"text": "still here"}}


def goes_on(client: Socket) -> None:
    """The session takes an ordinary episode."""
    assert client.reset()["observation"]["text"] == "ready"
    assert client.step(text="still here")["observation"]["text"] == "still here"


def frame(**parts: Any) -> str:
    return json.dumps(parts)


DEEP = "[" * 10_000 + "]" * 10_000

NOT_JSON = {
    "words": "hello",
    "nothing": "",
    "blanks": "  \n",
    "half": '{"type": "reset"',
    "two": '{"type": "reset"} {"type": "reset"}',
    "python": "{'type': 'reset'}",
    "nan": '{"type": "step", "data": {"number": NaN}}',
    "infinity": '{"type": "step", "data": {"number": -Infinity}}',
    "deep": DEEP,
    "deep inside": f'{{"type": "reset", "data": {{"x": {DEEP}}}}}',
    "half a pair": r'{"type": "step", "data": {"text": "\ud800"}}',
    "pair reversed": r'{"type": "step", "data": {"text": "\udc00\ud800"}}',
    "bare control": '{"type": "step", "data": {"text": "\x00"}}',
}


@pytest.mark.parametrize("text", NOT_JSON.values(), ids=NOT_JSON)
def test_what_is_not_json_is_told(client: Socket, text: str) -> None:
    error = client.refused(text)
    assert error["code"] == WSErrorCode.INVALID_JSON
    assert error["message"].startswith("Invalid JSON: ")
    assert len(error["message"]) < 500
    assert "\n" not in error["message"]
    goes_on(client)


@pytest.mark.parametrize("text", ["[]", "[1, 2]", "3", "1e999", '"reset"', "null", "true"])
def test_json_that_is_no_object_is_told(client: Socket, text: str) -> None:
    error = client.refused(text)
    assert error["code"] == WSErrorCode.VALIDATION_ERROR
    assert "expected a JSON object with 'type', got" in error["message"]
    goes_on(client)


UNKNOWN = {
    "no type": {},
    "another": {"type": "nope"},
    "upper case": {"type": "RESET"},
    "number": {"type": 7},
    "list": {"type": ["reset"]},
    "object": {"type": {"type": "reset"}},
    "null": {"type": None},
    "long": {"type": "x" * 100_000},
    "two lines": {"type": "re\nset"},
}


@pytest.mark.parametrize("message", UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_type_is_told(client: Socket, message: dict[str, Any]) -> None:
    error = client.refused(message)
    assert error["code"] == WSErrorCode.UNKNOWN_TYPE
    assert error["message"].startswith("Unknown message type: ")
    assert "reset, step, state, close" in error["message"]
    assert "\n" not in error["message"]
    assert len(error["message"]) < 300
    goes_on(client)


def test_a_number_too_long_to_print_is_told(hosted: Socket) -> None:
    assert hosted.ask(f'{{"type": {"9" * 5000}}}')["type"] == "error"
    assert hosted.ask(f'{{"type": "state", "data": {"9" * 5000}}}')["type"] == "error"
    assert hosted.ask(f'{{"type": "reset", "data": {"9" * 5000}}}')["type"] == "error"
    hosted.reset()
    assert hosted.ask(f'{{"type": "step", "data": {{"number": {"9" * 4200}}}}}')["type"] == "error"
    assert hosted.ask(f'{{"type": "step", "data": {{"number": {"9" * 5000}}}}}')["type"] == "error"
    goes_on(hosted)


FIELDS = {
    "a key too many": (
        {"type": "state", "data": {}},
        "'state' frame has no key 'data'",
        ["data"],
        "extra_forbidden",
    ),
    "a request id": (
        {**STEP, "request_id": "r1"},
        "'step' frame has no key 'request_id'",
        ["request_id"],
        "extra_forbidden",
    ),
    "no action": ({"type": "step"}, "needs 'data'", ["data"], "missing"),
    "action is null": ({"type": "step", "data": None}, "'data' must be", ["data"], "dict_type"),
    "action is a list": ({"type": "step", "data": [1]}, "'data' must be", ["data"], "dict_type"),
    "options are null": ({"type": "reset", "data": None}, "'data' must be", ["data"], "dict_type"),
    "ill-typed field": (
        {"type": "step", "data": {"number": "many"}},
        "number: Input should be a valid integer",
        ["number"],
        "int_parsing",
    ),
    "out of bounds": (
        {"type": "step", "data": {"number": -1}},
        "number: Input should be greater than or equal to 0",
        ["number"],
        "greater_than_equal",
    ),
    "null field": (
        {"type": "step", "data": {"text": None}},
        "text: Input should be a valid string",
        ["text"],
        "string_type",
    ),
    "extra field": (
        {"type": "step", "data": {"txet": "a"}},
        "txet: Extra inputs are not permitted",
        ["txet"],
        "extra_forbidden",
    ),
    "another environment's action": (
        {"type": "step", "data": {"message": "hello"}},
        "message: Extra inputs are not permitted",
        ["message"],
        "extra_forbidden",
    ),
    "negative seed": (
        {"type": "reset", "data": {"seed": -1}},
        "seed: Input should be greater than or equal to 0",
        ["seed"],
        "greater_than_equal",
    ),
    "ill-typed seed": (
        {"type": "reset", "data": {"seed": "lucky"}},
        "seed: Input should be a valid integer",
        ["seed"],
        "int_parsing",
    ),
    "long episode id": (
        {"type": "reset", "data": {"episode_id": "e" * 300}},
        "episode_id: String should have at most 255 characters",
        ["episode_id"],
        "string_too_long",
    ),
}


@pytest.mark.parametrize(("message", "words", "loc", "kind"), FIELDS.values(), ids=FIELDS)
def test_a_wrong_field_is_named(
    hosted: Socket, message: dict[str, Any], words: str, loc: list[str], kind: str
) -> None:
    hosted.reset()
    error = hosted.refused(message)
    assert error["code"] == WSErrorCode.VALIDATION_ERROR
    assert words in error["message"]
    assert "\n" not in error["message"]
    assert [(fault["loc"], fault["type"]) for fault in error["errors"]] == [(loc, kind)]
    goes_on(hosted)


def test_every_wrong_field_is_named(hosted: Socket) -> None:
    hosted.reset()
    action = {"what": "dance", "number": 1e10, "more": 1}
    error = hosted.refused({"type": "step", "data": action})
    assert {fault["loc"][0] for fault in error["errors"]} == {"what", "number", "more"}
    assert all(f"{name}: " in error["message"] for name in action)


def test_thousands_of_wrong_fields_are_told_briefly(client: Socket) -> None:
    client.reset()
    error = client.refused({"type": "step", "data": {f"field{i}": "x" * 50 for i in range(5000)}})
    assert len(error["message"]) < 1000
    assert len(json.dumps(error)) < 64 * 1024
    goes_on(client)


LINE_BREAKS = ["a\nb", "\r\n", "\u2028", "\x00"]


@pytest.mark.parametrize("name", LINE_BREAKS)
def test_a_key_with_a_line_break_is_told_in_one_line(client: Socket, name: str) -> None:
    error = client.refused({**STEP, name: 1})
    assert error["code"] == WSErrorCode.VALIDATION_ERROR
    assert len(error["message"].splitlines()) == 1


@pytest.mark.parametrize("name", LINE_BREAKS[:3])
def test_a_field_with_a_line_break_is_told_in_one_line(client: Socket, name: str) -> None:
    client.reset()
    error = client.refused({"type": "step", "data": {name: 1}})
    assert error["code"] == WSErrorCode.VALIDATION_ERROR
    assert len(error["message"].splitlines()) == 1


def test_a_binary_frame_is_told(client: Socket) -> None:
    error = client.refused(b'{"type": "reset"}')
    assert error["code"] == WSErrorCode.INVALID_JSON
    assert "binary frame of 17 bytes" in error["message"]
    goes_on(client)


def test_a_message_in_fragments_is_one_message(threaded: Served) -> None:
    with threaded.socket() as client:
        client.connection.send(iter(['{"type": "re', 'set"', "}"]))
        assert client.receive()["type"] == "observation"


@pytest.mark.parametrize("payload", [b'{"type": "\xff"}', b"\xed\xa0\x80", b"\xc3"])
def test_text_that_is_not_utf8_ends_the_connection(threaded: Served, payload: bytes) -> None:
    """As RFC 6455 asks: with code 1007."""
    with threaded.raw() as client:
        assert client.upgrade().startswith(b"HTTP/1.1 101 ")
        client.send(payload)
        assert client.close_code() == 1007
    eventually(lambda: threaded.active() == 0)


BROKEN_RULES = {
    "unmasked": b"\x81\x02{}",
    "reserved bits": b"\xf1\x80" + bytes(4),
    "unknown opcode": b"\x83\x80" + bytes(4),
    "long ping": frame_head(126, opcode=9) + bytes(126),
    "ping in fragments": frame_head(1, opcode=9, fin=False) + b"x",
    "end of no message": frame_head(1, opcode=0) + b"x",
    "message in a message": (frame_head(1, fin=False) + b"{") * 2,
    "close code 0": frame_head(2, opcode=8) + bytes(2),
}


@pytest.mark.parametrize("sent", BROKEN_RULES.values(), ids=BROKEN_RULES)
def test_a_broken_rule_of_the_protocol_ends_the_connection(threaded: Served, sent: bytes) -> None:
    with threaded.raw() as client:
        assert client.upgrade().startswith(b"HTTP/1.1 101 ")
        client.socket.sendall(sent)
        assert client.close_code() == 1002


def test_pipelined_frames_are_answered_in_order(hosted: Socket) -> None:
    hosted.reset()
    for number in range(20):
        hosted.send({"type": "step", "data": {"text": f"step {number}"}})
    hosted.send({"type": "reset", "data": {"level": 2}})
    hosted.send("not json")
    hosted.send({"type": "state"})
    for number in range(20):
        assert hosted.receive()["data"]["observation"]["text"] == f"step {number}"
    assert hosted.receive()["data"]["observation"]["value"] == {"seed": None, "level": 2}
    assert hosted.receive()["data"]["code"] == WSErrorCode.INVALID_JSON
    assert hosted.receive()["data"]["step_count"] == 0


def test_a_close_in_the_pipeline_comes_after_the_answers(hosted: Socket) -> None:
    hosted.reset()
    hosted.send({"type": "step", "data": {"text": "last"}})
    hosted.send({"type": "close"})
    assert hosted.receive()["data"]["observation"]["text"] == "last"
    assert hosted.closed() == 1000


def test_nothing_is_done_after_a_close() -> None:
    did: list[str] = []

    class Noting(World):
        HOST = "inline"

        def step(self, action: Do) -> Saw:
            did.append(action.text)
            return super().step(action)

    with serving(Noting) as server, server.raw() as client:
        client.upgrade()
        client.send(b'{"type":"reset"}')
        client.send(b'{"type":"step","data":{"text":"in time"}}')
        eventually(lambda: did == ["in time"])
        frames = [b'{"type":"close"}', b'{"type":"step","data":{"text":"late"}}']
        client.socket.sendall(b"".join(frame_head(len(frame)) + frame for frame in frames))
        eventually(lambda: server.active() == 0)
    assert did == ["in time"]


def test_a_step_before_reset_is_refused(hosted: Socket) -> None:
    error = hosted.refused(STEP)
    assert error["code"] == "RESET_REQUIRED"
    assert "step before reset" in error["message"]
    assert hosted.state()["step_count"] == 0
    goes_on(hosted)


def test_a_step_after_the_end_is_refused(hosted: Socket) -> None:
    hosted.reset(episode_id="e1")
    hosted.step()
    assert hosted.step(what="end")["done"] is True
    error = hosted.refused(STEP)
    assert error["code"] == "RESET_REQUIRED"
    assert "step after done" in error["message"]
    assert hosted.state()["step_count"] == 2
    goes_on(hosted)
