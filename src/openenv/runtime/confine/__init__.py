"""Confinement: locks a forked child into a sandbox of Linux, as far as this machine lets it.

Of a zygote, single-threaded:

    features = probe()                     # also what `openenv doctor` shows
    prepare(features)                      # first of all, before anything heavy is imported
    ...                                    # import the environment
    cell = Cell.open(confinement, features)
    if cell.fork() == 0:
        applied = cell.enter(keep=(socket.fileno(), 2))
        ...                                # the untrusted code runs here; then os._exit(code)
    cells[cell.pid] = cell

    for pid, code in reap(cells).items():  # upon SIGCHLD
        cells.pop(pid).close()

A child that must end before its time gets `cell.kill()`, and then turns up in `reap`.
"""

from openenv.runtime.confine.cell import Cell
from openenv.runtime.confine.cgroups import Usage
from openenv.runtime.confine.confinement import (
    Applied,
    ConfineError,
    Confinement,
    Isolation,
    may_show,
)
from openenv.runtime.confine.features import FEATURES, Features
from openenv.runtime.confine.keeper import prepare, reap
from openenv.runtime.confine.leftovers import sweep
from openenv.runtime.confine.privileges import shield
from openenv.runtime.confine.survey import probe

__all__ = [
    "FEATURES",
    "Applied",
    "Cell",
    "ConfineError",
    "Confinement",
    "Features",
    "Isolation",
    "Usage",
    "may_show",
    "prepare",
    "probe",
    "reap",
    "shield",
    "sweep",
]
