"""The load generator's prepared frames are frames of the protocols."""

import importlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest


@pytest.fixture
def dialects(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    return importlib.import_module("dialects")


def payload(frame: bytes) -> bytes:
    """The unmasked payload of a client's frame, whose lengths are checked."""
    size, start = frame[1] & 0x7F, 2
    if size >= 126:
        start = 4 if size == 126 else 10
        size = int.from_bytes(frame[2:start], "big")
    assert frame[1] & 0x80
    key, body = frame[start : start + 4], frame[start + 4 :]
    assert len(body) == size
    return bytes(byte ^ key[at % 4] for at, byte in enumerate(body))


def sent(script: Any, number: int, pieces: Any) -> bytes:
    return payload(script.number(number).join(pieces))


def test_v1_is_plain_json(dialects: Any) -> None:
    script = dialects.spoken("v1", "hello")
    assert json.loads(sent(script, 1, script.opening)) == {"type": "reset"}
    (step,) = script.cycle
    assert json.loads(sent(script, 2, step)) == {
        "type": "step",
        "data": {"message": "hello", "n": 1},
    }
    assert not script.goodbye


@pytest.mark.parametrize("number", [1, 2, 70_000, 2**31])
@pytest.mark.parametrize(
    ("dialect", "decode"),
    [("v2+msgpack", msgspec.msgpack.decode), ("v2+json", msgspec.json.decode)],
)
def test_v2_counts_in_every_frame(dialects: Any, dialect: str, decode: Any, number: int) -> None:
    script = dialects.spoken(dialect, "hello")
    assert script.subprotocol == f"openenv.{dialect}"
    (step,) = script.cycle
    assert decode(sent(script, number, step)) == {
        "id": number,
        "op": "step",
        "ch": 0,
        "seq": number,
        "data": {"message": "hello", "n": 1},
    }
    (goodbye,) = script.goodbye
    assert decode(sent(script, number, goodbye)) == {"id": number, "op": "close", "ch": 0}


def test_a_batch_has_a_channel_for_each_game(dialects: Any) -> None:
    script = dialects.spoken("v2+msgpack", "blackjack", 3)
    ops = []
    for pieces in script.cycle:
        message = msgspec.msgpack.decode(sent(script, 9, pieces))
        assert (message["id"], message["op"]) == (9, "batch")
        items = message["data"]["items"]
        assert [(item["ch"], item["seq"]) for item in items] == [(0, 9), (1, 9), (2, 9)]
        ops.append(items[0]["op"])
    assert ops == ["step", "step", "step", "reset"]
    assert len(script.goodbye) == 3


@pytest.mark.parametrize("size", [10, 1_000, 100_000])
def test_an_echo_has_the_size_that_was_asked_for(dialects: Any, size: int) -> None:
    script = dialects.echoed(size, 7)
    frame = b"".join(script.opening)
    assert len(payload(frame)) == size
    assert script.path == f"/ws?in={len(frame)}&out=7"
