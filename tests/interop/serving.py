"""Both packages as processes: their servers, and their clients' scripts."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

ROOT = Path(__file__).parents[2]
PEER_VENV = Path(os.environ.get("OPENENV_PEER_VENV", ROOT / ".peer-venv"))
PEER = str(PEER_VENV / "bin" / "python")
OURS = sys.executable
START_LIMIT_S = 60
STOP_LIMIT_S = 10


def environment(python: str, **variables: str) -> dict[str, str]:
    """What a process of `python` gets; nothing may lead the peer to our sources."""
    hidden = {"PYTHONPATH"} if python == PEER else set()
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return kept | variables


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def healthy(url: str) -> bool:
    """Whether the server answers."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def served(python: str, *arguments: str, **variables: str) -> Iterator[str]:
    """A server of `python`, on a free port that replaces PORT; its URL."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [python, *(argument.replace("PORT", str(port)) for argument in arguments)]
    with TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment(python, **variables), stdout=log, stderr=log
        )
        try:
            _await_health(process, url, log)
            yield url
        finally:
            _stop(process)


def _await_health(process: subprocess.Popen[bytes], url: str, log: Any) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while not healthy(url):
        if process.poll() is not None or time.monotonic() > deadline:
            log.seek(0)
            raise RuntimeError(f"{process.args!r} did not start:\n{log.read()}")
        time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def uvicorn(python: str, application: str) -> Sequence[str]:
    """The command that serves one of this directory's applications."""
    target = f"tests.interop.{application}:app"
    return (python, "-m", "uvicorn", target, "--port", "PORT", "--log-level", "warning")


def called_by_peer(url: str, *names: str) -> dict[str, Any]:
    """What the peer's clients got from a server: scenario → kind of client → outcomes."""
    return told_by_peer("tests.interop.calls", url, *names)


def told_by_peer(script: str, *arguments: str) -> dict[str, Any]:
    """What a script of ours printed last that the peer's Python ran."""
    command = [PEER, "-m", script, *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(PEER), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told
