"""A server under a load: what it is asked, by how many sessions, and what that cost."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from contestants import HERE, Contestant
from measure import Server, cpu_seconds, threads

Values = dict[str, float]
Sizes = tuple[int, int]
"""Payload bytes of a request and of its reply."""


@dataclass(frozen=True)
class Load:
    """Sessions that do a workload as fast as they are answered.

    Who can sends `batch` sessions' steps in one frame, over one socket; for everybody else these
    are as many sessions. With `half`, half as many steps are asked for as well.
    """

    name: str
    workload: str
    sessions: int = 1
    batch: int = 1
    half: bool = False

    @property
    def family(self) -> str:
        """What it varies."""
        return self.name.partition(".")[0]

    @property
    def all_sessions(self) -> int:
        """Sessions that the server holds."""
        return self.sessions * self.batch

    def sockets(self, contestant: Contestant) -> int:
        """Sockets that it takes to a contestant."""
        return self.sessions if contestant.batches else self.all_sessions

    def steps_per_frame(self, contestant: Contestant) -> int:
        """Steps in each of its messages to a contestant."""
        return self.batch if contestant.batches else 1

    def play(self, contestant: Contestant, sizes: Sizes) -> dict[str, Any]:
        """What the generator sends to a contestant."""
        if contestant.floor:
            return {"bytes_in": sizes[0], "bytes_out": sizes[1]}
        batch = self.steps_per_frame(contestant)
        return {"dialect": contestant.dialect, "workload": self.workload, "batch": batch}


class Generator:
    """The load generator, in its own process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def tell(self, order: str) -> Any:
        """Give one order and wait for its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(order + "\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            raise RuntimeError(f"the load generator died of '{order}'")
        return json.loads(line)


@contextmanager
def generator(port: int, play: dict[str, Any]) -> Iterator[Generator]:
    """A load generator for the server on `port`, which says goodbye at the end."""
    command = [sys.executable, str(HERE / "loadgen.py"), str(port), json.dumps(play)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        load = Generator(process)
        yield load
        load.tell("close")


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of all values don't exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def speed(run: dict[str, Any], steps_per_frame: int = 1) -> Values:
    """What a run says about speed: steps, and the time from a message to its answer."""
    answers = run["latencies"]
    steps = len(answers) * steps_per_frame
    return {
        "rate": steps / run["wall_s"],
        "p50_us": percentile(answers, 0.5) * 1e6,
        "p99_us": percentile(answers, 0.99) * 1e6,
        "client_us": run["client_cpu_s"] / steps * 1e6,
    }


def busy(
    load: Load, contestant: Contestant, server: Server, sizes: Sizes, seconds: float
) -> tuple[Values, Sizes]:
    """Keep a load's sessions busy; also how large its messages were."""
    sockets, per_frame = load.sockets(contestant), load.steps_per_frame(contestant)
    with generator(server.port, load.play(contestant, sizes)) as clients:
        clients.tell(f"open {sockets}")
        seen = clients.tell("sizes")
        clients.tell(f"run {seconds / 4} {sockets}")
        before = cpu_seconds(server.pid)
        run = clients.tell(f"run {seconds} {sockets}")
        spent = cpu_seconds(server.pid) - before
        steps = len(run["latencies"]) * per_frame
        values = speed(run, per_frame) | {
            "server_us": spent / steps * 1e6,
            "per_core": steps / spent,
            "threads": threads(server.pid),
        }
        if load.half and "half" in contestant.loads:
            values |= at_half_load(clients, sockets, values["rate"], 2 * seconds)
    return values, (seen["bytes_in"], seen["bytes_out"])


def at_half_load(clients: Generator, sockets: int, full: float, seconds: float) -> Values:
    """Half as many steps as were possible, which come at their own times."""
    rate = full / 2
    clients.tell(f"pace {seconds / 4} {sockets} {rate}")
    measured = speed(clients.tell(f"pace {seconds} {sockets} {rate}"))
    return {"half_asked": rate, **{f"half_{name}": value for name, value in measured.items()}}
