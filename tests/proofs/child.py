"""A server of the counting environment, in a process of its own."""

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
GREETING = re.compile(r"openenv: serving \S+ on (http://\S+)\n")
PATIENCE_S = 20.0


@dataclass
class Child:
    """A running server.

    Attributes:
        url: its address.
        pid: its process.
        complaints: the lines that it wrote besides its greeting; a good server writes none.
    """

    url: str
    pid: int
    complaints: list[str] = field(default_factory=list)

    def health(self) -> dict[str, Any]:
        """What it says of itself."""
        with urllib.request.urlopen(f"{self.url}/health", timeout=PATIENCE_S) as answer:
            health: dict[str, Any] = json.load(answer)
            return health


@contextmanager
def serving_counts(host_kind: str = "thread", **limits: float) -> Iterator[Child]:
    """Serves `Counting` until the block ends.

    The limits are those of `openenv.Limits`.
    """
    command = [sys.executable, "-m", "tests.proofs.child", host_kind, json.dumps(limits)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            greeting = process.stderr.readline()
            found = GREETING.fullmatch(greeting)
            assert found is not None, greeting + process.stderr.read()
            child = Child(found[1], process.pid)
            reader = threading.Thread(target=lambda: child.complaints.extend(process.stderr or ()))
            reader.start()
            yield child
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
        reader.join(PATIENCE_S)
    assert process.returncode == 0, process.returncode


def main() -> None:
    """Serves, in the child."""
    from openenv import Limits, serve
    from openenv.testing import Counting

    parser = argparse.ArgumentParser()
    parser.add_argument("host_kind")
    parser.add_argument("limits", type=json.loads)
    chosen = parser.parse_args()
    serve(Counting, port=0, host_kind=chosen.host_kind, limits=Limits(**chosen.limits))


if __name__ == "__main__":
    main()
