"""Environments that look at the process they live in, and ways to find the processes of a test."""

import asyncio
import os
import random
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

from tests.runtime.worlds import World

IMPORTED_IN = os.getpid()
MARK = "OPENENV_TEST_FAMILY"


class Relative(World):
    """Knows where it comes from."""

    def imported_in(self, arg: None) -> int:
        return IMPORTED_IN

    def descriptors(self, arg: None) -> list[str]:
        """What each one is, but for that of the listing itself."""
        here = Path("/proc/self/fd")
        return [os.readlink(each) for each in here.iterdir() if each.exists()]

    def fork(self, arg: None) -> int:
        """What a forked child of its own exits with."""
        pid = os.fork()
        if pid == 0:
            os._exit(7)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def python(self, arg: str) -> str:
        """What another Python prints."""
        done = subprocess.run(
            [sys.executable, "-c", arg], capture_output=True, text=True, timeout=30, check=True
        )
        return done.stdout

    def think(self, arg: int) -> int:
        """On another thread."""
        results: list[int] = []
        thread = threading.Thread(target=lambda: results.append(arg + 1))
        thread.start()
        thread.join()
        return results[0]

    def awaited(self, arg: int) -> int:
        async def later() -> int:
            await asyncio.sleep(0)
            return arg + 1

        return asyncio.run(later())

    def chances(self, arg: None) -> list[float]:
        numpy = sys.modules["numpy.random"]
        return [random.random(), float(numpy.random())]

    def babble(self, arg: None) -> None:
        """Writes into its own line until that is full, from another thread, and goes on."""
        line = next(fd for fd in range(3, 50) if os.path.exists(f"/proc/self/fd/{fd}"))

        def write() -> None:
            while True:
                os.write(line, bytes(1 << 16))

        threading.Timer(0.05, write).start()

    def hang_up(self, arg: None) -> None:
        """Closes what it can, and lives on."""
        os.closerange(3, 1024)
        threading.Event().wait()

    def leak(self, arg: None) -> int:
        """Opens files until there are no more."""
        kept = []
        while True:
            kept.append(os.open("/dev/null", os.O_RDONLY))


def marked() -> tuple[str, dict[str, str]]:
    """A mark, and the variables of processes that bear it."""
    mark = uuid.uuid4().hex
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return mark, {"PATH": os.environ["PATH"], "PYTHONPATH": path, MARK: mark}


def bearers(mark: str) -> list[int]:
    """The living processes that bear a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            bears = f"{MARK}={mark}".encode() in (entry / "environ").read_bytes()
        except OSError:  # it has ended, or is none of ours
            continue
        if bears:  # a zombie has no environment
            found.append(int(entry.name))
    return found


def children_of(pid: int) -> list[int]:
    """The processes that a process has forked, and not collected yet."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended while we looked
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def first(answers: list[Any]) -> Any:
    """What all answers say, which must be the same."""
    assert len(set(map(repr, answers))) == 1, answers
    return answers[0]
