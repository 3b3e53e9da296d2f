"""Servers of the example environments, each a process of its own."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
URL = re.compile(r"http://127\.0\.0\.1:\d+")

Serving = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="session")
def serving() -> Serving:
    """Runs `python -m …` in a directory as long as its block; gives the address it serves on."""
    return _serving


@contextmanager
def _serving(*arguments: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> Iterator[str]:
    command = [sys.executable, "-m", *arguments]
    with subprocess.Popen(command, cwd=cwd, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield _url(process)
        finally:
            process.terminate()
            process.communicate(timeout=15)


def _url(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if found := URL.search(line):
            return found[0]
    raise AssertionError("the server did not start:\n" + "".join(lines))


@pytest.fixture(scope="session")
def echo_url(serving: Serving) -> Iterator[str]:
    """An echo server."""
    with serving("echo_env.server.app", "--host", "127.0.0.1", "--port", "0") as url:
        yield url


@pytest.fixture(scope="session")
def blackjack_url(serving: Serving) -> Iterator[str]:
    """A BlackJack server."""
    with serving("blackjack_env.server.app", "--host", "127.0.0.1", "--port", "0") as url:
        yield url
