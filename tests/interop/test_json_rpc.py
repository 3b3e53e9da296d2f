"""JSON-RPC on `/mcp`, said by hand to both servers: the answers are the peer's, or better."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from websockets.sync.client import connect

from tests.interop.serving import OURS, PEER, served, uvicorn

pytestmark = [pytest.mark.interop, pytest.mark.timeout(120)]

Answer = dict[str, Any]
Said = dict[str, Any] | list[Any] | str
NAMELESS, OWN = "00000000-0000-0000-0000-000000000000", "OWN"


def ask(method: str, params: Any = None, **more: Any) -> dict[str, Any]:
    told = {} if params is None else {"params": params}
    return {"jsonrpc": "2.0", "id": 1, "method": method, **told, **more}


def call(name: Any, arguments: Any = None, **more: Any) -> dict[str, Any]:
    told = {} if arguments is None else {"arguments": arguments}
    return ask("tools/call", {"name": name, **told, **more})


def own(said: str) -> dict[str, Any]:
    return ask(said, {"session_id": OWN})


BUY = call("buy", {"count": 2})
CREATE = ask("openenv/session/create")
WRONG: dict[str, list[Said]] = {
    "an unknown tool": [call("nope")],
    "a tool that raises": [call("fails")],
    "an argument of another type": [call("buy", {"count": "many"})],
    "an argument too many": [call("buy", {"count": 1, "z": 1})],
    "an argument too few": [call("undescribed")],
    "no name": [ask("tools/call", {})],
    "params that are a list": [ask("tools/call", [1])],
    "a method that nobody knows": [ask("nope"), ask("ping")],
    "no version": [{"method": "tools/list", "id": 1}],
    "another version": [ask("tools/list", jsonrpc="1.0")],
    "a key too many": [ask("tools/list", extra=1)],
    "an id that is none": [ask("tools/list", id=[1])],
    "no JSON": ["{", ""],
}
HTTP: dict[str, list[Said]] = WRONG | {
    "no object": [[ask("tools/list")], [], "5", '"text"', "null"],
    "tools": [ask("tools/list")],
    "a call": [BUY, BUY],
    "a call without arguments": [call("buy")],
    "a request without an id": [{"jsonrpc": "2.0", "method": "tools/list"}],
    "a session": [
        CREATE,
        call("buy", {"count": 2}, session_id=OWN),
        call("buy", {"count": 2}, session_id=OWN),
        CREATE,
        own("tools/list"),
        own("openenv/session/close"),
        own("openenv/session/close"),
        own("tools/list"),
    ],
    "a session that never was": [
        ask("tools/list", {"session_id": NAMELESS}),
        ask("openenv/session/close", {"session_id": NAMELESS}),
        ask("openenv/session/close", {}),
        ask("openenv/session/close"),
    ],
}
SOCKET: dict[str, list[Said]] = WRONG | {
    "tools": [ask("tools/list")],
    "calls": [BUY, BUY],
    "its own session": [CREATE, own("tools/list"), own("openenv/session/close"), BUY],
    "a session that never was": [ask("openenv/session/close", {"session_id": NAMELESS})],
}


class Difference(NamedTuple):
    """Where we answer otherwise than the peer, and why."""

    ours: list[Answer]
    why: str


UNREAD = "a request that is refused keeps its id"
INVALID: Answer = {"id": 1, "error": -32600}
DIFFERENCES: dict[str, Difference] = {
    "no version": Difference([INVALID], UNREAD),
    "another version": Difference([INVALID], UNREAD),
    "a key too many": Difference([INVALID], UNREAD),
    "params that are a list": Difference([INVALID], UNREAD),
}


@pytest.fixture(scope="module")
def peer_url(peer: None) -> Iterator[str]:
    with served(*uvicorn(PEER, "toolshop_app")) as url:
        yield url


@pytest.fixture(scope="module")
def our_url() -> Iterator[str]:
    with served(*uvicorn(OURS, "toolshop_app")) as url:
        yield url


def over_http(url: str, said: list[Said]) -> list[Answer]:
    """What each request is answered, with the session's id where a request says OWN."""
    answers, session_id = [], ""
    with httpx.Client(base_url=url, headers={"Content-Type": "application/json"}) as client:
        for each in said:
            body = each if isinstance(each, str) else json.dumps(each)
            answer = client.post("/mcp", content=body.replace(OWN, session_id))
            assert answer.status_code == 200
            session_id = session_of(answer.json()) or session_id
            answers.append(normal(answer.json()))
    return answers


def over_a_socket(url: str, said: list[Said]) -> list[Answer]:
    """The same on one `WS /mcp`."""
    answers, session_id = [], ""
    with connect(url.replace("http", "ws", 1) + "/mcp") as socket:
        for each in said:
            frame = each if isinstance(each, str) else json.dumps(each)
            socket.send(frame.replace(OWN, session_id))
            told = json.loads(socket.recv(60))
            session_id = session_of(told) or session_id
            answers.append(normal(told))
    return answers


def session_of(told: Answer) -> str | None:
    session_id: str | None = (told.get("result") or {}).get("session_id")
    return session_id


def normal(told: Answer) -> Answer:
    """A response without prose, random ids, and what we say besides."""
    assert told["jsonrpc"] == "2.0"
    if "error" in told:
        assert told["error"]["message"]
        return {"id": told["id"], "error": told["error"]["code"]}
    result = told["result"]
    return {
        "id": told["id"],
        "result": {name: _read(name, result[name]) for name in sorted(_KEPT & result.keys())},
    }


_KEPT = {"tools", "content", "structured_content", "data", "is_error", "closed", "closing"}


def _read(name: str, value: Any) -> Any:
    if name == "tools":
        return [(each["name"], each["description"] or "", each["inputSchema"]) for each in value]
    if name == "content":
        return [(each["type"], each["text"]) for each in value]
    return value


@pytest.mark.parametrize("name", HTTP)
def test_over_http(name: str, peer_url: str, our_url: str) -> None:
    theirs, ours = over_http(peer_url, HTTP[name]), over_http(our_url, HTTP[name])
    assert ours == (DIFFERENCES[name].ours if name in DIFFERENCES else theirs)


@pytest.mark.parametrize("name", SOCKET)
def test_over_a_socket(name: str, peer_url: str, our_url: str) -> None:
    theirs, ours = over_a_socket(peer_url, SOCKET[name]), over_a_socket(our_url, SOCKET[name])
    assert ours == (DIFFERENCES[name].ours if name in DIFFERENCES else theirs)
