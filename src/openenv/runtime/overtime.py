"""How much CPU time a process and all that it has started have used."""

from __future__ import annotations

import os
from pathlib import Path

from openenv.runtime.confine.keeper import children

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and its descendants, those included that it has collected.

    Args:
        pid: the process. A descendant that ends meanwhile may be left out.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    own = sum(map(int, fields[11:15])) / TICKS_PER_S
    return own + sum(map(cpu_seconds, children(pid)))
