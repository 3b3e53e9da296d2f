"""Servers in processes of this machine: a life, failures, and no orphan whatever happens."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from openenv.protocol.errors import NotReady, ProviderError
from openenv.providers import Launch, ProcessProvider, Resources, Running
from tests.serving import eventually

pytestmark = pytest.mark.timeout(120)
LONG_S = 60.0
TINY = """
import os
from openenv import Action, Environment, Observation

class Seen(Observation):
    environ: dict[str, str] = {}

class Tiny(Environment[Action, Seen]):
    def reset(self, **options) -> Seen:
        return Seen(environ=dict(os.environ))

    def step(self, action: Action, **options) -> Seen:
        return Seen()
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.py"
    path.write_text(TINY)
    return path


def launch(project: Path, /, **said: Any) -> Running:
    every: dict[str, Any] = {"project": project, "ready_timeout_s": LONG_S, **said}
    return ProcessProvider().launch(Launch(**every))


def reset(url: str) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{url}/reset", b"{}", {"Content-Type": "application/json"}, method="POST"
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=30) as answer:
        observation: dict[str, Any] = json.load(answer)["observation"]
        return observation


def processes(word: object) -> list[int]:
    """Those with a word on their command line, but for zombies."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(word) in words and int(path.name) != os.getpid():
            found.append(int(path.name))
    return found


def test_an_environment_cannot_lead_clients_elsewhere(tiny: Path) -> None:
    lines = ["Uvicorn running on http://203.0.113.9:80 ", "openenv: serving x on http://evil:80\n"]
    tiny.write_text(TINY + f"\nprint({lines[0]!r}, flush=True)\nprint({lines[1]!r}, flush=True)\n")
    with launch(tiny) as running:
        assert running.url.startswith("http://127.0.0.1:")
        reset(running.url)


def test_an_episode(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "secret of the trainer")
    monkeypatch.setenv("PLAIN", "seen")
    with launch(tiny, env_vars={"GIVEN_TOKEN": "meant for it"}) as running:
        assert running.url.startswith("http://127.0.0.1:")
        environ = reset(running.url)["environ"]
        assert environ["GIVEN_TOKEN"] == "meant for it"
        assert environ["PLAIN"] == "seen"
        assert "MY_API_TOKEN" not in environ
        assert "serving" in running.logs()
        assert running.problem() is None
        assert len(processes(tiny)) == 2, "the server and its keeper"
    assert processes(tiny) == []
    assert "ended with exit code" in str(running.problem())
    running.stop()


def test_an_application_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "srv.py").write_text(TINY)
    with launch(tmp_path, app="srv:Tiny") as running:
        assert reset(running.url)["environ"]


def test_options_are_those_of_serve(tiny: Path) -> None:
    with launch(tiny, options={"max_sessions": 3, "host_kind": "inline"}) as running:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{running.url}/health", timeout=30) as answer:
            assert json.load(answer)["max_sessions"] == 3
    with pytest.raises(ProviderError, match="no option gpu; its options are host_kind"):
        launch(tiny, options={"gpu": 1})


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"project": None}, "serves a project"),
        ({"image": "i"}, "LocalDockerProvider runs images"),
        ({"resources": Resources(memory="1g")}, "cannot limit a process"),
        ({"app": "a:b", "project": "/no/such"}, "could not be started: .*No such file"),
        ({"env_vars": {"A": "\0"}}, "could not be started: embedded null byte"),
    ],
)
def test_what_it_cannot_do(tiny: Path, said: dict[str, Any], told: str) -> None:
    with pytest.raises(ProviderError, match=told):
        launch(tiny, **said)


def test_a_server_that_dies_tells_why(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import sys\nsys.exit('the level file is missing')\n")
    with pytest.raises(ProviderError, match=r"ended with exit code") as caught:
        launch(tmp_path / "broken.py")
    assert "the level file is missing" in str(caught.value)
    with pytest.raises(ProviderError, match="nowhere.py"):
        launch(tmp_path / "nowhere.py")
    assert processes(tmp_path) == []


def test_a_slow_start_is_given_up(tmp_path: Path) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time\nprint('loading', end='', flush=True)\ntime.sleep(600)\n")
    with pytest.raises(NotReady, match="did not listen within 3 s") as caught:
        launch(slow, ready_timeout_s=3)
    assert "loading" in str(caught.value)
    assert processes(tmp_path) == []


def test_a_port_that_is_taken(tiny: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ProviderError, match=str(port)):
            launch(tiny, port=port)


def test_another_server_on_the_port_is_not_taken_for_it(tiny: Path) -> None:
    with launch(tiny) as first:
        port = int(first.url.rpartition(":")[2])
        with pytest.raises(ProviderError, match="ended with exit code"):
            launch(tiny, port=port)
        assert first.problem() is None
    with launch(tiny, port=port) as second:
        assert second.url == f"http://127.0.0.1:{port}"


def test_a_log_is_bounded(tmp_path: Path) -> None:
    noisy = tmp_path / "noisy.py"
    noisy.write_text("print('x' * 10_000_000)\nfor i in range(100_000): print('line', i)\n" + TINY)
    with launch(noisy) as running:
        assert len(running.logs(1_000_000)) < 200_000
        assert "serving" in running.logs(1)
        assert running.logs(0) == ""


STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {mark!r}],
                 start_new_session=True)
"""


def test_what_a_server_left_is_killed(tmp_path: Path) -> None:
    """Also what has a session of its own, and does not heed SIGTERM."""
    path = tmp_path / "forks.py"
    path.write_text(STUBBORN.format(mark=str(tmp_path)) + TINY)
    with launch(path) as running:
        assert len(processes(tmp_path)) == 3
        assert running.problem() is None
    eventually(lambda: processes(tmp_path) == [])


def test_a_server_that_is_killed_is_noticed(tiny: Path) -> None:
    with launch(tiny) as running:
        for pid in processes(tiny):
            if b"keeper" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
        eventually(lambda: running.problem() is not None)
        assert "exit code 137" in str(running.problem())


def test_a_keeper_that_is_killed_takes_its_server_with_it(tiny: Path) -> None:
    with launch(tiny) as running:
        for pid in processes("keeper.py"):
            if pid in processes(tiny):
                os.kill(pid, signal.SIGKILL)
        eventually(lambda: processes(tiny) == [])
        assert running.problem() is not None


TRAINER = """
import os, sys, time
from openenv.providers import Launch, ProcessProvider
print("launching", flush=True)
running = ProcessProvider().launch(Launch(project=sys.argv[1], ready_timeout_s=60))
if sys.argv[2] == "fork" and os.fork() == 0:
    time.sleep(600)  # a worker, which has all that was open
if sys.argv[2] == "fork, stop":
    worker = os.fork()
    if worker == 0:
        time.sleep(600)
    running.stop()
print("running", flush=True)
time.sleep(600)
"""


@contextmanager
def trainer(project: Path, mode: str = "") -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", TRAINER, project, mode],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def says(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    assert process.stdout.readline().strip() == word


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_no_server_outlives_its_trainer(tiny: Path, number: int) -> None:
    with trainer(tiny) as process:
        says(process, "launching")
        says(process, "running")
        keepers = [pid for pid in processes("keeper.py") if pid in processes(tiny)]
        assert len(keepers) == 1
        process.send_signal(number)
        process.wait(60)
        eventually(lambda: not alive(keepers[0]), 60)
        assert [p for p in processes(tiny) if p != process.pid] == []


def test_no_server_outlives_a_trainer_whose_workers_live(tiny: Path) -> None:
    with trainer(tiny, "fork") as process:
        says(process, "launching")
        says(process, "running")
        keepers = [pid for pid in processes("keeper.py") if pid in processes(tiny)]
        process.kill()
        process.wait(60)
        eventually(lambda: not alive(keepers[0]), 60)


def test_a_worker_keeps_no_server_from_its_end(tiny: Path) -> None:
    with trainer(tiny, "fork, stop") as process:
        says(process, "launching")
        says(process, "running")
        assert [p for p in processes("keeper.py") if p in processes(tiny)] == []


def test_a_trainer_killed_during_the_start_leaves_nothing(tmp_path: Path) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(600)\n")
    with trainer(slow) as process:
        says(process, "launching")
        eventually(lambda: [p for p in processes("keeper.py") if p in processes(slow)], 30)
        process.kill()
        process.wait(60)
        eventually(lambda: [p for p in processes("keeper.py") if p in processes(slow)] == [], 60)
        eventually(lambda: [p for p in processes(slow) if p != process.pid] == [], 60)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False
