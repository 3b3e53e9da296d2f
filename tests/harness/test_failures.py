"""Agents that misbehave: each failure is told, the episode's data is kept, nothing is left."""

import json
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.harness.worlds import marked, served
from tests.serving import PATIENCE_S, Served, Socket, eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are seen by /proc")


@contextmanager
def episode(server: Served) -> Iterator[Socket]:
    with server.socket(max_size=None) as socket:
        socket.reset()
        yield socket


def _chunk(metadata: dict[str, Any]) -> bool:
    """Whether what the agent did before it failed is kept."""
    events = metadata["turn_events"]
    return (
        bool(events) and events[0]["type"] == "llm_chunk" and events[0]["data"]["content"] == "he"
    )


def test_a_turn_is_a_step() -> None:
    with served("good") as server, episode(server) as socket:
        for number in (1, 2):
            told = socket.step(message="hi")
            assert told["metadata"]["response"] == "echo:hi"
            assert told["metadata"]["turn_number"] == number
            assert told["done"] is False
            assert told["reward"] is None
            events = told["metadata"]["turn_events"]
            assert [each["type"] for each in events] == ["llm_chunk", "turn_complete"]
        assert socket.state()["step_count"] == 2


def test_a_reset_starts_the_agent_afresh() -> None:
    with served("good") as server, episode(server) as socket:
        socket.step(message="hi")
        begun = socket.reset()
        assert begun["metadata"]["harness"] == "toy"
        assert begun["metadata"]["injected_tools"] == ["price", "buy"]
        assert socket.step(message="hi")["metadata"]["turn_number"] == 1


def test_an_agent_that_never_starts() -> None:
    with served("never", startup_timeout_s=0.5) as server, server.socket() as socket:
        refused = socket.refused({"type": "reset"})
        assert refused["code"] == "EXECUTION_ERROR"
        assert "was not ready within 0.5 s" in refused["message"]
        assert "loading, and loading" in refused["message"]


def test_an_agent_that_dies_at_its_start() -> None:
    with served("dies_at_start") as server, server.socket() as socket:
        refused = socket.refused({"type": "reset"})
        assert "exit code 3" in refused["message"]
        assert "no model: None" in refused["message"]


def test_a_program_that_there_is_not() -> None:
    with served("good", command=["no-such-agent"]) as server, server.socket() as socket:
        refused = socket.refused({"type": "reset"})
        assert "no-such-agent cannot be run" in refused["message"]


def test_an_agent_that_dies_in_its_turn() -> None:
    with served("dies") as server, episode(server) as socket:
        told = socket.step(message="hi")
        assert told["done"] is True
        assert told["reward"] is None
        metadata = told["metadata"]
        assert metadata["error_type"] == "harness_crashed"
        assert "exit code 7" in metadata["error"]
        assert "out of luck" in metadata["stderr"]
        assert _chunk(metadata)
        assert socket.refused({"type": "step", "data": {"message": "hi"}})["code"] == (
            "RESET_REQUIRED"
        )
        assert socket.reset()["metadata"]["harness"] == "toy"


@pytest.mark.parametrize("behaviour", ["good", "stubborn", "forks", "daemon"])
def test_nothing_outlives_its_session(behaviour: str) -> None:
    with served(behaviour) as server, episode(server) as socket:
        assert socket.step(message="hi")["metadata"]["response"] == "echo:hi"


@pytest.mark.parametrize("behaviour", ["hangs", "hangs+stubborn+daemon"])
def test_a_turn_that_takes_too_long(behaviour: str) -> None:
    with served(behaviour, session_timeout_s=0.5) as server, episode(server) as socket:
        told = socket.step(message="hi")
        assert told["done"] is True
        assert told["metadata"]["error_type"] == "turn_timeout"
        assert "0.5 s" in told["metadata"]["error"]
        assert _chunk(told["metadata"])


def test_a_flood_on_stderr_holds_nobody_up() -> None:
    with served("floods_stderr") as server, episode(server) as socket:
        assert socket.step(message="hi")["metadata"]["response"] == "echo:hi"


def test_a_flood_on_stdout_is_a_failure() -> None:
    with served("floods_stdout") as server, episode(server) as socket:
        told = socket.step(message="hi")
        assert told["metadata"]["error_type"] == "harness_crashed"
        assert "more in one turn than can be kept" in told["metadata"]["error"]
        assert _chunk(told["metadata"])


def test_a_huge_line_is_a_failure() -> None:
    with served("huge_line") as server, episode(server) as socket:
        told = socket.step(message="hi")
        assert told["metadata"]["error_type"] == "harness_crashed"
        assert "a line of more than 1048576 bytes" in told["metadata"]["error"]
        assert _chunk(told["metadata"])


def test_lines_that_are_no_events_are_kept_as_text() -> None:
    with served("garbage") as server, episode(server) as socket:
        told = socket.step(message="hi")
        assert told["metadata"]["response"] == "echo:hi"
        stray = [each["data"] for each in told["metadata"]["turn_events"][1:-1]]
        assert all(each["stray"] for each in stray)
        assert [each["text"] for each in stray[:2]] == ["[1]", "{bad"]


def test_events_that_are_strange_are_events() -> None:
    with served("wild") as server, episode(server) as socket:
        told = socket.step(message="hi")
        assert told["metadata"]["response"] == "echo:hi"
        assert len(told["metadata"]["turn_events"]) == 8


def test_a_client_that_leaves_while_the_agent_starts() -> None:
    with served("never+daemon") as server, server.socket() as socket:
        socket.send({"type": "reset"})
        eventually(lambda: server.openenv.sessions.busy == 1)


def test_a_message_that_is_large() -> None:
    with served("good") as server, episode(server) as socket:
        message = "x" * 500_000 + "\u2028\n\x00é"
        assert socket.step(message=message)["metadata"]["response"] == f"echo:{message}"


def test_what_is_no_message_is_refused() -> None:
    with served("good") as server, episode(server) as socket:
        for data in ({}, {"message": 5}, {"message": "hi", "more": 1}):
            refused = socket.refused({"type": "step", "data": data})
            assert refused["code"] == "VALIDATION_ERROR"
        assert socket.step(message="hi")["metadata"]["turn_number"] == 1


def test_the_end_of_an_earlier_turn_is_not_taken_for_that_of_the_next() -> None:
    with served("twice") as server, episode(server) as socket:
        assert socket.step(message="one")["metadata"]["response"] == "echo:one"
        assert socket.step(message="two")["metadata"]["response"] == "echo:two"


def test_an_end_without_its_turn_is_a_failure() -> None:
    with served("no_turn") as server, episode(server) as socket:
        told = socket.step(message="hi")
        assert told["metadata"]["error_type"] == "harness_crashed"
        assert "without the turn" in told["metadata"]["error"]


@pytest.mark.parametrize("behaviour", ["hangs", "hangs+stubborn+daemon"])
def test_a_client_that_leaves_in_a_turn(behaviour: str) -> None:
    with served(behaviour) as server, episode(server) as socket:
        socket.send({"type": "step", "data": {"message": "hi"}})
        eventually(lambda: server.openenv.sessions.busy == 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_is_killed_in_a_turn(number: signal.Signals) -> None:
    mark = uuid.uuid4().hex
    program = (
        "from openenv.server.run import serve\n"
        "from openenv import Limits\n"
        "from tests.harness.worlds import rogue\n"
        f"serve(lambda: rogue('hangs+stubborn+daemon', {mark!r}), port=0,"
        " limits=Limits(drain_grace=0.2, close_grace=2.0))\n"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, bufsize=1
    )
    assert server.stderr is not None
    with server, server.stderr:
        try:
            url = next(line for line in server.stderr if "serving" in line).split()[-1]
            with connect(url.replace("http", "ws") + "/ws", proxy=None) as connection:
                socket = Socket(connection)
                socket.reset()
                socket.send({"type": "step", "data": {"message": "hi"}})
                eventually(lambda: len(marked(mark)) >= 2)
                server.send_signal(number)
                server.stderr.read()
                assert server.wait(PATIENCE_S) == (0 if number == signal.SIGTERM else -number)
        finally:
            server.kill()
    eventually(lambda: not marked(mark))


def test_an_agent_sees_no_credentials_but_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "sk-of-the-agent")
    monkeypatch.setenv("ANOTHER_API_KEY", "of-the-trainer")
    with served("environ", api_key_env_var="THE_KEY", model="small") as server:
        monkeypatch.setenv("OPENENV_TOKEN", "of-the-server")
        with episode(server) as socket:
            seen = json.loads(socket.step(message="hi")["metadata"]["response"])
    assert seen["THE_KEY"] == "sk-of-the-agent"
    assert seen["OPENENV_MODEL"] == "small"
    assert seen["OPENENV_MCP_URL"].startswith("http://127.0.0.1:")
    assert "of-the-server" not in seen.values()
    assert "ANOTHER_API_KEY" not in seen
