"""`WS /harness`: what its clients are told, in production."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection

from openenv.harness.agents.adapter import AgenticHarnessAdapter
from openenv.harness.agents.config import HarnessConfig
from openenv.harness.agents.environment import HarnessAction, HarnessEnvironment
from openenv.harness.agents.over_http import HTTPHarnessAdapter
from tests.harness.worlds import config, rogue, watched
from tests.serving import PATIENCE_S, Served, eventually


class Talk:
    """A client of `/harness`."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    def send(self, frame: Any) -> None:
        self._connection.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))

    def say(self, content: str) -> None:
        self.send({"type": "message", "content": content})

    def hear(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._connection.recv(timeout=PATIENCE_S))
        return told


@contextmanager
def talking(server: Served) -> Iterator[Talk]:
    with server.socket("/harness") as socket:
        yield Talk(socket.connection)


def production(behaviour: str, **options: Any) -> Any:
    app = {key: options.pop(key) for key in ("max_concurrent_envs",) if key in options}
    return watched(lambda mark: rogue(behaviour, mark, **options), mode="production", **app)


def test_a_conversation() -> None:
    with production("good") as server, talking(server) as talk:
        started = talk.hear()
        assert started["type"] == "session_started"
        assert started["data"]["harness"] == "toy"
        assert uuid.UUID(started["data"]["session_id"])
        for _ in range(2):
            talk.say("hi")
            chunk, end = talk.hear(), talk.hear()
            assert chunk.keys() == end.keys() == {"type", "timestamp", "data"}
            assert chunk["type"] == "llm_chunk"
            assert chunk["data"] == {"content": "he", "index": 0}
            assert end["type"] == "turn_complete"
            assert end["data"] == {"response": "echo:hi", "done": False}


NO_MESSAGES: list[tuple[Any, str]] = [
    ("{bad", "INVALID_JSON"),
    (b"\x00", "INVALID_JSON"),
    ("[1]", "VALIDATION_ERROR"),
    ({"type": "x"}, "VALIDATION_ERROR"),
    ({"type": "message"}, "VALIDATION_ERROR"),
    ({"type": "message", "content": 5}, "VALIDATION_ERROR"),
    ({"type": "message", "content": "hi", "more": 1}, "VALIDATION_ERROR"),
]


def test_what_is_no_message_is_refused_and_the_socket_stays() -> None:
    with production("good") as server, talking(server) as talk:
        talk.hear()
        for frame, code in NO_MESSAGES:
            talk.send(frame)
            refused = talk.hear()
            assert refused.keys() == {"type", "data"}
            assert refused["type"] == "protocol_error"
            assert refused["data"]["code"] == code, frame
        talk.say("hi")
        assert talk.hear()["type"] == "llm_chunk"


def test_messages_wait_for_their_turn() -> None:
    with production("good") as server, talking(server) as talk:
        for number in range(40):
            talk.say(str(number))
        heard = [talk.hear() for _ in range(81)]
    ends = [each["data"]["response"] for each in heard if each["type"] == "turn_complete"]
    assert ends == [f"echo:{number}" for number in range(40)]


@pytest.mark.parametrize(
    ("behaviour", "options", "why"),
    [("dies", {}, "exit code 7"), ("hangs", {"session_timeout_s": 0.5}, "within 0.5 s")],
)
def test_a_turn_that_fails_ends_the_conversation(
    behaviour: str, options: dict[str, Any], why: str
) -> None:
    with production(behaviour, **options) as server, server.socket("/harness") as socket:
        talk = Talk(socket.connection)
        talk.hear()
        talk.say("hi")
        assert talk.hear()["type"] == "llm_chunk"
        error = talk.hear()
        assert error.keys() == {"type", "timestamp", "data"}
        assert error["type"] == "error"
        assert error["data"]["recoverable"] is False
        assert why in error["data"]["message"]
        assert "out of luck" not in error["data"]["message"]
        assert socket.closed() == 1000


class Speechless(AgenticHarnessAdapter):
    """An author's adapter that raises what is only the author's to read."""

    def __init__(self) -> None:
        super().__init__(HarnessConfig(name="own", command=["-"], working_directory=None))

    async def inject_tools(self, tools: list[Any], bridge_url: str | None = None) -> None:
        pass

    async def start(self, working_directory: str) -> None:
        pass

    async def stop(self) -> None:
        pass

    async def is_alive(self) -> bool:
        return True

    async def send_message_streaming(self, message: str) -> Any:
        raise KeyError("/srv/secret answer=42")
        yield


def quoting(mark: str) -> HarnessEnvironment:
    return HarnessEnvironment(HTTPHarnessAdapter(config("http_agent.py", mark, "refuses")))


@pytest.mark.parametrize("judge", [None, lambda action, observation: 1.0], ids=["", "judged"])
async def test_what_an_adapter_raises_is_told_to_trainers_alone(judge: Any) -> None:
    for mode, is_told in (("simulation", True), ("production", False)):
        environment = HarnessEnvironment(Speechless(), rubric=judge)
        environment.__dict__["_mode"] = mode
        await environment.reset_async()
        told = await environment.step_async(HarnessAction(message="hi"))
        await environment.close()
        assert ("answer=42" in str(told.metadata)) is is_told
        assert ("incident" in told.metadata["error"]) is not is_told
        assert ("reward_error" in told.metadata) is (judge is not None)


def test_what_an_agent_says_of_its_failure_is_not_for_everybody() -> None:
    with watched(quoting, mode="production") as server, talking(server) as talk:
        talk.hear()
        talk.say("hi")
        message = talk.hear()["data"]["message"]
    assert "toy answered with status 503" in message
    assert "no model today" not in message


def test_an_agent_that_does_not_start_is_told_as_on_ws() -> None:
    with production("dies_at_start") as server, server.socket("/harness") as socket:
        error = socket.receive()
        assert error["type"] == "error"
        assert error["data"]["code"] == "EXECUTION_ERROR"
        assert "incident" in error["data"]["message"]
        assert socket.closed() == 1000


def test_a_full_server_says_so_as_on_ws() -> None:
    with production("good", max_concurrent_envs=1) as server, talking(server) as talk:
        talk.hear()
        with server.socket("/harness") as second:
            assert second.receive()["data"]["code"] == "CAPACITY_REACHED"
            assert second.closed() == 1000


def test_a_client_that_leaves_in_a_turn() -> None:
    with production("hangs+daemon") as server:
        with talking(server) as talk:
            talk.hear()
            talk.say("hi")
            assert talk.hear()["type"] == "llm_chunk"
        eventually(lambda: server.active() == 0)


def test_a_client_that_leaves_at_once() -> None:
    with production("good") as server:
        with talking(server):
            pass
        eventually(lambda: server.active() == 0)


def test_there_is_none_in_simulation() -> None:
    with (
        watched(lambda mark: rogue("good", mark)) as server,
        pytest.raises(InvalidStatus),
        server.socket("/harness"),
    ):
        pass
