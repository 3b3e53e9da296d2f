"""`openenv serve` in a process of its own, as a user runs it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from openenv import GenericEnvClient, OpenEnvError
from openenv.protocol.errors import SessionCapacityError
from tests.serving import eventually

SERVE = [sys.executable, "-m", "openenv.cli", "serve"]
ECHO = dedent("""
    from openenv import Action, Environment, Observation

    class Say(Action):
        message: str

    class Heard(Observation):
        message: str = ""

    class Echo(Environment[Say, Heard]):
        def reset(self, **options) -> Heard:
            return Heard(message="ready")

        def step(self, action: Say) -> Heard:
            return Heard(message=action.message, reward=1.0)
""")


@dataclass
class Served:
    """A server that is ready."""

    url: str
    process: "subprocess.Popen[str]"


@contextmanager
def served(*arguments: str, cwd: Path) -> Iterator[Served]:
    """Serves a target on a free port, and expects it to leave quietly when it is told to."""
    command = [*SERVE, "--port", "0", *arguments]
    with subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield Served(_announced(process.stderr), process)
        finally:
            process.send_signal(signal.SIGTERM)
            rest = process.stderr.read()
    assert process.returncode == 0, rest


def _announced(lines: Iterator[str]) -> str:
    """The address in the line that says that the server is ready."""
    seen = []
    for line in lines:
        seen.append(line)
        if found := re.search(r"openenv: serving \S+ on (http://\S+)", line):
            return found[1]
    raise AssertionError("the server ended before it was ready:\n" + "".join(seen))


def refused(*arguments: str, cwd: Path) -> tuple[int, str]:
    """The exit code and the words of a server that does not start."""
    run = subprocess.run(
        [*SERVE, *arguments], cwd=cwd, capture_output=True, text=True, timeout=45, check=False
    )
    assert run.stdout == ""
    return run.returncode, run.stderr


def hears(url: str) -> str:
    """What an echo answers."""
    with GenericEnvClient(base_url=url) as client:
        client.reset()
        result = client.step({"message": "hello"})
    assert result.reward == 1.0
    return str(result.observation["message"])


def health(url: str) -> dict[str, object]:
    with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
        return dict(json.load(answer))


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    """A directory with `echo.py`."""
    (tmp_path / "echo.py").write_text(ECHO)
    return tmp_path


@pytest.mark.parametrize("target", ["echo.py", "echo.py:Echo", "echo:Echo"])
def test_each_spelling_serves(echo: Path, target: str) -> None:
    with served(target, cwd=echo) as server:
        assert hears(server.url) == "hello"


def test_a_directory_serves_its_app(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "__init__.py").touch()
    (tmp_path / "openenv.yaml").write_text("name: echo\napp: server.app:app\n")
    (tmp_path / "models.py").write_text(ECHO)
    (tmp_path / "server/app.py").write_text(
        "from openenv import create_app\nfrom ..models import Echo, Heard, Say\n\n"
        "app = create_app(Echo, Say, Heard, env_name='echo')\n"
    )
    with served(cwd=tmp_path) as server:
        assert hears(server.url) == "hello"


@pytest.mark.parametrize("kind", ["inline", "thread", "process", "sandbox"])
def test_the_options_reach_the_server(echo: Path, kind: str) -> None:
    with served("echo.py", "--host-kind", kind, "--max-sessions", "3", cwd=echo) as server:
        assert health(server.url)["max_sessions"] == 3
        assert hears(server.url) == "hello"


def test_an_interrupt_ends_it_quietly(echo: Path) -> None:
    with served("echo.py", cwd=echo) as server:
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=10) == 0


def test_a_busy_port_is_named_before_anything_is_imported(echo: Path) -> None:
    (echo / "echo.py").write_text("raise SystemExit('imported')")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, words = refused("echo.py", "--port", port, cwd=echo)
    assert code == 1
    assert words.startswith("Error: ")
    assert port in words
    assert words.count("\n") == 1


def test_code_that_fails_is_shown_without_ours(echo: Path) -> None:
    (echo / "echo.py").write_text("import no_such_library\n" + ECHO)
    code, words = refused("echo.py", cwd=echo)
    assert code == 1
    assert words.endswith("ModuleNotFoundError: No module named 'no_such_library'\n")
    assert re.findall(r'File "(.*)"', words) == [str(echo / "echo.py")]


def test_a_wrong_variable_of_an_environment_is_told_in_a_line(
    echo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ECHO_VOLUME", "loud")
    options = "class EchoOptions(Options, variables='ECHO_'):\n    volume: int = 1\n"
    text = "from openenv import Options\n" + options + ECHO + "    OPTIONS = EchoOptions\n"
    (echo / "echo.py").write_text(text)
    code, words = refused("echo.py", cwd=echo)
    assert code == 1
    assert words.startswith("Error: ECHO_VOLUME: Input should be a valid integer")
    assert words.count("\n") == 1


def test_a_target_that_is_not_there_is_told(tmp_path: Path) -> None:
    code, words = refused("nowhere.py", cwd=tmp_path)
    assert code == 1
    assert words.startswith("Error: there is no file 'nowhere.py'")


def test_the_options_of_an_environment_are_refused_for_an_app(tmp_path: Path) -> None:
    (tmp_path / "ready.py").write_text("async def app(scope, receive, send):\n    pass\n")
    code, words = refused("ready.py:app", "--max-sessions", "2", cwd=tmp_path)
    assert code == 2
    assert "is a ready app" in words


FULL = dedent("""
    from openenv import create_app
    from echo import Echo

    app = create_app(Echo)
""")
HTTP_STEP = {"action": {"message": "hi"}}


def post(url: str, body: object) -> tuple[int, object]:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


@pytest.mark.timeout(60)
def test_options_reach_an_app_that_is_made_by_its_module(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "app.py").write_text(FULL)
    options = ["--max-sessions", "3", "--host-kind", "inline", "--token", "word"]
    with served("app.py:app", *options, cwd=tmp_path) as server:
        bearer = {"Authorization": "Bearer word"}
        request = urllib.request.Request(f"{server.url}/health", headers=bearer)
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert json.load(answer)["max_sessions"] == 3
        assert post(f"{server.url}/reset", {})[0] == 401
        with GenericEnvClient(server.url, headers=bearer) as env:
            env.reset()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("settled", "option", "asked"),
    [
        ("max_concurrent_envs=2", "--max-sessions", "3"),
        ("host_kind='sandbox', isolation='best'", "--isolation", "strict"),
    ],
)
def test_an_option_that_an_app_settles_otherwise_is_refused(
    tmp_path: Path, settled: str, option: str, asked: str
) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "app.py").write_text(FULL.replace("(Echo)", f"(Echo, {settled})"))
    code, words = refused("app.py:app", option, asked, cwd=tmp_path)
    assert code == 2
    assert f"settles {option} itself" in words


@pytest.mark.timeout(60)
def test_workers_share_the_port(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    with served("echo.py", "--workers", "2", cwd=tmp_path) as server:
        clients = [GenericEnvClient(server.url) for _ in range(8)]
        for client in clients:
            client.reset()
        for client in clients:
            assert client.step({"message": "hi"}).reward == 1.0
            client.close()
        for _ in range(8):  # never an answer of chance
            status, body = post(f"{server.url}/step", HTTP_STEP)
            assert status == 503
            assert "--workers 1" in str(body)


@pytest.mark.timeout(60)
def test_a_worker_that_is_full_speaks_for_itself(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    with served("echo.py", "--workers", "2", "--max-sessions", "1", cwd=tmp_path) as server:
        clients = [GenericEnvClient(server.url) for _ in range(3)]
        with pytest.raises(SessionCapacityError, match="1/1 sessions active of this worker"):
            for client in clients:
                client.reset()
        for client in clients:
            client.close()


@pytest.mark.timeout(60)
def test_a_worker_that_dies_is_started_again(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(
        ECHO.replace("message=action.message, ", "message=str(os.getpid()), ")
    )
    (tmp_path / "echo.py").write_text("import os\n" + (tmp_path / "echo.py").read_text())
    with served("echo.py", "--workers", "2", cwd=tmp_path) as server:
        with GenericEnvClient(server.url) as env:
            env.reset()
            first = int(env.step({"message": "hi"}).observation["message"])
        os.kill(first, signal.SIGKILL)
        for _ in range(6):
            with GenericEnvClient(server.url) as env:
                env.reset()
                assert int(env.step({"message": "hi"}).observation["message"]) != first


@pytest.mark.timeout(60)
def test_workers_that_cannot_start_end_the_server(tmp_path: Path) -> None:
    broken = ECHO + "\nimport multiprocessing\nassert multiprocessing.parent_process() is None\n"
    (tmp_path / "echo.py").write_text(broken)
    code, words = refused("echo.py", "--workers", "2", cwd=tmp_path)
    assert code == 1
    assert "AssertionError" in words
    assert "3 times" in words


@pytest.mark.timeout(60)
def test_workers_end_with_a_supervisor_that_was_killed(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    command = [*SERVE, "--port", "0", "echo.py", "--workers", "2"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        url = _announced(process.stderr)
        with GenericEnvClient(url) as env:
            env.reset()
        process.kill()
        process.stderr.read()  # its end comes when nobody holds it any more
    with pytest.raises(OSError):
        urllib.request.urlopen(f"{url}/health", timeout=5)


@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform != "linux", reason="what other processes have is read in /proc")
@pytest.mark.parametrize("several", [("--workers", "2"), ("--reload",)], ids=" ".join)
def test_what_stands_beside_the_servers_knows_no_credential(
    several: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session in a process has their user, and may read what does not hide itself."""
    monkeypatch.setenv("SOME_TOKEN", "secret")
    (tmp_path / "echo.py").write_text(ECHO)
    with served("echo.py", *several, cwd=tmp_path) as server:
        pid = server.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        trackers = [
            child
            for child in children
            if b"resource_tracker" in Path(f"/proc/{child}/cmdline").read_bytes()
        ]
        assert len(trackers) == 1
        assert b"SOME_TOKEN" not in Path(f"/proc/{trackers[0]}/environ").read_bytes()


@pytest.mark.timeout(60)
def test_reload_follows_the_file(tmp_path: Path) -> None:
    file = tmp_path / "echo.py"
    file.write_text(ECHO)
    with served("echo.py", "--reload", cwd=tmp_path) as server:
        with GenericEnvClient(server.url) as env:
            assert env.reset().observation["message"] == "ready"
        later = time.time() + 10  # whatever the resolution of the file system's times
        file.write_text(ECHO.replace('"ready"', '"again"'))
        os.utime(file, (later, later))
        eventually(lambda: _first_message(server.url) == "again", within_s=30)


@pytest.mark.timeout(120)
def test_reload_waits_for_a_broken_file_to_be_mended(tmp_path: Path) -> None:
    file = tmp_path / "echo.py"
    file.write_text(ECHO)
    with served("echo.py", "--reload", cwd=tmp_path) as server:
        for number, (text, holds) in enumerate(
            [
                ("def broken(:\n", lambda: post(f"{server.url}/reset", {})[0] == 503),
                (ECHO, lambda: _first_message(server.url) == "ready"),
            ]
        ):
            later = time.time() + 10 * (number + 1)
            file.write_text(text)
            os.utime(file, (later, later))
            eventually(holds, within_s=45)


def _first_message(url: str) -> str | None:
    try:
        with GenericEnvClient(url) as env:
            return str(env.reset().observation["message"])
    except OpenEnvError:
        return None


def test_reload_and_workers_exclude_each_other(tmp_path: Path) -> None:
    code, words = refused("echo.py", "--reload", "--workers", "2", cwd=tmp_path)
    assert code == 2
    assert "--workers" in words


@pytest.mark.parametrize(("settled", "option"), [("False", "--web"), ("True", "--no-web")])
def test_a_page_that_an_app_settles_itself_is_not_switched(
    echo: Path, settled: str, option: str
) -> None:
    (echo / "app.py").write_text(FULL.replace("(Echo)", f"(Echo, web={settled})"))
    code, words = refused("app.py:app", option, cwd=echo)
    assert code == 2
    assert "settles --web itself" in words


def test_a_page_is_served_and_announced(echo: Path) -> None:
    command = [*SERVE, "--port", "0", "--web", "echo.py"]
    with subprocess.Popen(command, cwd=echo, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r" with a page at (http://\S+/web/)$", said)
        try:
            assert found, said
            with urllib.request.urlopen(f"{found[1]}config.json", timeout=30) as answer:
                assert json.load(answer)["mode"] == "simulation"
        finally:
            process.send_signal(signal.SIGTERM)
