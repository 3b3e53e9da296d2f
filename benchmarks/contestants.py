"""Who takes part: how each is served, in which protocol it is spoken to, by which own clients."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEER_VENV = Path(os.environ.get("OPENENV_PEER_VENV", ROOT / ".peer-venv"))
PEER_PYTHON = str(PEER_VENV / "bin" / "python")

ECHO = "echo"
"""The dialect of a floor: any message is answered with as many bytes as the measured server's."""


@dataclass(frozen=True)
class Contestant:
    """A server under test.

    `kind` is what `serve_one.py` serves and `dialect` how it is spoken to; `clients` are the kinds
    of `own_client.py` that drive it, with `options`. It holds up to `idle_sessions` sessions while
    nothing happens, and up to `sessions` that are busy; `loads` names the families of loads that
    it is put under; `games` is the kind of `own_games.py` that plays many games at once on it.
    """

    name: str
    about: str
    kind: str
    dialect: str
    idle_sessions: int = 0
    sessions: int = 1024
    loads: frozenset[str] = frozenset({"sessions"})
    clients: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    games: str = ""

    @property
    def python(self) -> str:
        """The interpreter that has its package."""
        return PEER_PYTHON if self.kind == "peer" else sys.executable

    @property
    def floor(self) -> bool:
        """Whether it serves no environment."""
        return self.dialect == ECHO

    @property
    def batches(self) -> bool:
        """Whether its protocol takes many steps in one frame."""
        return self.dialect != "v1"

    def serve(self, env: str, sessions: int) -> list[str]:
        """The arguments that serve it, with PORT for the port."""
        return [str(HERE / "serve_one.py"), self.kind, env, "PORT", str(sessions)]


@dataclass(frozen=True)
class Package:
    """A package whose imports and command line are measured."""

    name: str
    python: str

    @property
    def command(self) -> str:
        """Its `openenv` command."""
        return str(Path(self.python).parent / "openenv")


def _loads(*families: str) -> frozenset[str]:
    return frozenset({"sessions", *families})


CLIENTS = ("sync", "async", "generic")
EVERYTHING = _loads("batch", "frame", "message", "half")
CONTESTANTS = (
    Contestant(
        "v2",
        "ours, on the event loop, wire v2 (MessagePack)",
        "inline",
        "v2+msgpack",
        1000,
        loads=EVERYTHING,
        clients=CLIENTS,
        games="pool",
    ),
    Contestant(
        "v2 json",
        "the same, wire v2 as JSON",
        "inline",
        "v2+json",
        sessions=64,
        loads=_loads("batch"),
    ),
    Contestant(
        "inline",
        "the same, wire v1",
        "inline",
        "v1",
        1000,
        loads=_loads("batch", "half"),
        clients=CLIENTS,
        options={"protocol": "v1"},
    ),
    Contestant(
        "thread",
        "ours, a thread for each session, wire v1",
        "thread",
        "v1",
        200,
        64,
        clients=CLIENTS,
        options={"protocol": "v1"},
    ),
    Contestant("process", "ours, a process for each session, wire v1", "process", "v1", 8, 64),
    Contestant(
        "peer",
        "openenv 0.10.0",
        "peer",
        "v1",
        200,
        loads=EVERYTHING,
        clients=CLIENTS,
        games="gather",
    ),
    Contestant(
        "tcp",
        "floor: sockets on uvloop, bytes counted",
        "tcp",
        ECHO,
        loads=_loads("batch", "frame", "message"),
    ),
    Contestant("picows", "floor: picows on uvloop", "picows", ECHO, 1000, loads=EVERYTHING),
    Contestant(
        "websockets",
        "floor: the websockets library",
        "websockets",
        ECHO,
        1000,
        clients=("bare-sync", "bare-async"),
    ),
    Contestant("asgi", "floor: uvicorn, fixed answer", "asgi", ECHO, 1000, 64),
)
IN_PROCESS = "in-process"
"""The row of what the steps cost with no server at all."""
HOSTS = {"thread host": "thread", "process host": "process", "sandbox host": "sandbox"}
"""The rows of what a session's host costs with no socket before it, and its kind."""
PACKAGES = (Package("ours", sys.executable), Package("peer", PEER_PYTHON))


def environment(python: str) -> dict[str, str]:
    """What a child gets: our own environment, but nothing may point the peer at this checkout."""
    if python != PEER_PYTHON:
        return dict(os.environ)
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return environ | {"PYTHONPATH": str(ROOT / "envs")}  # the BlackJack package
