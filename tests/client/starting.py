"""Servers that clients start for themselves: a world that does on request what one must survive."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openenv import EnvClient
from openenv.providers import ContainerProvider, Launch, ProcessProvider, Running
from openenv.testing import Add, Count, Tally
from tests.serving import eventually

START_S = 60.0
"""How long a start may take on a machine that is busy."""

WORLD = """
import os, time
from openenv.testing import Counting

print("the world begins", os.environ.get("GREETING"), flush=True)
if os.environ.get("BROKEN"):
    raise RuntimeError("the world has no floor")
time.sleep(float(os.environ.get("SLOW", "0")))

class World(Counting):
    def step(self, action):
        if action.amount == 666:
            print("the reactor melted", flush=True)
            os._exit(3)
        return super().step(action)
"""


class WorldClient(EnvClient[Add, Count, Tally]):
    """The world's client."""


class Place:
    """A directory that holds the world's file, which tells its servers from all others."""

    def __init__(self, directory: Path) -> None:
        self.file = directory / "world.py"
        self.file.write_text(WORLD)

    def starting(self, **options: Any) -> Any:
        """A client of a server that is not started yet."""
        options = {"ready_timeout_s": START_S} | options
        return WorldClient.from_project(self.file, **options)

    def servers(self) -> list[int]:
        """The processes that serve it, whoever started them."""
        return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and self._is(entry)]

    def await_none(self) -> None:
        eventually(lambda: not self.servers(), START_S)

    def provider(self) -> "Old":
        return Old(self.file)

    def _is(self, pid: str) -> bool:
        try:
            command = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended meanwhile
            return False
        return str(self.file).encode() in command


class Old(ContainerProvider):
    """A provider as they were written before there was `Provider`; its image is the world."""

    def __init__(self, file: Path) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.stops = 0
        self._file = file
        self._running: Running | None = None

    def start_container(
        self, image: str, port: int | None = None, env_vars: Any = None, **kwargs: Any
    ) -> str:
        self.asked.append((image, {"port": port, "env_vars": env_vars, **kwargs}))
        launch = Launch(project=self._file, env_vars=env_vars or {}, ready_timeout_s=START_S)
        self._running = ProcessProvider().launch(launch)
        return self._running.url

    def wait_for_ready(self, base_url: str, timeout_s: float = 30.0) -> None:
        assert self._running is not None and self._running.url == base_url

    def stop_container(self) -> None:
        self.stops += 1
        if self._running is not None:
            self._running.stop()


def gone(pid: int) -> Callable[[], bool]:
    """Whether a process has ended."""
    return lambda: not Path("/proc", str(pid)).exists()
