"""A process that confines sessions, for the tests: each scene is played in one of its own."""

import importlib
import os
import select
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from openenv.runtime.confine import (
    Applied,
    Cell,
    Confinement,
    Features,
    Usage,
    prepare,
    reap,
)
from openenv.runtime.confine.privileges import become
from openenv.runtime.confine.survey import survey

SOMEBODY = 12345
PATIENCE_S = 30.0

"".encode("idna")  # which an address needs, and Python loads then
Play = Callable[[Applied], Any]


@dataclass(frozen=True)
class Ended:
    """A session that is over.

    Attributes:
        said: what its function returned, as text; the traceback if it raised.
        code: its exit code.
        usage: what it has used.
    """

    said: str
    code: int
    usage: Usage


class Voice:
    """What a session speaks through.

    Attributes:
        pipe: its end.
    """

    pipe = -1

    @classmethod
    def say(cls, text: str) -> None:
        """Says something before the end."""
        os.write(cls.pipe, text.encode())


class Running:
    """A session, and the pipe over which it speaks."""

    codes: ClassVar[dict[int, int]] = {}
    known: ClassVar[set[int]] = set()

    def __init__(self, cell: Cell, pipe: int) -> None:
        self.cell = cell
        self._pipe = pipe
        self.known.add(cell.pid)
        self._said = b""

    def hear(self) -> str:
        """The next thing that it says."""
        assert select.select([self._pipe], [], [], PATIENCE_S)[0], "the session says nothing"
        return os.read(self._pipe, 1 << 16).decode()

    def end(self) -> Ended:
        """Waits until it is over, and all that held its pipe."""
        deadline = time.monotonic() + PATIENCE_S
        said, code, is_open = b"", self.codes.get(self.cell.pid), True
        while code is None or is_open:
            assert time.monotonic() < deadline, f"it does not end; code {code}, pipe {is_open}"
            self.codes.update(reap(self.known))
            code = self.codes.get(self.cell.pid)
            if is_open and select.select([self._pipe], [], [], 0.005)[0]:
                read = os.read(self._pipe, 1 << 16)
                said, is_open = said + read, bool(read)
        self.close()
        self.known.remove(self.cell.pid)
        usage = self.cell.usage()
        self.cell.close()
        return Ended(said.decode(), code, usage)

    def close(self) -> None:
        """Hears no more of it."""
        os.close(self._pipe)


@dataclass(frozen=True)
class Stage:
    """Where sessions are started.

    Attributes:
        features: what they are confined by.
    """

    features: Features

    def start(self, play: Play, **confinement: Any) -> Running:
        """Starts a session that runs a function, and says what that returns."""
        read, write = os.pipe()
        cell = Cell.open(Confinement(**confinement), self.features)
        if cell.fork() == 0:
            Voice.pipe, code = write, 1
            try:
                said = play(cell.enter(keep=(write,)))
                code = 0
            except SystemExit as end:
                said, code = None, int(str(end.code))
            except BaseException:  # noqa: BLE001  # told to the test
                said = traceback.format_exc()
            Voice.say(str(said))
            os._exit(code)
        os.close(write)
        return Running(cell, read)

    def run(self, play: Play, **confinement: Any) -> Ended:
        """Runs a function in a session, to its end."""
        return self.start(play, **confinement).end()


def play_scene(scene: Callable[[Stage], None], who: str, *, without: str = "") -> None:
    """Plays a scene in a process of its own, which must not fail.

    Args:
        scene: a function of a module.
        who: "root" or "user" runs it.
        without: features that are switched off, separated by commas.
    """
    command = command_for(scene, who, without)
    played = subprocess.run(command, capture_output=True, timeout=90, check=False, text=True)
    assert played.returncode == 0, played.stdout + played.stderr


def expect(ended: Ended, said: str) -> None:
    """Nobody rewrites the asserts of a scene."""
    assert ended.said == said, ended


def say_hello(applied: Applied) -> str:
    return f"hello from {os.getcwd()}"


def command_for(scene: Callable[[Stage], None], who: str, without: str) -> list[str]:
    """What plays a scene."""
    start = f"from {__name__} import main; main()"
    place = f"{scene.__module__}:{scene.__name__}"
    return [sys.executable, "-c", start, place, who, without]


def main() -> None:
    """Plays the scene that is named, in this process."""

    place, who, without = sys.argv[1:]
    module, _, name = place.partition(":")
    scene = getattr(importlib.import_module(module), name)
    if who == "user" and os.getuid() == 0:
        become(SOMEBODY)
    features = survey().without(without.split(","))
    prepare(features)
    scene(Stage(features))
