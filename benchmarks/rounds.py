"""One round: every number of every contestant, with fresh servers."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
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


def prefixed(prefix: str, values: Values) -> Values:
    """Values under the names that the tables know."""
    return {f"{prefix}.{name}": value for name, value in values.items()}


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


def waiting(contestant: Contestant, server: Server, plan: Plan) -> Values:
    """Sessions that do nothing."""
    sessions = max(1, int(contestant.idle_sessions * plan.idle_share))
    with generator(server.port) as load:
        values = idle(server, load, sessions)
        load.tell("close")
    return prefixed("idle", values)


def one(contestant: Contestant, server: Server, plan: Plan) -> Values:
    """One busy session."""
    with generator(server.port) as load:
        load.tell("open 1")
        return prefixed("one", loaded(server, load, 1, plan.seconds))


def many(contestant: Contestant, server: Server, plan: Plan) -> Values:
    """Many busy sessions."""
    with generator(server.port) as load:
        load.tell(f"open {MANY}")
        return prefixed("many", loaded(server, load, MANY, plan.seconds))


def driven(contestant: Contestant, server: Server, plan: Plan) -> Values:
    """One session with each of the contestant's own clients."""
    if not contestant.clients:
        return {}
    command = [contestant.python, str(HERE / "own_client.py"), str(server.port), str(plan.seconds)]
    environ = environment(contestant.python)
    _, printed = command_cpu_s([*command, *contestant.clients], environ)
    runs = json.loads(printed.splitlines()[-1])
    return {
        f"{kind}.{name}": value for kind, run in runs.items() for name, value in speed(run).items()
    }


PHASES = (waiting, one, many, driven)


def server_round(contestants: Sequence[Contestant], plan: Plan) -> dict[str, Values]:
    """Start every server, then let them take turns in each phase."""
    values: dict[str, Values] = {}
    with ExitStack() as stack:
        servers = []
        for contestant in contestants:
            arguments = contestant.serve(max(contestant.idle_sessions, MANY) + SPARE_SESSIONS)
            environ = environment(contestant.python)
            server = stack.enter_context(running(contestant.python, arguments, environ))
            servers.append((contestant, server))
            values[contestant.name] = {
                "start.cpu_s": server.start_cpu_s,
                "start.wall_s": server.start_wall_s,
            }
        for phase in PHASES:
            for contestant, server in servers:
                values[contestant.name] |= phase(contestant, server, plan)
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
