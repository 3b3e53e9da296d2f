"""The same HTTP requests to both servers, and where our answers differ on purpose.

The peer gives each request an environment of its own; we keep one for the caller's session, which
each test names, so that none meets another's. Faults are compared by type and place, as in
`test_frames`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import uuid4

import httpx
import pytest

pytestmark = [pytest.mark.interop, pytest.mark.timeout(120)]

Answer = tuple[int, Any]


class Asked(NamedTuple):
    """One request."""

    method: str
    path: str
    body: Any = None
    content: bytes | None = None


def step(message: str, **more: Any) -> Asked:
    return Asked("POST", "/step", {"action": {"message": message}, **more})


def reset(**body: Any) -> Asked:
    return Asked("POST", "/reset", body)


STATE = Asked("GET", "/state")
BROKEN = Asked("POST", "/reset", content=b"{bad")

SCRIPTS: dict[str, list[Asked]] = {
    "metadata": [Asked("GET", "/metadata")],
    "state before reset": [STATE],
    "reset without a body": [Asked("POST", "/reset")],
    "reset with an empty object": [reset()],
    "reset with everything": [reset(seed=42, episode_id="ep-1", difficulty="hard", extra=1)],
    "seed below zero": [reset(seed=-1)],
    "seed that is text": [reset(seed="notint")],
    "episode id that is too long": [reset(episode_id="e" * 256)],
    "reset with a list": [Asked("POST", "/reset", [])],
    "reset with broken JSON": [BROKEN],
    "reset that raises": [reset(boom=1)],
    "step": [reset(), step("hi")],
    "step with a deadline": [reset(), step("a", timeout_s=1.5, request_id="r1")],
    "step with a deadline of nothing": [reset(), step("a", timeout_s=0)],
    "step with an invalid action": [reset(), step("")],
    "step without an action": [reset(), Asked("POST", "/step", {"message": "hi"})],
    "step that raises": [reset(), step("explode")],
    "step before reset": [step("hi")],
    "episode": [reset(episode_id="e1"), step("hi"), STATE],
    "reset by GET": [Asked("GET", "/reset")],
    "unknown path": [Asked("GET", "/nope")],
}


class Difference(NamedTuple):
    """Where we answer otherwise than the peer, and why."""

    ours: list[Answer]
    why: str


READY: Answer = (
    200,
    {
        "observation": {
            "metadata": {"msg": "hello"},
            "echoed": "ready seed=None []",
            "n": 0,
        },
        "reward": 0.0,
        "done": False,
        "metadata": {"msg": "hello"},
    },
)
HI: Answer = (
    200,
    {
        "observation": {"metadata": {}, "echoed": "hi", "n": 1},
        "reward": 1.0,
        "done": False,
        "metadata": None,
    },
)

DIFFERENCES: dict[str, Difference] = {
    "metadata": Difference(
        [
            (
                200,
                {
                    "name": "tiny",
                    "description": "tiny environment",
                    "readme_content": None,
                    "version": "1.0.0",
                    "author": None,
                    "documentation_url": None,
                },
            )
        ],
        "the name that create_app was given is the environment's name",
    ),
    "state before reset": Difference(
        [(404, "SESSION_ERROR")], "a caller who names a session that never began is told"
    ),
    "step before reset": Difference(
        [(404, "SESSION_ERROR")], "a caller who names a session that never began is told"
    ),
    "reset with a list": Difference(
        [(422, [("dict_type", "body")])], "the same fault as on /ws, with the same status"
    ),
    "reset with broken JSON": Difference(
        [(422, [("json_invalid", "body")])], "the position of the fault is in its text"
    ),
    "reset that raises": Difference([(500, "EXECUTION_ERROR")], "the error is typed, as on /ws"),
    "step that raises": Difference(
        [READY, (500, "EXECUTION_ERROR")], "the error is typed, as on /ws"
    ),
    "episode": Difference(
        [READY, HI, (200, {"episode_id": "e1", "step_count": 1, "last": "hi"})],
        "an episode spans requests",
    ),
}


@pytest.fixture
def caller() -> Iterator[httpx.Client]:
    with httpx.Client(headers={"x-session-id": uuid4().hex}) as client:
        yield client


def converse(caller: httpx.Client, url: str, script: list[Asked]) -> list[Answer]:
    """Each answer's status and body, without prose."""
    return [ask(caller, url, asked) for asked in script]


def ask(caller: httpx.Client, url: str, asked: Asked) -> Answer:
    headers = {"content-type": "application/json"} if asked.content else {}
    answer = caller.request(
        asked.method, url + asked.path, json=asked.body, content=asked.content, headers=headers
    )
    if answer.headers.get("content-type") != "application/json":
        return answer.status_code, answer.text
    return answer.status_code, normal(answer.json())


def normal(body: dict[str, Any]) -> Any:
    """A body whose faults are their types and places, and whose typed error is its code."""
    if isinstance(body.get("detail"), list):
        return [(fault["type"], *fault["loc"]) for fault in body["detail"]]
    return body.get("code", body)


def test_both_are_healthy(peer_server: str, our_server: str) -> None:
    theirs, ours = (httpx.get(f"{url}/health").json() for url in (peer_server, our_server))
    ours.pop("isolation")
    assert ours == {**theirs, "active_sessions": 0, "max_sessions": 4, "waiting": 0}


def test_the_actions_schema_is_the_same(peer_server: str, our_server: str) -> None:
    theirs, ours = (httpx.get(f"{url}/schema").json() for url in (peer_server, our_server))
    assert ours.keys() == theirs.keys()
    theirs["action"]["properties"]["metadata"].pop("description")
    assert ours["action"] == theirs["action"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_our_answers_are_the_peers_or_better(
    name: str, caller: httpx.Client, peer_server: str, our_server: str
) -> None:
    theirs = converse(caller, peer_server, SCRIPTS[name])
    ours = converse(caller, our_server, SCRIPTS[name])
    caller.delete(f"{our_server}/session")
    if name not in DIFFERENCES:
        assert ours == theirs
    else:
        assert ours == DIFFERENCES[name].ours
        assert ours != theirs, "the difference is gone: take it off the table"
