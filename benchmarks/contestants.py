"""Who takes part: how each is served, and by which of its own clients it is driven."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEER_VENV = Path(os.environ.get("OPENENV_PEER_VENV", ROOT / ".peer-venv"))
PEER_PYTHON = str(PEER_VENV / "bin" / "python")


@dataclass(frozen=True)
class Contestant:
    """A server under test.

    `clients` are the kinds of `own_client.py` that drive it, `idle_sessions` is how many sessions
    it has to hold while nothing happens.
    """

    name: str
    about: str
    python: str
    clients: tuple[str, ...]
    idle_sessions: int

    def serve(self, sessions: int) -> list[str]:
        """The arguments that serve it, with PORT for the port."""
        return [str(HERE / "serve_one.py"), self.name, "PORT", str(sessions)]


@dataclass(frozen=True)
class Package:
    """A package whose imports and command line are measured."""

    name: str
    python: str

    @property
    def command(self) -> str:
        """Its `openenv` command."""
        return str(Path(self.python).parent / "openenv")


CLIENTS = ("sync", "async", "generic")
CONTESTANTS = (
    Contestant("inline", "ours, on the event loop", sys.executable, CLIENTS, 1000),
    Contestant("thread", "ours, a thread for each session", sys.executable, CLIENTS, 200),
    Contestant("process", "ours, a process for each session", sys.executable, (), 8),
    Contestant("peer", "openenv 0.10.0", PEER_PYTHON, CLIENTS, 200),
    Contestant("websockets", "floor: bare echo", sys.executable, ("bare-sync", "bare-async"), 1000),
    Contestant("asgi", "floor: uvicorn, fixed answer", sys.executable, (), 1000),
)
PACKAGES = (Package("ours", sys.executable), Package("peer", PEER_PYTHON))


def environment(python: str) -> dict[str, str]:
    """What a child gets: our own environment, but nothing may point the peer at this checkout."""
    if python != PEER_PYTHON:
        return dict(os.environ)
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
