"""Footprint: what a process and all that it has started hold of the machine."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

PROC = Path("/proc")
CAN_MEASURE = sys.platform == "linux"
STILL_S = 0.2
"""For so long nothing changes in what is still."""


@dataclass(frozen=True)
class Footprint:
    """What a tree of processes holds.

    Attributes:
        processes: how many there are.
        threads: of all of them.
        files: open descriptors.
        memory_mb: resident memory; what processes share is counted in each.
    """

    processes: int
    threads: int
    files: int
    memory_mb: float

    def to_json(self) -> dict[str, float]:
        """The same, as JSON takes it."""
        return asdict(self)


def footprint(pid: int) -> Footprint:
    """The footprint of a process and its descendants; what ends meanwhile holds nothing."""
    looks = [_look(each) for each in tree(pid)]
    present = [look for look in looks if look is not None]
    return Footprint(
        len(present),
        sum(threads for threads, _, _ in present),
        sum(files for _, files, _ in present),
        round(sum(memory for _, _, memory in present) / 1024, 1),
    )


def still_footprint(pid: int, within_s: float = 5.0) -> Footprint:
    """The footprint once it stays as it is: a server may be getting ready for its next session.

    Args:
        pid: the process.
        within_s: seconds after which it is told in any case.
    """
    deadline = time.monotonic() + within_s
    seen = footprint(pid)
    while True:
        time.sleep(STILL_S)
        before, seen = seen, footprint(pid)
        is_still = replace(seen, memory_mb=before.memory_mb) == before
        if is_still or time.monotonic() > deadline:
            return seen


def tree(pid: int) -> list[int]:
    """A process and its descendants."""
    found, pending = [], [pid]
    while pending:
        found.append(each := pending.pop())
        with suppress(OSError):
            for task in (PROC / str(each) / "task").iterdir():
                with suppress(OSError):
                    pending += map(int, (task / "children").read_text().split())
    return found


def _look(pid: int) -> tuple[int, int, float] | None:
    """Threads, descriptors and kilobytes of one process."""
    try:
        status = (PROC / str(pid) / "status").read_text()
        files = len(list((PROC / str(pid) / "fd").iterdir()))
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    memory = fields.get("VmRSS", "0 kB").split()[0]  # a zombie has none
    return int(fields.get("Threads", "0")), files, float(memory)
