"""Servers of the example environments, each a process of its own, and the cases of all of them."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from openenv.env.spec import EnvSpec
from tests.envs.case import Case, playable
from tests.serving import Served
from tests.serving import serving as serving_here

ROOT = Path(__file__).parent.parent.parent
SESSIONS = 16
"""At once, of each environment."""
URL = re.compile(r"http://127\.0\.0\.1:\d+")

Serving = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="module", params=playable(), ids=lambda case: case.package)
def case(request: pytest.FixtureRequest) -> Case:
    """Each environment in turn."""
    case: Case = request.param
    assert case.missing() is None, case.missing()
    return case


@pytest.fixture(scope="module")
def served(case: Case) -> Iterator[Served]:
    """A server of the environment in this process."""
    spec = EnvSpec.of(case.environment_class)
    with serving_here(
        case.environment_class,
        action_cls=spec.action,
        observation_cls=spec.observation,
        max_concurrent_envs=SESSIONS,
    ) as server:
        yield server


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
