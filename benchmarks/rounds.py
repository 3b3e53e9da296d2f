"""One round: every number of one contestant, with a fresh server."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

from contestants import HERE, Contestant, Package, environment
from measure import Server, command_cpu_s, cpu_seconds, memory_mb, running

MANY = 64
SPARE_SESSIONS = 8  # for the clients that come and go while others are still being closed
IMPORTS = {"openenv": "import openenv", "client": "from openenv.core import EnvClient"}
COUNT_MODULES = "import sys; before = len(sys.modules); {}; print(len(sys.modules) - before)"

Values = dict[str, float]


@dataclass(frozen=True)
class Plan:
    """How much a round does."""

    seconds: float
    idle_share: float


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
def generator(port: int) -> Iterator[Generator]:
    """A load generator for the server on `port`."""
    command = [sys.executable, str(HERE / "loadgen.py"), str(port)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Generator(process)


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of all values don't exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def speed(run: dict[str, Any]) -> Values:
    """What a run of steps says about speed."""
    steps = run["latencies"]
    return {
        "rate": len(steps) / run["wall_s"],
        "p50_us": percentile(steps, 0.5) * 1e6,
        "p99_us": percentile(steps, 0.99) * 1e6,
        "client_us": run["client_cpu_s"] / len(steps) * 1e6,
    }


def idle(server: Server, load: Generator, sessions: int) -> Values:
    """Open sessions one after another and look at what holding them costs."""
    empty = memory_mb(server.pid)
    opened = load.tell(f"open {sessions}")
    full = memory_mb(server.pid)
    return {
        "open_us": median(opened) * 1e6,
        "empty_mb": empty,
        "idle_mb": full - empty,
        "sessions": sessions,
        "kb_each": (full - empty) * 1024 / sessions,
    }


def loaded(server: Server, load: Generator, sessions: int, seconds: float) -> Values:
    """Keep `sessions` sessions busy."""
    load.tell(f"run {seconds / 4} {sessions}")
    before = cpu_seconds(server.pid)
    run = load.tell(f"run {seconds} {sessions}")
    spent = cpu_seconds(server.pid) - before
    return {**speed(run), "server_us": spent / len(run["latencies"]) * 1e6}


def driven(contestant: Contestant, server: Server, seconds: float) -> Values:
    """One session with each of the contestant's own clients."""
    command = [contestant.python, str(HERE / "own_client.py"), str(server.port), str(seconds)]
    environ = environment(contestant.python)
    _, printed = command_cpu_s([*command, *contestant.clients], environ)
    runs = json.loads(printed.splitlines()[-1])
    return {
        f"{kind}.{name}": value for kind, run in runs.items() for name, value in speed(run).items()
    }


def serve_round(contestant: Contestant, plan: Plan) -> Values:
    """Everything about one server, which is started for it and stopped after it."""
    held = max(1, int(contestant.idle_sessions * plan.idle_share))
    many = min(MANY, contestant.most_busy)
    arguments = contestant.serve(max(held, many) + SPARE_SESSIONS)
    values: Values = {}
    with running(contestant.python, arguments, environment(contestant.python)) as server:
        values |= {"start.cpu_s": server.start_cpu_s, "start.wall_s": server.start_wall_s}
        with generator(server.port) as load:
            values |= {f"idle.{key}": v for key, v in idle(server, load, held).items()}
            load.tell("close")
        with generator(server.port) as load:
            for label, count, missing in (("one", 1, 1), ("many", many, many - 1)):
                load.tell(f"open {missing}")
                numbers = loaded(server, load, count, plan.seconds)
                values |= {f"{label}.{key}": v for key, v in numbers.items()}
            load.tell("close")
        if contestant.clients:
            values |= driven(contestant, server, plan.seconds)
    return values


def package_round(package: Package) -> Values:
    """What importing a package and asking its command for help cost."""
    environ = environment(package.python)
    values: Values = {}
    for name, statement in IMPORTS.items():
        command = [package.python, "-c", COUNT_MODULES.format(statement)]
        cpu, printed = command_cpu_s(command, environ)
        values |= {f"import.{name}.cpu_s": cpu, f"import.{name}.modules": float(printed)}
    values["help.cpu_s"], _ = command_cpu_s([package.command, "--help"], environ)
    return values
