"""Serves a world whose steps wait for a file, and which leaves one when it is closed.

PATIENT_WORLD=DIRECTORY python patient_world.py HOST_KIND DRAIN_GRACE CLOSE_GRACE
"""

import os
import sys
import time
from pathlib import Path

from openenv import Action, Environment, Observation, serve
from openenv.runtime.limits import Limits

HERE = Path(os.environ["PATIENT_WORLD"])


class Patient(Environment[Action, Observation]):
    """Waits at each step until the file `go` is there."""

    def reset(self) -> Observation:
        return Observation()

    def step(self, action: Action) -> Observation:
        (HERE / "entered").touch()
        while not (HERE / "go").exists():
            time.sleep(0.005)
        return Observation(reward=5.0)

    def close(self) -> None:
        (HERE / "closed").touch()


if __name__ == "__main__":
    serve(
        Patient,
        port=0,
        host_kind=sys.argv[1],  # type: ignore[arg-type]
        limits=Limits(drain_grace=float(sys.argv[2]), close_grace=float(sys.argv[3])),
    )
