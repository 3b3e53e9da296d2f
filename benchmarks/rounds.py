"""One round: every number of every contestant, with fresh servers."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median

from contestants import CONTESTANTS, HERE, HOSTS, IN_PROCESS, Contestant, Package, environment
from loads import Load, Sizes, Values, busy, generator, percentile, speed
from measure import Server, command_cpu_s, memory_mb, running

SPARE_SESSIONS = 8  # for the clients that come and go while others are still being closed
IMPORTS = {"openenv": "import openenv", "client": "from openenv.core import EnvClient"}
COUNT_MODULES = "import sys; before = len(sys.modules); {}; print(len(sys.modules) - before)"
UNKNOWN_SIZES = (48, 96)  # for the floors, where nobody takes part whose messages could be seen

Running = Sequence[tuple[Contestant, Server]]
Table = dict[str, Values]


@dataclass(frozen=True)
class Plan:
    """How much a round does."""

    seconds: float
    idle_share: float
    cuts: int
    games: int
    hosted: int
    sessions: tuple[int, ...]
    batches: tuple[int, ...]
    messages: tuple[int, ...]

    def loads(self, env: str) -> list[Load]:
        """The loads that a server of an environment is put under."""
        if env == "blackjack":
            return [Load(f"batch.{k}", "blackjack", batch=k) for k in self.batches]
        if env == "frame":
            return [Load("frame", "frame")]
        return [
            *(
                Load(f"sessions.{count}", "hello", count, half=count == max(self.sessions))
                for count in self.sessions
            ),
            *(Load(f"message.{size}", f"message.{size}") for size in self.messages),
        ]


FULL = Plan(
    seconds=0.4,
    idle_share=1.0,
    cuts=100,
    games=64,
    hosted=200,
    sessions=(1, 16, 64, 256, 1024),
    batches=(1, 8, 64, 256),
    messages=(1_000, 10_000, 100_000, 1_000_000, 10_000_000),
)
QUICK = Plan(
    seconds=0.05,
    idle_share=0.01,
    cuts=4,
    games=4,
    hosted=4,
    sessions=(1, 64),
    batches=(8,),
    messages=(100_000,),
)


def prefixed(prefix: str, values: Values) -> Values:
    """Values under the names that the tables know."""
    return {f"{prefix}.{name}": value for name, value in values.items()}


@contextmanager
def servers(contestants: Sequence[Contestant], env: str, plan: Plan) -> Iterator[Running]:
    """The contestants' servers of an environment, all at once."""
    with ExitStack() as stack:
        started = []
        for contestant in contestants:
            most = max(load.all_sessions for load in plan.loads(env))
            held = max(contestant.idle_sessions, most) + SPARE_SESSIONS
            environ = environment(contestant.python)
            server = running(contestant.python, contestant.serve(env, held), environ)
            started.append((contestant, stack.enter_context(server)))
        yield started


def everybody_in_turn(load: Load, present: Running, plan: Plan, values: Table) -> None:
    """Put each server under a load; the floors move the bytes that the first of the others does."""
    sizes: Sizes | None = None
    for contestant, server in present:
        if load.family in contestant.loads and load.sessions <= contestant.sessions:
            measured, seen = busy(load, contestant, server, sizes or UNKNOWN_SIZES, plan.seconds)
            sizes = sizes or seen
            measured |= {"bytes_in": seen[0], "bytes_out": seen[1]}
            values[contestant.name] |= prefixed(load.name, measured)


def idle(contestant: Contestant, server: Server, plan: Plan) -> Values:
    """Open sessions that do nothing, and look at what holding them costs."""
    count = max(1, int(contestant.idle_sessions * plan.idle_share))
    load = Load("idle", "hello", count)
    with generator(server.port, load.play(contestant, UNKNOWN_SIZES)) as clients:
        empty = memory_mb(server.pid)
        opened = clients.tell(f"open {count}")
        full = memory_mb(server.pid)
    return {
        "open_us": median(opened) * 1e6,
        "empty_mb": empty,
        "idle_mb": full - empty,
        "sessions": count,
        "kb_each": (full - empty) * 1024 / count,
    }


def driven(contestant: Contestant, server: Server, plan: Plan) -> Values:
    """One session with each of the contestant's own clients."""
    if not contestant.clients:
        return {}
    arguments = [str(server.port), str(plan.seconds), json.dumps(contestant.options)]
    command = [contestant.python, str(HERE / "own_client.py"), *arguments, *contestant.clients]
    _, printed = command_cpu_s(command, environment(contestant.python))
    runs = json.loads(printed.splitlines()[-1])
    return {
        f"{kind}.{name}": value for kind, run in runs.items() for name, value in speed(run).items()
    }


def games(contestant: Contestant, server: Server, plan: Plan) -> Values:
    """Many games at once with the contestant's own client."""
    if not contestant.games:
        return {}
    arguments = [str(server.port), contestant.games, str(plan.games), str(plan.seconds)]
    command = [contestant.python, str(HERE / "own_games.py"), *arguments]
    _, printed = command_cpu_s(command, environment(contestant.python))
    run = json.loads(printed.splitlines()[-1])
    return speed(run, plan.games)


def resumed(server: Server, plan: Plan) -> Values:
    """Steps of our client whose connection is cut."""
    command = [sys.executable, str(HERE / "resume.py"), str(server.port), str(plan.cuts)]
    _, printed = command_cpu_s(command, environment(sys.executable))
    seconds = json.loads(printed.splitlines()[-1])
    return {
        "p50_ms": percentile(seconds, 0.5) * 1e3,
        "p99_ms": percentile(seconds, 0.99) * 1e3,
        "max_ms": max(seconds) * 1e3,
    }


def hello_round(contestants: Sequence[Contestant], plan: Plan, values: Table) -> None:
    """Everything that is measured with the smallest environment."""
    with servers(contestants, "hello", plan) as present:
        for contestant, server in present:
            values[contestant.name] |= {
                "start.cpu_s": server.start_cpu_s,
                "start.wall_s": server.start_wall_s,
            }
        for contestant, server in present:
            if contestant.idle_sessions:
                values[contestant.name] |= prefixed("idle", idle(contestant, server, plan))
        for load in plan.loads("hello"):
            everybody_in_turn(load, present, plan, values)
        for contestant, server in present:
            values[contestant.name] |= driven(contestant, server, plan)
            if contestant.name == "v2":
                values[contestant.name] |= prefixed("resume", resumed(server, plan))


def server_round(only: Sequence[str], plan: Plan) -> Table:
    """Start every server, then let them take turns at each load, environment by environment."""
    chosen = [one for one in CONTESTANTS if one.name in only]
    values: Table = {one.name: {} for one in chosen}
    hello_round(chosen, plan, values)
    for env, family in (("blackjack", "batch"), ("frame", "frame")):
        with servers([one for one in chosen if family in one.loads], env, plan) as present:
            for load in plan.loads(env):
                everybody_in_turn(load, present, plan, values)
            if env == "blackjack":
                for contestant, server in present:
                    played = games(contestant, server, plan)
                    values[contestant.name] |= prefixed("games", played)
    return values


def in_process_round(plan: Plan) -> Table:
    """What the same steps cost with no server."""
    values: Values = {}
    for workload in ("hello", "blackjack", "frame"):
        command = [sys.executable, str(HERE / "inprocess.py"), workload, str(plan.seconds / 2)]
        _, printed = command_cpu_s(command, environment(sys.executable))
        values |= prefixed(workload, json.loads(printed.splitlines()[-1]))
    return {IN_PROCESS: values}


def host_round(only: Sequence[str], plan: Plan) -> Table:
    """What each kind of host costs with no socket before it."""
    values: Table = {}
    for name in [name for name in HOSTS if name in only]:
        arguments = [HOSTS[name], str(plan.hosted), str(plan.seconds)]
        command = [sys.executable, str(HERE / "hosts.py"), *arguments]
        _, printed = command_cpu_s(command, environment(sys.executable))
        values[name] = prefixed("host", json.loads(printed.splitlines()[-1]))
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
