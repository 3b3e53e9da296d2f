"""Requests in v1 frames."""

import json

import pytest

from openenv.protocol.errors import EnvironmentFailed, InvalidRequest
from openenv.protocol.messages import Reply, Request, parse_request


@pytest.mark.parametrize(
    ("frame", "request_"),
    [
        ('{"type":"reset"}', Request("reset")),
        ('{"type":"reset","data":{}}', Request("reset")),
        ('{"type":"reset","data":{"seed":7,"x":[1]}}', Request("reset", {"seed": 7, "x": [1]})),
        ('{"type":"step","data":{"n":1}}', Request("step", {"n": 1})),
        (b'{"data":{},"type":"step"}', Request("step")),
        ('{"type":"state"}', Request("state")),
        ('{"type":"close"}', Request("close")),
        (' {"type" : "close"}\n', Request("close")),
    ],
)
def test_good_frames(frame: str | bytes, request_: Request) -> None:
    assert parse_request(frame) == request_


@pytest.mark.parametrize(
    ("frame", "code", "says"),
    [
        ("", "INVALID_JSON", "one JSON object"),
        ("{", "INVALID_JSON", ""),
        ("hello", "INVALID_JSON", ""),
        (b"\xff\xfe", "INVALID_JSON", ""),
        ("\ud800", "INVALID_JSON", ""),
        ('{"type":"step","data":{"x":NaN}}', "INVALID_JSON", '"NaN"'),
        ("[" * 100_000, "INVALID_JSON", ""),
        ('"step"', "VALIDATION_ERROR", "got str"),
        ("[]", "VALIDATION_ERROR", "got list"),
        ("null", "VALIDATION_ERROR", "got NoneType"),
        ("{}", "UNKNOWN_TYPE", "reset, step, state, close"),
        ('{"type":null}', "UNKNOWN_TYPE", ""),
        ('{"type":["step"]}', "UNKNOWN_TYPE", ""),
        ('{"type":{"a":1}}', "UNKNOWN_TYPE", ""),
        ('{"type":"STEP"}', "UNKNOWN_TYPE", "STEP"),
        ('{"type":"step"}', "VALIDATION_ERROR", "needs 'data'"),
        ('{"type":"step","data":null}', "VALIDATION_ERROR", "got NoneType"),
        ('{"type":"step","data":[1]}', "VALIDATION_ERROR", "got list"),
        ('{"type":"reset","data":"x"}', "VALIDATION_ERROR", "got str"),
        ('{"type":"state","data":{}}', "VALIDATION_ERROR", "'data'"),
        ('{"type":"close","data":{}}', "VALIDATION_ERROR", "'data'"),
        ('{"type":"step","data":{},"id":1}', "VALIDATION_ERROR", "'id'"),
        ('{"type":"step","data":{},"timeout_s":1}', "VALIDATION_ERROR", "'timeout_s'"),
    ],
)
def test_bad_frames(frame: str | bytes, code: str, says: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_request(frame)
    assert caught.value.code == code
    assert says in caught.value.message
    json.dumps(caught.value.to_data())


def test_faults_name_the_place() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_request('{"type":"step","data":{},"id":1}')
    (fault,) = caught.value.errors
    assert (fault["type"], fault["loc"], fault["input"]) == ("extra_forbidden", ["id"], "1")


def test_what_was_received_is_never_repeated_at_length() -> None:
    for frame in (
        json.dumps({"type": "x" * 100_000}),
        json.dumps({"type": "step", "data": "x" * 100_000}),
        json.dumps(["x" * 100_000]),
        json.dumps({"type": "state", "extra": "x" * 100_000}),
        json.dumps({"type": "state", "y" * 100_000: 1}),
        "x" * 100_000,
    ):
        with pytest.raises(InvalidRequest) as caught:
            parse_request(frame)
        assert len(json.dumps(caught.value.to_data())) < 1000


def test_frames_carry_data_only_where_the_peer_allows_it() -> None:
    assert json.loads(Request("reset").frame()) == {"type": "reset", "data": {}}
    assert json.loads(Request("step", {"n": 1}).frame()) == {"type": "step", "data": {"n": 1}}
    assert json.loads(Request("state", {"n": 1}).frame()) == {"type": "state"}
    assert json.loads(Request("close").frame()) == {"type": "close"}
    assert json.loads(Request("step", timeout_s=3.0).frame()) == {"type": "step", "data": {}}


def test_a_request_survives_its_frame() -> None:
    request = Request("step", {"text": "ü\n\u2028", "deep": [{"a": [None, True, 1.5, 2**70]}]})
    assert parse_request(request.frame()) == request


def test_a_request_that_holds_something_odd_is_refused() -> None:
    with pytest.raises(EnvironmentFailed, match=r"\['data'\]\['deep'\]\[1\]"):
        Request("step", {"deep": [1, object()]}).frame()


def test_a_reply_is_framed_as_it_is() -> None:
    assert Reply("state", b'{"step_count":1}').frame() == '{"type":"state","data":{"step_count":1}}'
