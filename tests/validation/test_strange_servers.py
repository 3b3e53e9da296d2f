"""Servers that answer in strange ways: a report all the same, and in time."""

import http.server
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from openenv.validation import subject as subjects
from openenv.validation import validate, validate_running_environment
from openenv.validation.web import Site
from tests.serving import PATIENCE_S, serving
from tests.validation.broken import Push, Seen, Sound


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that lets a function talk on each connection; its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        over = threading.Event()

        def talk(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                connection.settimeout(PATIENCE_S)
                connection.recv(65536)
                answer(connection)

        def accept() -> None:
            talks = []
            while not over.is_set():
                with suppress(TimeoutError):
                    connection, _ = listening.accept()
                    talks.append(threading.Thread(target=talk, args=(connection,)))
                    talks[-1].start()
            for each in talks:
                each.join(PATIENCE_S)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            over.set()
            thread.join(2 * PATIENCE_S)


def _json(content: Any) -> bytes:
    body = json.dumps(content).encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def test_a_redirect_takes_no_token_to_another_server() -> None:
    seen: list[str | None] = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["Authorization"])
            self.wfile.write(_json({}))

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.handle_request)
        server.timeout = PATIENCE_S
        thread.start()
        place = f"http://127.0.0.1:{server.server_address[1]}/"
        moved = f"HTTP/1.1 307 Moved\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n"
        with answering(lambda connection: connection.sendall(moved.encode())) as url:
            answer = Site(url, headers={"Authorization": "Bearer word"}).get("/schema")
        thread.join()
    assert (answer.status, seen) == (200, [None])


def drip(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    for _ in range(100):
        connection.sendall(b" ")
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda connection: connection.sendall(b"HELLO\r\n\r\n"), "no answer: HELLO"),
        (lambda _connection: None, "no answer: Remote end closed"),
        (lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n<html>"), "no JSON"),
        (lambda connection: connection.sendall(_json("[" * 9)), "got"),
        (drip, "not complete within 1 s"),
    ],
)
def test_what_is_no_answer_is_told(answer: Callable[[socket.socket], None], told: str) -> None:
    with answering(answer) as url:
        report = validate_running_environment(url, timeout_s=1.0 if answer is drip else 10.0)
    assert not report["passed"]
    first = report["criteria"][1]
    assert told in first.get("details", "got"), first


@pytest.mark.parametrize("content", [[], {"action": 5}, {"action": {"properties": []}}, "text"])
def test_schemas_that_are_none_are_no_fault_of_ours(content: Any) -> None:
    with answering(lambda connection: connection.sendall(_json(content))) as url:
        report = validate(url, timeout_s=0.5)
    assert report.verdict == "fail"
    assert not [result for result in report.results if result.status == "error"]


@pytest.mark.timeout(60)
def test_a_step_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subjects, "CALL_S", 1.0)
    over = threading.Event()

    class Hangs(Sound):
        def step(self, action: Push) -> Seen:
            over.wait(3)
            return super().step(action)

    with serving(Hangs) as server:
        try:
            report = validate(f"http://127.0.0.1:{server.port}")
        finally:
            over.set()
    told = {result.check_id: result for result in report.results}
    assert told["runtime.episode"].status == "fail"
    assert "no answer within 1 s" in told["runtime.episode"].finding.evidence[0]


def test_slow_episodes_are_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    from openenv.testing import stage

    monkeypatch.setattr(stage, "BUDGET_S", 0.0)
    with serving(Sound) as server:
        report = validate(f"http://127.0.0.1:{server.port}")
    told = {result.check_id: result for result in report.results}
    assert told["runtime.episode"].finding.measured["steps"] == 1
    assert report.verdict == "pass"
