"""Frames and requests that nobody would think of: always one answer, never a dead server."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openenv.protocol.errors import WSErrorCode
from tests.server.conftest import HOST_KINDS
from tests.server.worlds import World
from tests.serving import Served, Socket, serving

bounded = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
CODES = {*WSErrorCode, "RESET_REQUIRED"}

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(["reset", "step", "state", "say", "end", "raise", "exit", "wrong"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
keys = st.sampled_from(["what", "text", "number", "metadata", "seed", "episode_id"]) | st.text()
messages = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["reset", "step", "state"]) | json_values,
        "data": st.dictionaries(keys, json_values, max_size=4) | json_values,
        "request_id": json_values,
    },
)


def is_fine(message: dict[str, Any]) -> None:
    """An answer is an observation, a state, or an error of a known code in one line."""
    if message["type"] == "error":
        assert message["data"]["code"] in CODES
        assert message["data"]["message"]
    else:
        assert message["type"] in ("observation", "state")


@bounded
@given(text=st.text())
def test_any_text_is_answered(client: Socket, text: str) -> None:
    is_fine(client.ask(text))


@bounded
@given(data=st.binary())
def test_any_bytes_are_answered(client: Socket, data: bytes) -> None:
    assert client.refused(data)["code"] == WSErrorCode.INVALID_JSON


@bounded
@given(message=messages | json_values)
def test_any_json_is_answered(client: Socket, message: Any) -> None:
    is_fine(client.ask(json.dumps(message)))


@pytest.fixture(scope="module", params=HOST_KINDS)
def own(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A server for sessions that last for all examples."""
    with serving(World, host_kind=request.param) as server:
        yield server


@pytest.fixture(scope="module")
def lasting(own: Served) -> Iterator[Socket]:
    """One session for all examples."""
    with own.socket() as client:
        yield client


@settings(bounded, max_examples=60)
@given(action=st.dictionaries(keys, json_values, max_size=4))
def test_any_action_is_answered(lasting: Socket, action: Any) -> None:
    is_fine(lasting.ask({"type": "reset"}))
    is_fine(lasting.ask({"type": "step", "data": action}))


@settings(bounded, max_examples=100)
@given(sent=st.binary(min_size=1))
def test_any_bytes_on_a_websocket_end_it_or_are_answered(threaded: Served, sent: bytes) -> None:
    with threaded.raw() as client:
        assert client.upgrade().startswith(b"HTTP/1.1 101 ")
        client.socket.sendall(sent)


@settings(bounded, max_examples=100)
@given(sent=st.binary(min_size=1))
def test_any_bytes_for_a_request_are_borne(threaded: Served, sent: bytes) -> None:
    with threaded.raw() as client:
        client.socket.sendall(sent)


@settings(bounded, max_examples=100)
@given(body=json_values, path=st.sampled_from(["/reset", "/step"]))
def test_any_body_is_answered(own: Served, body: Any, path: str) -> None:
    answer = own.http("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    assert answer.status in (200, 404, 422, 500)
    assert isinstance(answer.json(), dict)
