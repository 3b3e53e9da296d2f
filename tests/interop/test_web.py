"""Custom pages' calls to both servers, side by side, and where ours are better on purpose.

Each server has one episode for all who call `/web/*`, so that the calls are one conversation, held
once with each. Faults are compared by type and place; times of actions aren't compared.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.interop.serving import OURS, PEER, served, uvicorn

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]

PATIENCE_S = 30.0
Told = list[dict[str, Any]]
"""What a viewer was told meanwhile."""


class Asked(NamedTuple):
    """One call, and whether the peer's viewers are told of it."""

    method: str
    path: str
    body: Any = None
    content: bytes | None = None


class Answered(NamedTuple):
    """What came of it."""

    status: int
    body: Any
    seen: Told


def step(message: str, **more: Any) -> Asked:
    return Asked("POST", "/web/step", {"action": {"message": message, **more}})


def reset(**body: Any) -> Asked:
    return Asked("POST", "/web/reset", body)


CONVERSATION: dict[str, Asked] = {
    "page": Asked("GET", "/web"),
    "root": Asked("GET", "/"),
    "card": Asked("GET", "/web/metadata"),
    "state before anything": Asked("GET", "/web/state"),
    "step before reset": step("early"),
    "reset without a body": Asked("POST", "/web/reset"),
    "reset with an empty object": reset(),
    "reset with everything": reset(seed=3, episode_id="e1", difficulty="hard"),
    "step": step("hi", n=2),
    "step with text for a number": step("hi", n="3"),
    "message": Asked("POST", "/web/step", {"message": "plain"}),
    "step without a reward": step("noreward"),
    "state": Asked("GET", "/web/state"),
    "step with an invalid action": step(""),
    "step with a list": Asked("POST", "/web/step", {"action": []}),
    "step without an action": Asked("POST", "/web/step", {}),
    "step with a list as its body": Asked("POST", "/web/step", []),
    "step with broken JSON": Asked("POST", "/web/step", content=b"{bad"),
    "reset with a list": Asked("POST", "/web/reset", []),
    "state after faults": Asked("GET", "/web/state"),
    "step that raises": step("explode"),
    "step after one that raised": step("again"),
    "end": step("quit"),
    "step after the end": step("late"),
    "reset with a seed below zero": reset(seed=-1),
    "unknown path": Asked("GET", "/web/nope"),
    "another reset": reset(episode_id="e2"),
    "another connection": Asked("WS", "/ws/ui"),
    "step whose reward is no number": step("nan"),
    "reset that raises": reset(boom=1),
}

DIFFERENCES: dict[str, str] = {
    "page": "the redirect is relative, so that it is right under any prefix",
    "root": "the redirect is relative, so that it is right under any prefix",
    "card": "the description is that of /metadata",
    "step before reset": "there is no episode to take a step in",
    "step whose reward is no number": "NaN is told, as the text that JSON has for it here",
    "step with an invalid action": "it is refused as /step refuses it; the episode goes on",
    "step with a list": "it is refused as /step refuses it; the episode goes on",
    "step without an action": "it is refused as /step refuses it; the episode goes on",
    "step with broken JSON": "it is told that it is no JSON",
    "step that raises": "the error is typed, as on /step",
    "step after the end": "an episode that has ended takes no step",
    "reset with a seed below zero": "it is refused as /reset refuses it",
    "reset that raises": "the error is typed; there is no episode then, and viewers see that",
}
OURS_THERE: dict[str, tuple[int, Any]] = {
    "page": (307, "web/"),
    "root": (307, "web/"),
    "step before reset": (409, "RESET_REQUIRED"),
    "step with an invalid action": (422, [("string_too_short", "message")]),
    "step with a list": (422, [("dict_type", "body", "action")]),
    "step without an action": (422, [("missing", "body", "action")]),
    "step with broken JSON": (422, [("json_invalid", "body")]),
    "step that raises": (500, "EXECUTION_ERROR"),
    "step after the end": (409, "RESET_REQUIRED"),
    "reset with a seed below zero": (422, [("greater_than_equal", "body", "seed")]),
    "reset that raises": (500, "EXECUTION_ERROR"),
}


def held(url: str) -> dict[str, Answered]:
    """The whole conversation with a server."""
    told: dict[str, Answered] = {}
    with _viewing(url) as viewer:
        first = _seen(viewer)
        for name, asked in CONVERSATION.items():
            if asked.method == "WS":
                with _viewing(url) as late:
                    told[name] = Answered(101, None, [_seen(late)])
                continue
            status, body = _ask(url, asked)
            plays = asked.method == "POST" and status == 200
            seen = [_seen(viewer)] if plays else []
            told[name] = Answered(status, body, seen)
        told["connection"] = Answered(101, None, [first])
    return told


def _viewing(url: str) -> ClientConnection:
    return connect(f"{url.replace('http', 'ws', 1)}/ws/ui", proxy=None)


def _seen(viewer: ClientConnection) -> dict[str, Any]:
    try:
        frame = json.loads(viewer.recv(timeout=PATIENCE_S))
    except (TimeoutError, ConnectionClosed) as nothing:
        return {"nothing": type(nothing).__name__}
    for log in frame["episode_state"]["action_logs"]:
        assert isinstance(log.pop("timestamp"), str)
    told: dict[str, Any] = frame
    return told


def _ask(url: str, asked: Asked) -> tuple[int, Any]:
    """On a connection of its own: the peer breaks one on which an answer is 500."""
    headers = {"content-type": "application/json"} if asked.content else {}
    answer = httpx.request(
        asked.method,
        url + asked.path,
        json=asked.body,
        content=asked.content,
        headers=headers,
        timeout=PATIENCE_S,
    )
    if answer.is_redirect:
        return answer.status_code, answer.headers["location"]
    if answer.headers.get("content-type") != "application/json":
        return answer.status_code, answer.text
    return answer.status_code, _normal(answer.json())


def _normal(body: dict[str, Any]) -> Any:
    if isinstance(body.get("detail"), list):
        return [(fault["type"], *fault["loc"]) for fault in body["detail"]]
    return body.get("code", body)


@pytest.fixture(scope="module")
def theirs(peer: None) -> Iterator[dict[str, Answered]]:
    with served(*uvicorn(PEER, "tiny_app"), ENABLE_WEB_INTERFACE="true") as url:
        yield held(url)


@pytest.fixture(scope="module")
def ours() -> Iterator[dict[str, Answered]]:
    with served(*uvicorn(OURS, "tiny_app"), ENABLE_WEB_INTERFACE="true") as url:
        yield held(url)


@pytest.mark.parametrize("name", [*CONVERSATION, "connection"])
def test_our_answers_are_the_peers_or_better(
    name: str, theirs: dict[str, Answered], ours: dict[str, Answered]
) -> None:
    if name not in DIFFERENCES:
        assert ours[name] == theirs[name]
        return
    assert ours[name] != theirs[name], "the difference is gone: take it off the table"
    if name in OURS_THERE:
        assert ours[name][:2] == OURS_THERE[name]
    else:
        assert ours[name].status == 200


def test_what_differs_in_the_card(theirs: dict[str, Answered], ours: dict[str, Answered]) -> None:
    assert ours["card"].body == {**theirs["card"].body, "description": "tiny environment"}
