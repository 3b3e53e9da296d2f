"""Environments with agents in them, and what must be gone when they are closed."""

import os
import socket
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from openenv import Observation
from openenv.env.tools import tool
from openenv.harness.agents.config import HarnessConfig
from openenv.harness.agents.environment import HarnessEnvironment
from openenv.harness.agents.stdio import StdioHarnessAdapter
from tests.serving import Served, eventually, serving

AGENTS = Path(__file__).parent / "agent"
MARK = "HARNESS_TEST_MARK"
THREADS = ("openenv-bridge", "openenv-harness-tools")


class Shop(HarnessEnvironment):
    """A shop with an agent in it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bought: list[str] = []

    @tool
    def price(self, item: str) -> float:
        """What an item costs."""
        return {"tea": 3.5, "bread": 2.0}[item]

    @tool
    def buy(self, item: str) -> Observation:
        """Buys an item; the last one on the list ends the episode."""
        self.bought.append(item)
        return Observation(reward=1.0, done=item == "bread")


def config(agent: str, mark: str, *arguments: str, **options: Any) -> HarnessConfig:
    """How one of the programs beside this file is started."""
    usual: dict[str, Any] = {
        "command": [sys.executable, str(AGENTS / agent), *arguments],
        "startup_timeout_s": 20.0,
        "session_timeout_s": 30.0,
        "working_directory": None,
        "env_vars": {},
    }
    told = HarnessConfig(name="toy", **(usual | options))
    told.env_vars[MARK] = mark
    return told


def rogue(behaviour: str, mark: str = "", **options: Any) -> HarnessEnvironment:
    """A shop whose agent misbehaves, in the ways that are named with a + between them."""
    told = config("rogue.py", mark, behaviour, **options)
    return Shop(StdioHarnessAdapter(told, terminate_grace_s=0.3))


def marked(mark: str) -> list[int]:
    """The processes that carry a mark, among their variables or their arguments, and run."""
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _has(pid, mark)]


def _has(pid: int, mark: str) -> bool:
    try:
        said = [Path(f"/proc/{pid}/{what}").read_bytes() for what in ("environ", "cmdline")]
    except OSError:
        return False
    return f"{MARK}={mark}".encode() in said[0] or mark.encode() in said[1].split(b"\0")


def is_closed(port: int) -> bool:
    """Whether nobody listens on a port of this machine."""
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) != 0


@contextmanager
def served(behaviour: str, **options: Any) -> Iterator[Served]:
    """Serves a shop, and sees that nothing of it is left once its sessions are closed."""
    with watched(lambda mark: rogue(behaviour, mark, **options)) as server:
        yield server


@contextmanager
def watched(make: Callable[[str], HarnessEnvironment], **app: Any) -> Iterator[Served]:
    """Serves what is made with a mark, which nothing carries once all sessions are closed."""
    mark = uuid.uuid4().hex
    with serving(lambda: make(mark), **app) as server:
        yield server
        eventually(lambda: server.active() == 0)
        nothing_is_left(mark)


def nothing_is_left(mark: str) -> None:
    """No process and no thread of an agent's is there any more."""
    eventually(lambda: not marked(mark))
    eventually(lambda: not [t for t in threading.enumerate() if t.name in THREADS])


class Hosted(Shop):
    """A shop that another process can build: its agent and its mark are variables."""

    def __init__(self) -> None:
        told = config("rogue.py", os.environ[MARK], os.environ["HARNESS_TEST_BEHAVIOUR"])
        super().__init__(StdioHarnessAdapter(told, terminate_grace_s=0.3))
