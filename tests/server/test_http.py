"""The same stateful episode over plain HTTP."""

import asyncio
import functools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import pytest
from pydantic import ConfigDict, Field

from openenv import Action, Environment, Observation, State
from openenv.env.metadata import EnvironmentMetadata
from openenv.runtime.limits import Limits
from openenv.server.info import json_schema
from tests.server.conftest import HOST_KINDS
from tests.server.worlds import Awaited, Do, Gate, Saw, World
from tests.serving import Answer, Served, eventually, serving


@pytest.fixture(params=HOST_KINDS)
def fresh(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A server of its own, whose default session nobody has used."""
    with serving(World, host_kind=request.param) as server:
        yield server
        assert server.health()["status"] == "healthy"


def step(server: Served, session: str | None = None, **action: Any) -> Answer:
    return server.post("/step", {"action": action}, session)


def get_state(server: Served, session: str | None = None) -> Answer:
    return server.http("GET", "/state", headers={"X-Session-ID": session} if session else None)


def delete(server: Served, session: str | None = None) -> Answer:
    headers = {"X-Session-ID": session} if session else None
    return server.http("DELETE", "/session", headers=headers)


def test_an_episode_lives_across_requests(fresh: Served) -> None:
    assert get_state(fresh).json() == {"episode_id": None, "step_count": 0}
    answer = fresh.post("/reset", {"seed": 7, "episode_id": "e1", "level": 3})
    assert answer.status == 200
    assert answer.json() == {
        "observation": {"text": "ready", "value": {"seed": 7, "level": 3}, "metadata": {}},
        "reward": None,
        "done": False,
        "metadata": None,
    }
    assert step(fresh, text="one").json()["observation"]["text"] == "one"
    assert step(fresh, text="two").json()["reward"] == 1.0
    assert get_state(fresh).json() == {"episode_id": "e1", "step_count": 2, "last": "two"}
    assert fresh.active() == 1
    assert step(fresh, what="end").json()["done"] is True
    after = step(fresh)
    assert (after.status, after.json()["code"]) == (409, "RESET_REQUIRED")
    assert fresh.post("/reset").status == 200
    assert get_state(fresh).json()["step_count"] == 0
    assert delete(fresh).status == 204
    assert fresh.active() == 0
    assert delete(fresh).status == 404


@pytest.mark.parametrize("body", [None, b"", b"  ", {}])
def test_a_reset_needs_no_body(threaded: Served, body: Any) -> None:
    headers = {"X-Session-ID": "bare", "Content-Type": "application/json"}
    assert threaded.http("POST", "/reset", body, headers).status == 200
    delete(threaded, "bare")


def test_sessions_are_apart(fresh: Served) -> None:
    for name in ("a", "b", None):
        fresh.post("/reset", {"episode_id": f"episode {name}"}, name)
    for _ in range(3):
        step(fresh, "a")
    step(fresh, "b")
    counts = {name: get_state(fresh, name).json()["step_count"] for name in ("a", "b", None)}
    assert counts == {"a": 3, "b": 1, None: 0}
    assert get_state(fresh, "a").json()["episode_id"] == "episode a"
    assert fresh.active() == 3
    assert delete(fresh, "a").status == 204
    assert get_state(fresh, "a").status == 404
    assert get_state(fresh, "b").status == 200


def test_a_session_tells_its_name(threaded: Served) -> None:
    answer = threaded.post("/reset", {}, "named")
    assert answer.headers["x-session-id"] == "named"
    assert step(threaded, "named").headers["x-session-id"] == "named"
    delete(threaded, "named")


def test_an_unknown_session_is_told(threaded: Served) -> None:
    for answer in (step(threaded, "no one"), get_state(threaded, "no one"), delete(threaded, "x")):
        assert answer.status == 404
        assert answer.json()["code"] == "SESSION_ERROR"
        assert answer.json()["detail"] == answer.json()["message"]


@pytest.mark.parametrize("name", ["", "x" * 256])
def test_a_session_id_has_bounds(threaded: Served, name: str) -> None:
    answer = threaded.http("POST", "/reset", {}, {"X-Session-ID": name})
    assert answer.status == 422
    assert [fault["loc"] for fault in answer.json()["detail"]] == [["header", "X-Session-ID"]]


def test_a_step_before_reset_is_refused(fresh: Served) -> None:
    answer = step(fresh)
    assert answer.status == 409
    assert answer.json()["code"] == "RESET_REQUIRED"
    assert "reset" in answer.json()["detail"]
    assert fresh.active() == 0


def test_a_full_server_is_told() -> None:
    with serving(World, limits=Limits(capacity=2)) as server:
        assert server.post("/reset", {}, "a").status == 200
        with server.socket() as client:
            client.reset()
            answer = server.post("/reset", {}, "b")
            assert answer.status == 503
            assert answer.headers["retry-after"].isdigit()
            error = answer.json()
            assert error["code"] == "CAPACITY_REACHED"
            assert (error["active_sessions"], error["max_sessions"]) == (2, 2)
            assert step(server, "a").status == 200
        eventually(lambda: server.active() == 1)
        assert server.post("/reset", {}, "b").status == 200


RESET_FAULTS = {
    "negative seed": ({"seed": -1}, ["body", "seed"], "greater_than_equal"),
    "ill-typed seed": ({"seed": "lucky"}, ["body", "seed"], "int_parsing"),
    "long episode id": ({"episode_id": "e" * 300}, ["body", "episode_id"], "string_too_long"),
}
STEP_FAULTS = {
    "no action": ({"text": "hi"}, ["body", "action"], "missing"),
    "action is null": ({"action": None}, ["body", "action"], "dict_type"),
    "no time": ({"action": {}, "timeout_s": 0}, ["body", "timeout_s"], "greater_than"),
    "long request id": (
        {"action": {}, "request_id": "r" * 300},
        ["body", "request_id"],
        "string_too_long",
    ),
    "ill-typed field": ({"action": {"number": "many"}}, ["number"], "int_parsing"),
    "extra field": ({"action": {"message": "hi"}}, ["message"], "extra_forbidden"),
}


@pytest.mark.parametrize(("body", "loc", "kind"), RESET_FAULTS.values(), ids=RESET_FAULTS)
def test_a_wrong_reset_is_told(threaded: Served, body: Any, loc: list[str], kind: str) -> None:
    refused(threaded.post("/reset", body), loc, kind)


@pytest.mark.parametrize(("body", "loc", "kind"), STEP_FAULTS.values(), ids=STEP_FAULTS)
def test_a_wrong_step_is_told(server: Served, body: Any, loc: list[str], kind: str) -> None:
    server.post("/reset", {}, "wrong")
    refused(server.post("/step", body, "wrong"), loc, kind)
    assert step(server, "wrong", text="on").json()["observation"]["text"] == "on"
    delete(server, "wrong")


def refused(answer: Answer, loc: list[Any], kind: str) -> None:
    """The answer is a 422 in the shape of FastAPI's own, and has the code and message of `/ws`."""
    assert answer.status == 422
    error = answer.json()
    assert [(fault["loc"], fault["type"]) for fault in error["detail"]] == [(loc, kind)]
    assert error["detail"][0]["msg"]
    assert error["code"] in ("VALIDATION_ERROR", "INVALID_JSON")
    assert "\n" not in error["message"]


NO_OBJECTS = {
    "words": (b"hello", "json_invalid"),
    "half": (b'{"seed":', "json_invalid"),
    "nan": (b'{"seed": NaN}', "json_invalid"),
    "not utf-8": (b'{"seed": "\xff"}', "json_invalid"),
    "lone surrogate": (rb'{"episode_id": "\ud800"}', "json_invalid"),
    "deep": (b"[" * 10_000 + b"]" * 10_000, "json_invalid"),
    "list": (b"[]", "dict_type"),
    "number": (b"3", "dict_type"),
    "null": (b"null", "dict_type"),
}


@pytest.mark.parametrize("path", ["/reset", "/step"])
@pytest.mark.parametrize(("body", "kind"), NO_OBJECTS.values(), ids=NO_OBJECTS)
def test_a_body_that_is_no_object_is_told(
    threaded: Served, path: str, body: bytes, kind: str
) -> None:
    answer = threaded.http("POST", path, body, {"Content-Type": "application/json"})
    assert answer.status == 422
    (fault,) = answer.json()["detail"]
    assert fault["type"] == kind
    assert fault["loc"][0] == "body"
    assert len(answer.body) < 2000


def test_a_step_needs_a_body(threaded: Served) -> None:
    answer = threaded.post("/step")
    assert answer.status == 422
    assert answer.json()["detail"][0]["loc"][0] == "body"


@pytest.mark.parametrize("what", ["raise", "stop", "exit", "wrong", "unencodable"])
def test_a_step_that_fails_is_told(server: Served, what: str) -> None:
    server.post("/reset", {}, "failing")
    answer = step(server, "failing", what=what)
    assert answer.status == 500
    assert answer.json()["code"] == "EXECUTION_ERROR"
    assert answer.json()["detail"] == answer.json()["message"]
    assert step(server, "failing", text="on").status == 200
    assert server.post("/reset", {"what": what}, "failing").status == 500
    assert server.post("/reset", {}, "failing").status == 200
    delete(server, "failing")


def test_a_step_has_the_time_that_its_caller_gives_it(threaded: Served) -> None:
    gate = Gate()
    World.gate, before = gate, World.gate
    try:
        threaded.post("/reset", {}, "late")
        body = {"action": {"what": "wait"}, "timeout_s": 0.05}
        answer = threaded.post("/step", body, "late")
        assert answer.status == 504
        assert answer.json()["code"] == "STEP_TIMEOUT"
        assert threaded.post("/step", body, "late").status == 404
    finally:
        gate.opened.set()
        World.gate = before
    eventually(lambda: threaded.active() == 0)


@pytest.mark.parametrize("timeout_s", [1e308, 1e20, "Infinity", 1e-300])
def test_any_time_is_borne(timeout_s: Any) -> None:
    with serving(World, limits=Limits(step_timeout=None)) as server:
        server.post("/reset")
        answer = server.post("/step", {"action": {"text": "a"}, "timeout_s": timeout_s})
        assert answer.status in (200, 422, 504)
        assert server.post("/reset").status == 200


def test_who_leaves_in_the_middle_of_a_step_finds_the_session_again(threaded: Served) -> None:
    gate = Gate()
    World.gate, before = gate, World.gate
    try:
        threaded.post("/reset", {}, "again")
        body = b'{"action": {"what": "wait"}}'
        with threaded.raw() as client:
            head = (
                "POST /step HTTP/1.1\r\nHost: a\r\nX-Session-ID: again\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            client.socket.sendall(head.encode() + body)
            gate.wait_until_entered()
            client.reset()
    finally:
        gate.opened.set()
        World.gate = before
    assert step(threaded, "again", text="on").json()["observation"]["text"] == "on"
    assert get_state(threaded, "again").json()["step_count"] == 2
    delete(threaded, "again")


def test_pipelined_requests_are_answered_in_order(threaded: Served) -> None:
    threaded.post("/reset", {}, "pipe")
    with threaded.raw() as client:
        for text in ("one", "two", "six"):
            body = b'{"action": {"text": "%s"}}' % text.encode()
            head = (
                "POST /step HTTP/1.1\r\nHost: a\r\nX-Session-ID: pipe\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                f"Connection: {'close' if text == 'six' else 'keep-alive'}\r\n\r\n"
            )
            client.socket.sendall(head.encode() + body)
        answers = client.rest()
    assert [answers.index(text) for text in (b"one", b"two", b"six")] == sorted(
        answers.index(text) for text in (b"one", b"two", b"six")
    )
    delete(threaded, "pipe")


def test_a_session_that_is_closed_in_the_middle_of_a_step_is_gone(threaded: Served) -> None:
    gate = Gate()
    World.gate, before = gate, World.gate
    try:
        threaded.post("/reset", {}, "closed")
        with ThreadPoolExecutor(2) as pool:
            stepping = pool.submit(step, threaded, "closed", what="wait", text="done")
            gate.wait_until_entered()
            closing = pool.submit(delete, threaded, "closed")
            eventually(lambda: get_state(threaded, "closed").status == 404)
            gate.opened.set()
            assert closing.result().status == 204
            assert stepping.result().status in (200, 404)
    finally:
        gate.opened.set()
        World.gate = before


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_another_method_is_refused(threaded: Served, method: str) -> None:
    assert threaded.http(method, "/reset").status == 405


@pytest.mark.parametrize("kind", ["inline", "process"])
def test_steps_of_one_session_do_not_overlap(kind: Any) -> None:
    Awaited.most = 0
    with serving(Awaited, host_kind=kind) as server:
        server.post("/reset", {}, "shared")
        act = functools.partial(step, server, "shared", number=5)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda number: act(text=str(number)), range(64)))
        assert [answer.json()["observation"]["text"] for answer in answers] == [
            str(number) for number in range(64)
        ]
        assert get_state(server, "shared").json()["step_count"] == 64
    assert Awaited.most <= 1


def test_first_resets_at_once_make_one_session() -> None:
    built = []

    class Counted(World):
        def __init__(self) -> None:
            super().__init__()
            built.append(self)

    with serving(Counted) as server:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: server.post("/reset", {}, "same"), range(16)))
        assert {answer.status for answer in answers} == {200}
        assert len(built) == server.active() == 1


def test_an_idle_session_ends() -> None:
    with serving(World, limits=Limits(unattached_timeout=0.05)) as server:
        server.post("/reset", {}, "idle")
        eventually(lambda: server.active() == 0)
        assert step(server, "idle").status == 404


def test_a_session_that_is_busy_does_not_end() -> None:
    gate = Gate()
    World.gate, before = gate, World.gate
    try:
        with serving(World, limits=Limits(unattached_timeout=0.05)) as server:
            server.post("/reset", {}, "busy")
            answers: list[Answer] = []
            asking = threading.Thread(
                target=lambda: answers.append(step(server, "busy", what="wait", text="done"))
            )
            asking.start()
            gate.wait_until_entered()
            with server.socket() as other:  # nobody reads, nobody ends
                other.reset()
                for _ in range(50):
                    other.step()
            assert server.active() >= 1
            gate.opened.set()
            asking.join(10)
            assert answers[0].json()["observation"]["text"] == "done"
            eventually(lambda: server.active() == 0)
    finally:
        gate.opened.set()
        World.gate = before


def test_health_answers_while_a_step_runs(threaded: Served) -> None:
    gate = Gate()
    World.gate, before = gate, World.gate
    try:
        with threaded.socket() as client:
            client.reset()
            client.send({"type": "step", "data": {"what": "wait"}})
            gate.wait_until_entered()
            assert threaded.health() == {
                "status": "healthy",
                "active_sessions": 1,
                "max_sessions": 64,
                "waiting": 0,
                "isolation": {"host": "thread", "level": "none", "in_force": [], "missing": {}},
            }
            gate.opened.set()
            assert client.receive()["type"] == "observation"
    finally:
        gate.opened.set()
        World.gate = before
    eventually(lambda: threaded.active() == 0)


# What a server tells of itself.


def test_the_card_of_an_environment(threaded: Served) -> None:
    card = threaded.http("GET", "/metadata").json()
    assert card["name"] == "World"
    assert card["description"]
    assert card.keys() >= {"readme_content", "version", "author", "documentation_url"}
    assert threaded.active() == 0


class WithCard(World):
    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(name="worldly", description="A world.", author="us")


class WithoutCard(World):
    def get_metadata(self) -> EnvironmentMetadata:
        raise ValueError("no card today")


class WrongCard(World):
    def get_metadata(self) -> EnvironmentMetadata:
        return cast("EnvironmentMetadata", {"name": "a dict"})


class ExitsForCard(World):
    def get_metadata(self) -> EnvironmentMetadata:
        raise SystemExit(4)


def test_an_environment_writes_its_own_card() -> None:
    with serving(WithCard) as server:
        assert server.http("GET", "/metadata").json()["author"] == "us"


def test_one_environment_is_built_for_all_who_ask_for_its_card_at_once() -> None:
    asked = []

    class Slow(World):
        def get_metadata(self) -> EnvironmentMetadata:
            asked.append(self)
            time.sleep(0.3)
            return EnvironmentMetadata(name="slow", description="Thinks about itself.")

    with serving(Slow) as server, ThreadPoolExecutor(4) as callers:
        answers = callers.map(lambda _: server.http("GET", "/metadata").json(), range(4))
        assert [answer["name"] for answer in answers] == ["slow"] * 4
    assert len(asked) == 1


def test_an_environment_that_is_built_for_its_card_is_closed() -> None:
    closed = threading.Event()

    class Closed(Awaited):
        def get_metadata(self) -> EnvironmentMetadata:
            return EnvironmentMetadata(name="awaited", description="Closes in its own time.")

        async def close(self) -> None:  # type: ignore[override]
            await asyncio.sleep(0)
            closed.set()

    with serving(Closed) as server:
        assert server.http("GET", "/metadata").json()["name"] == "awaited"
        assert closed.is_set()


@pytest.mark.parametrize("env", [WithoutCard, WrongCard, ExitsForCard])
def test_a_card_that_fails_is_told(env: Any) -> None:
    with serving(env) as server:
        answer = server.http("GET", "/metadata")
        assert answer.status == 500
        assert answer.json()["code"] == "EXECUTION_ERROR"
        assert server.health()["status"] == "healthy"


def test_the_schemas_show_every_field(threaded: Served) -> None:
    schema = threaded.http("GET", "/schema").json()
    assert schema.keys() == {"action", "observation", "state", "reset_observation"}
    assert schema["action"]["properties"].keys() == {"what", "text", "number", "metadata"}
    assert schema["action"]["properties"]["number"]["maximum"] == 10**9
    assert {"text", "value", "done", "reward"} <= schema["observation"]["properties"].keys()
    assert {"last", "episode_id"} <= schema["state"]["properties"].keys()


class Pixels(Observation):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    image: np.ndarray[Any, Any] = np.zeros(2)
    anything: object = None


class Odd(Action):
    when: Any = object()


class Secret(State):
    lock: threading.Event | None = None


class Arbitrary(Environment[Odd, Pixels, Secret]):
    def reset(self, **options: Any) -> Pixels:
        return Pixels()

    def step(self, action: Odd) -> Pixels:
        return Pixels()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_fields_without_a_schema_do_not_hide_the_others() -> None:
    with serving(Arbitrary) as server:
        answer = server.http("GET", "/schema")
        assert answer.status == 200
        assert "image" in answer.json()["observation"]["properties"]
        assert "lock" in answer.json()["state"]["properties"]
        assert server.http("GET", "/openapi.json").status == 200
        assert server.post("/reset").json()["observation"]["image"] == [0.0, 0.0]


def test_the_openapi_description(threaded: Served) -> None:
    description = threaded.http("GET", "/openapi.json").json()
    assert description["info"]["version"].startswith("1.")
    assert {"/reset", "/step", "/state", "/health", "/metadata", "/schema"} <= (
        description["paths"].keys()
    )
    body = description["paths"]["/step"]["post"]["requestBody"]["content"]["application/json"]
    assert "action" in body["schema"]["properties"]
    assert threaded.http("GET", "/docs").status == 200


@pytest.mark.parametrize("path", ["/nowhere", "/web/", "/reset/", "/%2e%2e/etc/passwd"])
def test_there_is_nothing_elsewhere(threaded: Served, path: str) -> None:
    answer = threaded.http("GET", path)
    assert answer.status in (404, 307, 405)


def test_production_has_no_control() -> None:
    with serving(World, mode="production") as server:
        for method, path in [("POST", "/reset"), ("POST", "/step"), ("GET", "/state")]:
            assert server.http(method, path).status == 404
        assert server.http("DELETE", "/session").status == 404
        assert server.http("GET", "/").status == 404
        for path in ("/health", "/metadata", "/schema", "/docs"):
            assert server.http("GET", path).status == 200
        assert "/reset" not in server.http("GET", "/openapi.json").json()["paths"]
        with server.raw() as client:
            assert client.upgrade(request="GET /harness HTTP/1.1").startswith(b"HTTP/1.1 403 ")


def test_an_environment_that_wants_no_reset_needs_none() -> None:
    class Ready(Environment[Do, Saw]):
        REQUIRES_RESET = False

        def reset(self, **options: Any) -> Saw:
            return Saw(text="ready")

        def step(self, action: Do) -> Saw:
            return Saw(text=action.text)

    with serving(Ready) as server:
        assert step(server, text="at once").json()["observation"]["text"] == "at once"
        assert step(server, "unknown").status == 404


def test_a_seed_in_words_arrives_as_a_number(threaded: Served) -> None:
    with threaded.socket() as client:
        assert client.reset(seed="7")["observation"]["value"]["seed"] == 7
    answer = threaded.post("/reset", {"seed": "7"}, "words")
    assert answer.json()["observation"]["value"]["seed"] == 7
    delete(threaded, "words")


class Throw(Action):
    """A throw of dice, of as many
    sides as wanted.

    Attributes:
        dice: how many.
        sides: of each.
    """

    dice: int = Field(default=1, description="the number of dice")
    sides: int = 6


def test_fields_are_described_as_in_the_docstring_of_their_class() -> None:
    schema = json_schema(Throw)
    assert schema["description"] == "A throw of dice, of as many sides as wanted."
    assert schema["properties"]["dice"]["description"] == "the number of dice"
    assert schema["properties"]["sides"]["description"] == "of each."
