"""Agreement, envelopes, batches, and frames that are none: what a v2 server says to each."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openenv import Action, Environment, NDArray, Observation
from openenv.protocol.envelope import V1
from openenv.runtime.limits import Limits
from tests.server.v2 import ENCODINGS, JSON, MSGPACK, V2, code, speaking
from tests.server.worlds import World
from tests.serving import PATIENCE_S, Served, eventually, serving


@pytest.fixture(params=ENCODINGS)
def encoding(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def client(encoding: str, threaded: Served) -> Iterator[V2]:
    """A socket whose channels 0 to 7 are closed at its end."""
    with speaking(threaded, encoding) as client:
        yield client
        for number in range(8):
            client.done("close", ch=number)


@pytest.mark.parametrize(
    ("offered", "agreed"),
    [
        ([MSGPACK, JSON], MSGPACK),
        ([JSON, MSGPACK], JSON),
        (["other", JSON], JSON),
        (["other"], None),
        (["openenv.v2"], None),
        ([], None),
        ([V1, JSON], JSON),
        (["other", V1], V1),
    ],
)
def test_the_first_offer_that_is_known_is_agreed(
    threaded: Served, offered: list[Any], agreed: str | None
) -> None:
    with threaded.socket(subprotocols=offered or None) as client:
        assert client.connection.subprotocol == agreed
        if agreed in (None, V1):
            assert client.reset()["done"] is False


def test_v2_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENENV_WIRE", "v1")
    with serving(World) as server:
        for offers, agreed in ([MSGPACK, JSON], None), ([MSGPACK, JSON, V1], V1):
            offered: list[Any] = offers
            with server.socket(subprotocols=offered) as client:
                assert client.connection.subprotocol == agreed
                assert client.reset()["done"] is False


def test_unknown_keys_are_ignored(client: V2) -> None:
    reply = client.ask("reset", seq=1, later={"more": [1]}, priority=3)
    assert reply["type"] == "observation"
    assert reply.keys() == {"id", "type", "ch", "seq", "data"}


def test_replies_carry_the_id_channel_and_seq_of_their_request(client: V2) -> None:
    reply = client.ask("reset", id=2**53, ch=7, seq=1)
    assert (reply["id"], reply["ch"], reply["seq"]) == (2**53, 7, 1)
    assert "seq" not in client.ask("state", ch=7)
    assert "seq" not in client.ask("state", ch=7, seq=9)
    assert client.ask("step", ch=7, seq=2, data={})["seq"] == 2


def test_an_unknown_op_is_named(client: V2) -> None:
    reply = client.ask("leap", ch=4)
    assert (code(reply), reply["ch"]) == ("UNKNOWN_TYPE", 4)
    assert "leap" in reply["data"]["message"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"ch": -1},
        {"ch": "0"},
        {"ch": 2**53 + 1},
        {"ch": 1.5},
        {"seq": 0},
        {"seq": -1},
        {"seq": "1"},
        {"seq": 2**53 + 1},
        {"timeout_s": 0},
        {"timeout_s": -1.0},
        {"timeout_s": "1"},
        {"data": [1]},
        {"op": 7},
        {"op": None},
    ],
    ids=str,
)
def test_a_wrong_field_is_told_to_whoever_asked(client: V2, wrong: dict[str, Any]) -> None:
    client.send_frame({"id": 40, "op": "step", "data": {}, **wrong})
    reply = client.receive()
    assert (code(reply), reply["id"]) == ("VALIDATION_ERROR", 40)


@pytest.mark.parametrize("ident", [-1, "x", 1.5, None, True, 2**53 + 1, [1]], ids=str)
def test_an_id_that_is_none_is_not_echoed(client: V2, ident: Any) -> None:
    client.send_frame({"id": ident, "op": "ping"})
    reply = client.receive()
    assert code(reply) == "VALIDATION_ERROR"
    assert "id" not in reply


@pytest.mark.parametrize("message", [{}, [], 1, None, "step", [{"id": 1, "op": "ping"}]], ids=str)
def test_what_is_no_request_is_refused(client: V2, message: Any) -> None:
    client.send_frame(msgspec.msgpack.encode(message) if client.binary else json.dumps(message))
    assert code(client.receive()) == "VALIDATION_ERROR"
    assert client.done("ping") == {}


@pytest.mark.parametrize(
    "data",
    [[1], "x", {"session_id": 7}, {"wait_s": "long"}, {"wait_s": -1}, {"session_id": ["a"]}],
    ids=str,
)
def test_a_malformed_open_opens_nothing(client: V2, threaded: Served, data: Any) -> None:
    before = threaded.active()
    assert client.refused("open", ch=1, data=data) == "VALIDATION_ERROR"
    assert threaded.active() == before


HOSTILE = {
    "nested": b"\x82\xa2id\x05\xa4data" + b"\x91" * 100_000,
    "array": b"\x82\xa2id\x05\xa4data\xdd\xff\xff\xff\xff",
    "map": b"\x82\xa2id\x05\xa4data\xdf\xff\xff\xff\xff",
    "bytes": b"\x82\xa2id\x05\xa4data\xc6\xff\xff\xff\xff",
    "text": b"\x83\xa2id\x05\xa2op\xa4step\xa4data\xa1\xff",
    "ext": b"\x83\xa2id\x05\xa2op\xa4step\xa4data\xd4\x01\x00",
    "objects": b"\x83\xa2id\x05\xa2op\xa4step\xa4data\xc7\x05\x4e\x93\xa2|O\x90\xc4\x00"[:-1],
    "nothing": b"",
    "rest": b"\x82\xa2id\x05\xa2op\xa4ping\x00",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_messagepack_is_refused(threaded: Served, name: str) -> None:
    with speaking(threaded) as client:
        client.send_frame(HOSTILE[name])
        assert code(client.receive()) in ("INVALID_JSON", "VALIDATION_ERROR")
        assert client.done("ping") == {}


@pytest.mark.parametrize("text", ["", "{", '{"id":1,"op":NaN}', '{"id":1,"op":"\\ud800"}', "\x00"])
def test_text_that_is_no_json_is_refused(threaded: Served, text: str) -> None:
    with speaking(threaded, JSON) as client:
        client.send_frame(text)
        assert code(client.receive()) == "INVALID_JSON"
        assert client.done("ping") == {}


def test_deep_nesting_is_refused(threaded: Served) -> None:
    with speaking(threaded, JSON) as client:
        for text in ("[" * 100_000, '{"id":1,"data":' + "[" * 100_000):
            client.send_frame(text)
            assert code(client.receive()) in ("INVALID_JSON", "VALIDATION_ERROR")
        assert client.done("ping") == {}


def test_the_other_kind_of_frame_is_refused(client: V2) -> None:
    client.send_frame('{"id":1,"op":"ping"}' if client.binary else b"\x82\xa2id\x01\xa2op\xa4ping")
    assert code(client.receive()) == "INVALID_JSON"
    assert client.done("ping") == {}


bounded = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text() | st.floats(width=32),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
asks = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(0, 9) | values,
        "op": st.sampled_from(["reset", "step", "state", "ping", "batch", "close"]) | values,
        "ch": st.integers(0, 7) | values,
        "seq": st.integers(0, 5) | values,
        "data": values | st.fixed_dictionaries({"items": st.lists(values, max_size=3)}),
    },
)


@bounded
@given(message=asks)
def test_any_message_has_one_answer(client: V2, message: Any) -> None:
    frame: Any = msgspec.msgpack.encode(message)
    if not client.binary:
        frame = msgspec.json.encode(message).decode()
    client.send_frame(frame)
    answers = [client.receive()]
    client.send_frame({"id": 2**50, "op": "ping"})
    while (last := client.receive()).get("id") != 2**50:
        answers.append(last)
    assert len(answers) == 1


@bounded
@given(data=st.binary())
def test_any_bytes_are_answered(threaded: Served, data: bytes) -> None:
    with speaking(threaded) as client:
        client.send_frame(data)
        client.receive()


def item(op: str, ch: int, seq: int | None = None, **data: Any) -> dict[str, Any]:
    """One item of a batch."""
    return {"op": op, "ch": ch, "data": data} | ({} if seq is None else {"seq": seq})


def test_a_batch_answers_each_item_in_its_place(client: V2) -> None:
    items = [item("reset", ch, 1, episode_id=str(ch)) for ch in range(4)]
    reply = client.ask("batch", data={"items": items})
    assert reply["type"] == "batch"
    assert [part["ch"] for part in reply["data"]["items"]] == [0, 1, 2, 3]
    assert all("id" not in part and part["seq"] == 1 for part in reply["data"]["items"])
    items = [
        item("step", 3, 2, text="three"),
        item("step", 0, 7),
        item("step", 1, 2, what="raise"),
        item("step", 2, 2, number=-1),
        item("leap", 2, 2),
        item("open", 2),
        item("step", 3, 3, text="again"),
        item("state", 3),
    ]
    parts = client.done("batch", data={"items": items})["items"]
    assert parts[0]["data"]["observation"]["text"] == "three"
    codes = ["SEQ_GAP", "EXECUTION_ERROR", "VALIDATION_ERROR", "UNKNOWN_TYPE", "UNKNOWN_TYPE"]
    assert [code(part) for part in parts[1:6]] == codes
    assert parts[6]["data"]["observation"]["text"] == "again"
    assert parts[7]["data"]["step_count"] == 2


@pytest.mark.parametrize(
    "data",
    [None, {}, {"items": 1}, {"items": [1]}, {"items": [{"op": "step", "ch": -1}]}, []],
    ids=str,
)
def test_a_batch_that_is_none_is_refused_with_its_id(client: V2, data: Any) -> None:
    assert client.refused("batch", data=data) == "VALIDATION_ERROR"


def test_an_empty_batch_has_an_empty_answer(client: V2) -> None:
    assert client.done("batch", data={"items": []}) == {"items": []}


def test_a_repeated_batch_repeats_its_answer(client: V2) -> None:
    client.done("batch", data={"items": [item("reset", ch, 1) for ch in range(3)]})
    frame = {"id": 9, "op": "batch", "data": {"items": [item("step", n, 2) for n in range(3)]}}
    client.send_frame(frame)
    client.send_frame(frame)
    first, second = client.receive(), client.receive()
    assert first == second
    assert [client.done("state", ch=n)["step_count"] for n in range(3)] == [1, 1, 1]


def test_one_item_that_is_too_large_takes_no_room_of_others(client: V2) -> None:
    client.open(max_reply_bytes=20_000)
    client.done("batch", data={"items": [item("reset", ch, 1) for ch in range(1, 8)]})
    sizes = [5_000, 50_000, 5_000, 30_000, 100, 100, 100]
    items = [item("step", n + 1, 2, text="x" * size) for n, size in enumerate(sizes)]
    parts = client.done("batch", data={"items": items})["items"]
    kinds = [part["type"] if part["type"] != "error" else code(part) for part in parts]
    fine, large = "observation", "MESSAGE_TOO_LARGE"
    assert kinds == [fine, large, fine, large, fine, fine, fine]


def test_a_reply_that_is_too_large_becomes_an_error_and_the_session_lives(client: V2) -> None:
    client.open(max_reply_bytes=2_000)
    client.done("reset", seq=1)
    reply = client.ask("step", seq=2, data={"text": "x" * 4_000})
    assert code(reply) == "MESSAGE_TOO_LARGE"
    assert reply["data"]["limit"] == 2_000
    assert reply["data"]["size"] > 4_000
    assert client.step(3, text="y")["text"] == "y"
    assert client.done("state")["step_count"] == 2


def test_a_socket_holds_only_so_many_channels(encoding: str) -> None:
    with serving(World, limits=Limits(max_channels=2)) as server, speaking(server, encoding) as one:
        one.open(ch=5)
        one.done("reset", ch=6, seq=1)
        assert one.refused("open", ch=7) == "BACKPRESSURE"
        assert one.ask("reset", ch=7)["data"]["retryable"] is True
        parts = one.done("batch", data={"items": [item("state", 5), item("state", 7)]})["items"]
        assert (parts[0]["type"], code(parts[1])) == ("state", "BACKPRESSURE")
        assert one.refused("batch", data={"items": [item("state", 5)] * 3}) == "BACKPRESSURE"
        one.done("close", ch=5)
        one.open(ch=7)


def test_channels_whose_sessions_have_ended_take_no_room(encoding: str) -> None:
    limits = Limits(max_channels=3, idle_timeout=0.05)
    with serving(World, limits=limits) as server, speaking(server, encoding) as client:
        for number in range(8):
            client.done("reset", ch=number, seq=1)
            assert code(client.receive()) == "SESSION_GONE"
        assert client.refused("step", ch=7, seq=2, data={}) == "SESSION_GONE"


class Pictured(Action):
    """An action with bytes and an array."""

    raw: bytes = b""
    picture: NDArray[np.uint8, (None, 2)]


class Seen(Observation):
    """The same, and numbers that JSON has no form for."""

    raw: bytes
    picture: NDArray[np.uint8, (None, 2)]
    number: float
    large: int


class Camera(Environment[Pictured, Seen]):
    """Gives back what it gets."""

    def reset(self) -> Seen:
        return Seen(raw=b"", picture=np.zeros((1, 2), "uint8"), number=float("inf"), large=2**70)

    def step(self, action: Pictured) -> Seen:
        nothing = float("nan")
        return Seen(
            raw=action.raw, picture=action.picture, number=nothing, large=-(2**70), reward=nothing
        )


@pytest.mark.parametrize("host_kind", ["inline", "thread", "process", "sandbox"])
def test_values_keep_their_forms(encoding: str, host_kind: Any) -> None:
    with serving(Camera, host_kind=host_kind) as server, speaking(server, encoding) as client:
        reset = client.done("reset", seq=1)["observation"]
        picture = np.arange(6, dtype="uint8").reshape(3, 2)
        action: dict[str, Any] = {"raw": "AQI=", "picture": picture.tolist()}
        if client.binary:
            raw = msgspec.msgpack.encode(("|u1", [3, 2], picture.tobytes()))
            action = {"raw": b"\x01\x02", "picture": msgspec.msgpack.Ext(78, raw)}
        data = client.done("step", seq=2, data=action)
        seen = data["observation"]
        if client.binary:
            assert seen["picture"] == msgspec.msgpack.Ext(78, raw)
            assert (seen["raw"], reset["number"]) == (b"\x01\x02", float("inf"))
            assert seen["number"] != seen["number"]
            assert data["reward"] != data["reward"]
            assert (reset["large"], seen["large"]) == (str(2**70), str(-(2**70)))
        else:
            assert seen["picture"] == picture.tolist()
            assert (seen["raw"], reset["number"]) == ("AQI=", "Infinity")
            assert seen["number"] == data["reward"] == "NaN"
            assert (reset["large"], seen["large"]) == (2**70, -(2**70))


def test_a_value_that_has_no_form_is_an_error_in_a_living_session(client: V2) -> None:
    client.done("reset", seq=1)
    reply = client.ask("step", seq=2, data={"what": "unencodable"})
    assert code(reply) == "EXECUTION_ERROR"
    assert "object" in reply["data"]["message"]
    assert client.step(3, text="a")["text"] == "a"


def test_a_slow_reader_slows_only_itself(threaded: Served) -> None:
    with speaking(threaded) as greedy, speaking(threaded) as other:
        greedy.done("reset", seq=1)
        text = "x" * 500_000
        raw: socket.socket = greedy.connection.socket
        raw.settimeout(PATIENCE_S)
        greedy.connection.recv_messages.pause()
        for n in range(40):
            greedy.send("step", seq=2 + n, data={"text": text if n < 2 else text[:250_000]})
        other.done("reset", seq=1)
        for seq in range(2, 30):
            other.step(seq)
        greedy.connection.recv_messages.resume()
        replies = [greedy.receive() for _ in range(40)]
        assert [reply["seq"] for reply in replies] == list(range(2, 42))
        assert greedy.done("state")["step_count"] == 40
        greedy.done("close")
        other.done("close")
    eventually(lambda: threaded.active() == 0)
