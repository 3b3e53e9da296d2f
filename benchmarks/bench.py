"""Measure this package, the peer and the bare floors side by side.

Every round starts each server afresh; then they take turns, load by load, so that a machine that
slows down slows all of them. Written to `results.json` (every number), `RESULTS.md` and pictures.

    python benchmarks/bench.py                     the whole run
    python benchmarks/bench.py --quick --out DIR   a smoke run, in seconds
    python benchmarks/bench.py --only v2 peer      some contestants
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from contestants import CONTESTANTS, HERE, HOSTS, IN_PROCESS, PACKAGES, PEER_PYTHON
from goals import Results
from machine import machine
from rounds import (
    FULL,
    QUICK,
    Plan,
    Table,
    host_round,
    in_process_round,
    package_round,
    server_round,
)
from table import goals, tables

ROUNDS = 5
QUICK_NAMES = ("v2", "inline", "thread", "tcp", "picows", "websockets", "ours", *HOSTS, IN_PROCESS)
METHOD = """\
Medians over {rounds} rounds, with the range in brackets. Every round starts fresh servers, which
then take turns at each load. A ratio in the goals is the median of the rounds' ratios; "at best"
compares the best rounds of both, which a busy machine disturbs least. The load comes from one
generator (`loadgen.py`: a WebSocket client of a few lines that sends prepared frames, in a process
of its own), the same for all, so that the client costs each server's row the same; a package's own
clients are measured with one session. Each session sends its next step as soon as the last one is
answered, except at half load, where steps come at random times (Poisson) whether or not those
before them are answered, and a step's time counts from when it was due. CPU time is the kernel's
CPU clock of the server's processes, system time included. Nothing is pinned to a core. Each
package runs as pip installs it, which for the peer is without uvloop.

The floors run no environment. `tcp`, `picows` and `websockets` answer each message with as many
bytes as the first server in the table does, so the same bytes move both ways; `asgi` has one fixed
answer. K steps of BlackJack are one frame of wire v2; without batches they are K sessions, each
with its socket. A game is a reset, two hits and a stand, the same for everybody, and the reset
counts as a step. Steps/s per server core are steps per second of the server's CPU time. In
process, the bare calls are: validate the action, step the environment, serialize what it gives. A
picture is an `NDArray` for us and nested lists for the peer. A connection is cut by a proxy on
loopback as the step passes, half of them before it has reached the server, half after. A host is
asked by the runtime itself, with no socket before it; a session's private memory is what it shares
with no other process, so not what its zygote has loaded.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    known = dict.fromkeys(one.name for one in (*CONTESTANTS, *PACKAGES))
    names = [*known, *HOSTS, IN_PROCESS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one short round without the peer")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--rounds", type=int, help=f"how many rounds (default {ROUNDS}, quick 1)")
    parser.add_argument("--out", type=Path, default=HERE, help="where the results go")
    chosen = parser.parse_args(arguments)
    chosen.only = chosen.only or (QUICK_NAMES if chosen.quick else names)
    chosen.rounds = chosen.rounds or (1 if chosen.quick else ROUNDS)
    return chosen


def play(only: Sequence[str], plan: Plan) -> Table:
    """One round of everybody."""
    values = server_round(only, plan) | host_round(only, plan)
    if IN_PROCESS in only:
        values |= in_process_round(plan)
    for package in PACKAGES:
        if package.name in only:
            values.setdefault(package.name, {}).update(package_round(package))
    return values


def report(results: Results, rounds: int) -> str:
    """The whole of RESULTS.md."""
    about = "\n".join(f"- `{one.name}`: {one.about}" for one in CONTESTANTS if one.name in results)
    parts = [
        "# Benchmark results",
        machine(),
        METHOD.format(rounds=rounds).rstrip(),
        about,
        goals(results),
        "![Steps a second against sessions](throughput.png)",
        "![Server CPU time of a step against steps in a frame](cost.png)",
        *tables(results),
    ]
    return "\n\n".join(parts) + "\n"


def write(results: Results, rounds: int, out: Path) -> None:
    """The numbers, the tables and the pictures."""
    from plots import draw

    out.mkdir(parents=True, exist_ok=True)
    lines = (
        f' "{name}": {{\n'
        + ",\n".join(f'  "{metric}": {json.dumps(values)}' for metric, values in numbers.items())
        + "\n }"
        for name, numbers in results.items()
    )
    document = f'{{"machine": {json.dumps(machine())}, "results": {{\n{",".join(lines)}\n}}}}\n'
    (out / "results.json").write_text(document)
    (out / "RESULTS.md").write_text(report(results, rounds))
    draw(results, out)


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = parse(arguments)
    if "peer" in chosen.only and not Path(PEER_PYTHON).exists():
        sys.exit("the peer is not installed; run scripts/venv peer, or choose with --only")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # a socket for each session
    began = time.perf_counter()
    results: dict[str, dict[str, list[float]]] = {}
    for index in range(chosen.rounds):
        print(f"round {index + 1} of {chosen.rounds}", file=sys.stderr)
        for name, values in play(chosen.only, QUICK if chosen.quick else FULL).items():
            for metric, value in values.items():
                held = results.setdefault(name, {}).setdefault(metric, [])
                held.append(float(f"{value:.6g}"))
    write(results, chosen.rounds, chosen.out)
    print(f"{time.perf_counter() - began:.0f} s, written to {chosen.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
