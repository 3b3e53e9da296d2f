"""The same raw v1 frames to both servers, and where our answers differ on purpose.

Each script runs on a connection of its own. Answers are compared without their prose: a validation
error is its types and places, any other error its code (an exception of the environment keeps its
text, which v1 passes on).
"""

import json
from contextlib import suppress
from typing import Any, NamedTuple

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

pytestmark = [pytest.mark.interop, pytest.mark.timeout(120)]

ANSWER_LIMIT_S = 10

Frame = dict[str, Any] | list[Any] | str | bytes
Answer = dict[str, Any]

RESET: Frame = {"type": "reset"}
STATE: Frame = {"type": "state"}


def reset(**data: Any) -> Frame:
    return {"type": "reset", "data": data}


def step(message: str, **data: Any) -> Frame:
    return {"type": "step", "data": {"message": message, **data}}


def mcp(**data: Any) -> Frame:
    return {"type": "mcp", "data": data}


SCRIPTS: dict[str, list[Frame]] = {
    "state before reset": [STATE],
    "step before reset": [step("early"), STATE],
    "reset": [RESET],
    "reset with everything": [reset(seed=3, episode_id="e1", difficulty="hard", zz=1), STATE],
    "reset without data": [{"type": "reset", "data": {}}],
    "seed that is text": [reset(seed="notint"), STATE],
    "seed below zero": [reset(seed=-1), STATE],
    "episode id that is a number": [reset(episode_id=5), reset(episode_id="e1")],
    "data that is null": [{"type": "reset", "data": None}, reset(episode_id="e1"), STATE],
    "data that is a list": [{"type": "step", "data": []}],
    "reset that raises": [reset(boom=1), reset(episode_id="e1"), STATE],
    "step that raises": [RESET, step("explode"), step("next")],
    "step after a reset that raised": [RESET, reset(boom=1), step("next")],
    "no reward": [RESET, step("noreward")],
    "reward that is NaN": [RESET, step("nan")],
    "step after the end": [reset(episode_id="e1"), step("quit"), step("more"), STATE],
    "step with two faults": [RESET, step("a", zzz=1, n=9), step("next")],
    "step of the wrong type": [RESET, step("a", n="two")],
    "number as text": [RESET, step("a", n="2")],
    "step without data": [RESET, {"type": "step"}],
    "step with a request id": [RESET, {**step("x"), "request_id": "r1"}],  # type: ignore[dict-item]
    "state with data": [RESET, {"type": "state", "data": {}}],
    "unknown type": [{"type": "nope"}, STATE],
    "type that is a number": [{"type": 5}, STATE],
    "no type": [{"foo": 1}, STATE],
    "no JSON": ["{bad json", STATE],
    "empty frame": ["", STATE],
    "JSON array": [[1, 2], STATE],
    "JSON number": ["42", STATE],
    "JSON null": ["null", STATE],
    "binary frame": [b"\x00\x01", STATE],
    "binary frame of JSON": [b'{"type":"state"}', STATE],
    "close": [RESET, {"type": "close"}],
    "tools of an environment without any": [mcp(jsonrpc="2.0", method="tools/list", id=1)],
    "mcp that is not JSON-RPC": [mcp(method="tools/list")],
    "mcp method that nobody knows": [mcp(jsonrpc="2.0", method="nope/nope", id=3)],
    "session of one's own": [mcp(jsonrpc="2.0", method="openenv/session/create", id=2)],
}


class Difference(NamedTuple):
    """Where we answer otherwise than the peer, and why."""

    ours: list[Answer]
    why: str


FRESH: Answer = {"state": {"episode_id": None, "step_count": 0, "last": None}}
READY: Answer = {
    "observation": {
        "observation": {"metadata": {"msg": "hello"}, "echoed": "ready seed=None []", "n": 0},
        "reward": 0.0,
        "done": False,
        "metadata": {"msg": "hello"},
    }
}
QUIT: Answer = {
    "observation": {
        "observation": {"metadata": {}, "echoed": "quit", "n": 1},
        "reward": 1.0,
        "done": True,
    }
}
NAN: Answer = {
    "observation": {
        "observation": {"metadata": {}, "echoed": "nan", "n": 1},
        "reward": "NaN",
        "done": False,
    }
}
NOT_AN_OBJECT: Answer = {"error": "VALIDATION_ERROR", "faults": [("dict_type",)]}
NOT_TEXT: Answer = {"error": "INVALID_JSON"}
RESET_REQUIRED: Answer = {"error": "RESET_REQUIRED"}

DIFFERENCES: dict[str, Difference] = {
    "step before reset": Difference(
        [RESET_REQUIRED, FRESH], "a forgotten reset is told, unless REQUIRES_RESET = False"
    ),
    "step after the end": Difference(
        [
            READY,
            QUIT,
            RESET_REQUIRED,
            {"state": {"episode_id": "e1", "step_count": 1, "last": "quit"}},
        ],
        "steps after the end would count for an episode that is over",
    ),
    "step after a reset that raised": Difference(
        [READY, {"error": "EXECUTION_ERROR", "words": "reset exploded"}, RESET_REQUIRED],
        "nobody knows which episode that step would belong to",
    ),
    "seed that is text": Difference(
        [{"error": "VALIDATION_ERROR", "faults": [("int_parsing", "seed")]}, FRESH],
        "a seed has one type, on /ws as on POST /reset",
    ),
    "seed below zero": Difference(
        [{"error": "VALIDATION_ERROR", "faults": [("greater_than_equal", "seed")]}, FRESH],
        "a seed has one range, on /ws as on POST /reset",
    ),
    "reward that is NaN": Difference(
        [READY, NAN], "NaN is not 'no reward': it travels as the text that float() reads"
    ),
    "JSON array": Difference([NOT_AN_OBJECT, FRESH], "a bad frame ends no session"),
    "JSON number": Difference([NOT_AN_OBJECT, FRESH], "a bad frame ends no session"),
    "JSON null": Difference([NOT_AN_OBJECT, FRESH], "a bad frame ends no session"),
    "binary frame": Difference([NOT_TEXT, FRESH], "a bad frame ends no session"),
    "binary frame of JSON": Difference([NOT_TEXT, FRESH], "a bad frame ends no session"),
}


def converse(url: str, frames: list[Frame]) -> list[Answer]:
    """Send each frame and collect each answer, until the server hangs up."""
    answers = []
    with connect(url.replace("http", "ws", 1) + "/ws", max_size=None) as socket:
        for frame in frames:
            with suppress(ConnectionClosed):  # it hung up after the last answer: the next tells
                socket.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))
            answers.append(answer(socket))
            if "closed" in answers[-1]:
                break
    return answers


def answer(socket: ClientConnection) -> Answer:
    """The next frame, normalised, or how the server closed."""
    try:
        return normal(json.loads(socket.recv(ANSWER_LIMIT_S)))
    except ConnectionClosed as closed:
        return {"closed": closed.rcvd.code if closed.rcvd else None}


def normal(frame: Answer) -> Answer:
    """A frame without its prose and its random ids."""
    kind, data = frame["type"], frame["data"]
    if kind == "mcp":
        return {"mcp": data.get("id"), **outcome(data)}
    if kind != "error":
        return {kind: data}
    faults = [(fault["type"], *fault["loc"]) for fault in data.get("errors", [])]
    words = data["message"] if data["code"] == "EXECUTION_ERROR" else ""
    return {
        name: value
        for name, value in {"error": data["code"], "faults": faults, "words": words}.items()
        if value
    }


def outcome(rpc: Answer) -> Answer:
    """What a JSON-RPC answer says."""
    if "error" in rpc:
        return {"error": rpc["error"]["code"]}
    return {"keys": sorted(rpc["result"])}


@pytest.mark.parametrize("name", SCRIPTS)
def test_our_answers_are_the_peers_or_better(name: str, peer_server: str, our_server: str) -> None:
    theirs, ours = converse(peer_server, SCRIPTS[name]), converse(our_server, SCRIPTS[name])
    if name not in DIFFERENCES:
        assert ours == theirs
    else:
        assert ours == DIFFERENCES[name].ours
        assert ours != theirs, "the difference is gone: take it off the table"


@pytest.mark.parametrize("name", ["step before reset", "step after the end"])
def test_an_environment_may_take_steps_at_any_time(
    name: str, peer_server: str, our_lenient_server: str
) -> None:
    theirs = converse(peer_server, SCRIPTS[name])
    assert converse(our_lenient_server, SCRIPTS[name]) == theirs
