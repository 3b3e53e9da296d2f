"""Measure this package, the peer and the bare floor side by side.

Every round starts each server afresh; then they take turns, a second at a time, so that a machine
that slows down slows all of them. Written to `results.json` (every number) and `RESULTS.md`.

    python benchmarks/bench.py                        the whole run
    python benchmarks/bench.py --quick --out DIR      a smoke run, in seconds
    python benchmarks/bench.py --only inline peer     some contestants
"""

import argparse
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from contestants import CONTESTANTS, HERE, PACKAGES, PEER_PYTHON
from rounds import Plan, Values, package_round, server_round
from table import Rounds, goals, summarise, tables

ROUNDS = 5
QUICK_NAMES = ("inline", "thread", "websockets", "ours")
FULL = Plan(seconds=1.0, idle_share=1.0)
QUICK = Plan(seconds=0.1, idle_share=0.01)
LIBRARIES = ("websockets", "uvicorn", "fastapi", "pydantic", "uvloop")
METHOD = """\
Medians over {rounds} rounds, with the range in brackets. Every round starts fresh servers, which
then take turns, a second at a time: all wait, then all have one session, and so on. A ratio in the
goals is the median of the rounds' ratios; "at best" compares the best rounds of both, which a busy
machine disturbs least. The load comes from one generator (`loadgen.py`: a WebSocket
client of a few lines, no library, in a process of its own), the same for all, so that the client
costs each server's row the same; a package's own clients are measured with one session. Each
session sends its next step as soon as the last one is answered. CPU time is the kernel's CPU
clock of the server's processes, system time included. Nothing is pinned to a core. Each package
runs as pip installs it, which for the peer is without uvloop.
`websockets` (an echo) and `asgi` (uvicorn and a fixed answer) do no work: they are the floor.
"""


def installed(library: str) -> str:
    """A library's version here."""
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return f"no {library}"


def machine() -> str:
    """The machine and the versions, without anything that names it."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    ram_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    libraries = ", ".join(map(installed, LIBRARIES))
    return (
        f"{os.cpu_count()} × {model}, {ram_gb:.0f} GB RAM, {platform.system()}, "
        f"Python {platform.python_version()}, {libraries}"
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = list({one.name: None for one in (*CONTESTANTS, *PACKAGES)})
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


def play(only: Sequence[str], plan: Plan) -> dict[str, Values]:
    """One round of everybody."""
    values = server_round([one for one in CONTESTANTS if one.name in only], plan)
    for package in PACKAGES:
        if package.name in only:
            values.setdefault(package.name, {}).update(package_round(package))
    return values


def report(rounds: Rounds) -> str:
    """The whole of RESULTS.md."""
    summary = summarise(rounds)
    count = max(map(len, rounds.values()))
    about = "\n".join(f"- `{one.name}`: {one.about}" for one in CONTESTANTS if one.name in summary)
    parts = [
        "# Benchmark results",
        machine(),
        METHOD.format(rounds=count).rstrip(),
        about,
        f"## Goals\n\n{goals(rounds)}",
        *tables(summary),
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = parse(arguments)
    if "peer" in chosen.only and not Path(PEER_PYTHON).exists():
        sys.exit("the peer is not installed; run scripts/peer-venv, or choose with --only")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # a socket for each session
    began = time.perf_counter()
    rounds: dict[str, list[Values]] = {}
    for index in range(chosen.rounds):
        print(f"round {index + 1} of {chosen.rounds}", file=sys.stderr)
        for name, values in play(chosen.only, QUICK if chosen.quick else FULL).items():
            rounds.setdefault(name, []).append(values)
    chosen.out.mkdir(parents=True, exist_ok=True)
    document = {"machine": machine(), "summary": summarise(rounds), "rounds": rounds}
    (chosen.out / "results.json").write_text(json.dumps(document, indent=1) + "\n")
    (chosen.out / "RESULTS.md").write_text(report(rounds))
    print(f"{time.perf_counter() - began:.0f} s, written to {chosen.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
