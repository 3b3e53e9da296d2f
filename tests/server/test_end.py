"""The end of a server: running steps are answered, environments closed, and the exit code is 0."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from openenv import serve
from openenv.protocol.errors import ConfigurationError
from openenv.server import run
from openenv.server.app import create_app
from openenv.server.run import serve_app
from tests.server.worlds import World
from tests.serving import RawSocket, Socket, eventually, frame_head, serving

SCRIPT = Path(__file__).parent / "patient_world.py"
STOP = [signal.SIGTERM, signal.SIGINT]


class Process:
    """`patient_world.py`, running."""

    def __init__(self, process: "subprocess.Popen[str]", directory: Path) -> None:
        self.process = process
        self.directory = directory
        assert process.stderr is not None
        self.greeting = process.stderr.readline()
        found = re.fullmatch(
            r"openenv: serving Patient on http://127\.0\.0\.1:(\d+)\n", self.greeting
        )
        assert found, self.greeting + process.stderr.read()
        self.port = int(found[1])

    @contextmanager
    def socket(self) -> Iterator[Socket]:
        with connect(f"ws://127.0.0.1:{self.port}/ws", proxy=None) as connection:
            yield Socket(connection)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def entered(self) -> None:
        eventually((self.directory / "entered").exists)

    def go(self) -> None:
        (self.directory / "go").touch()

    def ended(self) -> str:
        """Waits for the end, which must be a quiet one; what was written to stderr."""
        assert self.process.stderr is not None
        rest = self.process.stderr.read()
        assert self.process.wait(15) == 0, rest
        return rest


@contextmanager
def patient(
    directory: Path, kind: str = "thread", drain_grace: float = 30, close_grace: float = 0.2
) -> Iterator[Process]:
    command = [sys.executable, str(SCRIPT), kind, str(drain_grace), str(close_grace)]
    env = {**os.environ, "PATIENT_WORLD": str(directory)}
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield Process(process, directory)
        finally:
            process.kill()


WAITING = "openenv: 1 running call(s) may end within 30 s; a second Ctrl-C gives up on them\n"


@pytest.mark.parametrize("number", STOP)
@pytest.mark.parametrize("kind", ["thread", "process"])  # a sandbox cannot reach the files
def test_a_running_step_is_answered(tmp_path: Path, kind: str, number: signal.Signals) -> None:
    with patient(tmp_path, kind) as server, server.socket() as client, server.socket() as idle:
        client.reset()
        idle.reset()
        client.send({"type": "step", "data": {}})
        server.entered()
        server.stop(number)
        eventually(lambda: refuses(server.port))
        assert server.process.poll() is None
        server.go()
        assert client.receive()["data"]["reward"] == 5.0
        assert client.closed() == 1012
        assert idle.closed() == 1012
        assert server.ended() == WAITING
        assert (tmp_path / "closed").exists()


def refuses(port: int) -> bool:
    """Whether nobody listens there."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return True
    return False


def test_a_running_http_step_is_answered(tmp_path: Path) -> None:
    with patient(tmp_path) as server:
        connection = begin_http_step(server)
        server.stop()
        eventually(lambda: refuses(server.port))
        server.go()
        answer = connection.getresponse()
        assert json.loads(answer.read())["reward"] == 5.0
        connection.close()
        assert server.ended() == WAITING
        assert (tmp_path / "closed").exists()


def begin_http_step(server: Process) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=15)
    json_body = {"Content-Type": "application/json"}
    connection.request("POST", "/reset", b"{}", json_body)
    assert connection.getresponse().read()
    connection.request("POST", "/step", b'{"action": {}}', json_body)
    server.entered()
    return connection


def test_a_step_that_hangs_is_given_up(tmp_path: Path) -> None:
    with patient(tmp_path, drain_grace=0.2) as server, server.socket() as client:
        client.reset()
        client.send({"type": "step", "data": {}})
        server.entered()
        server.stop()
        assert client.closed() == 1012
        assert "Traceback" not in server.ended()


def test_an_http_step_that_hangs_is_given_up(tmp_path: Path) -> None:
    with patient(tmp_path, drain_grace=0.2) as server:
        connection = begin_http_step(server)
        server.stop()
        with suppress(http.client.HTTPException, ConnectionError):
            assert connection.getresponse().status == 503
        connection.close()
        assert "Traceback" not in server.ended()


@pytest.mark.parametrize("kind", ["thread", "process"])
def test_a_second_interrupt_waits_no_longer(tmp_path: Path, kind: str) -> None:
    with patient(tmp_path, kind, close_grace=60) as server, server.socket() as client:
        client.reset()
        client.send({"type": "step", "data": {}})
        server.entered()
        server.stop(signal.SIGINT)
        eventually(lambda: refuses(server.port))
        server.stop(signal.SIGINT)
        server.ended()


def test_clients_that_do_nothing_hold_nothing_up(tmp_path: Path) -> None:
    with patient(tmp_path) as server:
        silent = [RawSocket(server.port) for _ in range(4)]
        silent[1].socket.sendall(b"GET /health HT")
        silent[2].socket.sendall(
            b"POST /reset HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        silent[3].upgrade()
        with server.socket() as client:
            client.reset()
            server.stop()
            assert server.ended() == ""
        for each in silent:
            each.socket.close()


def test_a_goodbye_that_is_not_read_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LAST_WORDS_S", 0.2)
    text = b"x" * 900_000
    asked = b"".join(
        frame_head(len(frame), opcode=opcode) + frame
        for frame, opcode in [*[(b'{"type": "state"}', 1)] * 12, ((1000).to_bytes(2, "big"), 8)]
    )
    with serving(World, host_kind="inline") as server, server.raw() as client:
        client.upgrade()
        client.send(b'{"type": "reset"}')
        client.send(b'{"type": "step", "data": {"text": "%s"}}' % text)
        client.socket.sendall(asked)
        eventually(lambda: server.active() == 0)
        server.server.should_exit = True


def test_a_client_that_reads_nothing_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LAST_WORDS_S", 0.2)
    with serving(World, host_kind="inline") as server, server.raw() as client:
        client.upgrade()
        client.send(b'{"type": "reset"}')
        step = b'{"type": "step", "data": {"text": "%s"}}' % (b"x" * 900_000)
        client.socket.settimeout(0.3)
        with suppress(TimeoutError):
            for _ in range(100):
                client.send(step)
        server.server.should_exit = True
        eventually(lambda: refuses(server.port))


def test_who_waits_for_a_slot_is_told_of_the_end() -> None:
    gone: list[object] = []
    with serving(World, max_concurrent_envs=1) as server, server.socket() as first:
        first.reset()
        with server.socket("/ws?wait_s=30") as second:
            eventually(lambda: server.health()["waiting"] == 1)
            server.server.should_exit = True
            with suppress(ConnectionClosed):
                gone.append(second.receive()["data"])
            second.closed()
    assert all("stopping" in str(error) for error in gone)


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"127.0.0.1:{port}: Address already in use"):
            serve(World, port=port)


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(ConfigurationError, match="192.0.2.1"):
        serve(World, host="192.0.2.1", port=0)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_port_0_picks_a_free_one(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The line that says which is the only one."""
    app = create_app(World)
    thread = threading.Thread(target=serve_app, args=(app, host, 0), daemon=True)
    thread.start()
    said = ""

    def greeted() -> bool:
        nonlocal said
        said += capsys.readouterr().err
        return said.endswith("\n")

    eventually(greeted)
    assert re.fullmatch(r"openenv: serving World on http://[^ ]+:[1-9]\d*\n", said)
