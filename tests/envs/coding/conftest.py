"""A session of the coding environment, in this process and over a socket."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from coding_env import CodeAction, CodeObservation, CodeState, CodingEnv
from coding_env.server import PythonCodeActEnv
from openenv import StepResult, SyncEnvClient, local
from tests.serving import Served
from tests.serving import serving as serving_here

Coding = SyncEnvClient[CodeAction, CodeObservation, CodeState]
Run = Callable[[str], StepResult[CodeObservation]]
Open = Callable[..., Coding]
SESSIONS = 16


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    """A server of the environment in this process."""
    with serving_here(
        PythonCodeActEnv,
        action_cls=CodeAction,
        observation_cls=CodeObservation,
        max_concurrent_envs=SESSIONS,
    ) as served:
        yield served


@pytest.fixture
def coding_url(server: Served) -> str:
    """Where it is."""
    return f"http://127.0.0.1:{server.port}"


@pytest.fixture
def connect(coding_url: str) -> Iterator[Open]:
    """Opens sessions on the server, which end with the test."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(CodingEnv(base_url=coding_url).sync())


@pytest.fixture
def coding() -> Iterator[Coding]:
    """A session in this process, before its first reset."""
    with local(PythonCodeActEnv).sync() as client:
        yield client


@pytest.fixture
def run(coding: Coding) -> Run:
    """Runs code in an episode of its own."""
    coding.reset(seed=1)
    return lambda code: coding.step(CodeAction(code=code))


@pytest.fixture
def played() -> Iterator[Callable[..., CodeObservation]]:
    """Runs one piece of code in an episode with the given options."""
    with ExitStack() as stack:

        def play(code: str, **options: Any) -> CodeObservation:
            client = stack.enter_context(local(PythonCodeActEnv).sync())
            client.reset(seed=1, **options)
            return client.step(CodeAction(code=code)).observation

        yield play
