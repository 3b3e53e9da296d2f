"""The figures of one environment, and the tables of all of them."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from json import loads
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import Server, family, running
from benchmarks.plays import Play, again, recorded
from openenv import EnvPool, GenericEnvClient
from tests.envs.case import Case

ROOT = Path(__file__).resolve().parents[1]
HELD = 16
"""Sessions that are open while a server's memory is looked at, and slots of a pool."""
SEEDS = ("1", "2", "3")
HASH_SEEDS = ("1", "2")

Figures = dict[str, float | str]
COLUMNS = {
    "in_process": "steps/s in process",
    "step_p50_us": "step p50 µs",
    "step_p95_us": "step p95 µs",
    "reset_p50_us": "reset p50 µs",
    "wire": "steps/s over the wire",
    "pool": f"steps/s of {HELD} sessions",
    "session_mb": "MB a session",
    "server_mb": "MB the server",
    "determinism": "same seed, same episode",
}
METHOD = f"""\
Each environment plays episodes that a random legal policy has played before, with the options that
its tests give it (`tests/envs/*/case.py`). *In process*: `reset` and `step` are called with nothing
around them. *Over the wire*: served by `openenv serve` on loopback, one session of a blocking
client without models, wire v2. *{HELD} sessions*: an `EnvPool`, all in the same episode. Memory is
proportional resident memory (PSS) of the server and all processes below it, so what is shared is
counted once; a session's is the growth with {HELD} of them open that have played. Steps per second
are those of the median step, which other work on the machine disturbs least; resets are left
out. *exact*: episodes of {len(SEEDS)} seeds were equal to the bit in four processes,
two of each of two hash seeds. Nothing is pinned to a core.
"""


def figures(case: Case, seconds: float) -> Figures:
    """Plays an environment in process and over the wire."""
    plays = recorded(case)
    alone = loads(run("-m", "benchmarks.plays", case.package, str(seconds)))
    steps, resets = sorted(alone["steps"]), alone["resets"]
    found: Figures = {
        "in_process": _rate(steps),
        "step_p50_us": median(steps) * 1e6,
        "step_p95_us": steps[int(len(steps) * 0.95)] * 1e6,
        "reset_p50_us": median(resets) * 1e6,
        "determinism": determinism(case),
    }
    serve = ["-m", "openenv", "serve", f"envs/{case.package}", "--port", "PORT"]
    environ = {**os.environ, "MAX_CONCURRENT_ENVS": str(4 * HELD)}
    with running(sys.executable, serve, environ) as server:
        url = f"http://127.0.0.1:{server.port}"
        found |= memory(case, url, server, plays[0])
        found["wire"] = over_the_wire(case, url, plays, seconds)
        found["pool"] = pooled(case, url, plays, seconds)
    return {name: _short(found[name]) for name in COLUMNS}


def _short(value: float | str) -> float | str:
    return value if isinstance(value, str) else float(f"{value:.3g}")


def run(*arguments: str, hash_seed: str = "0") -> str:
    """What a Python program of the checkout prints."""
    environ = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def determinism(case: Case) -> str:
    """Whether episodes are the same in every process."""
    program = ("-m", "tests.envs.playing", case.package, *SEEDS)
    said = {run(*program, hash_seed=seed) for seed in HASH_SEEDS for _ in range(2)}
    return "exact" if len(said) == 1 else "differs"


def over_the_wire(case: Case, url: str, plays: Sequence[Play], seconds: float) -> float:
    """Steps per second of one session."""
    with GenericEnvClient(base_url=url).sync() as client:

        def times() -> Iterator[float]:
            for play in again(plays, seconds):
                client.reset(seed=play.seed, **case.reset)
                for action in play.actions:
                    began = time.perf_counter()
                    client.step(action)
                    yield time.perf_counter() - began

        return _rate(list(times()))


def pooled(case: Case, url: str, plays: Sequence[Play], seconds: float) -> float:
    """Steps per second of sessions side by side."""
    with EnvPool(url, HELD, autoreset="disabled") as pool:

        def times() -> Iterator[float]:
            for play in again(plays, seconds):
                pool.reset([play.seed] * HELD, **case.reset)
                for action in play.actions:
                    began = time.perf_counter()
                    batch = pool.step([action] * HELD)
                    yield time.perf_counter() - began
                    if not batch.valid.all():
                        raise RuntimeError(f"{case.package}: a step failed: {batch.errors}")

        return HELD * _rate(list(times()))


def _rate(times: list[float]) -> float:
    """Calls per second at the median."""
    return 1 / median(times)


def memory(case: Case, url: str, server: Server, play: Play) -> Figures:
    """What a server needs, and what each session adds to it."""
    with ExitStack() as stack:

        def open_one() -> None:
            client = stack.enter_context(GenericEnvClient(base_url=url).sync())
            client.reset(seed=play.seed, **case.reset)
            for action in play.actions[:5]:
                client.step(action)

        open_one()  # what the first session alone brings into memory is the server's
        before = proportional_mb(server.pid)
        for _ in range(HELD):
            open_one()
        grown = proportional_mb(server.pid) - before
    return {"server_mb": before, "session_mb": max(grown / HELD, 0.0)}


def proportional_mb(pid: int) -> float:
    """Resident memory of a process and its descendants, in which what is shared counts once."""
    rollups = [Path(f"/proc/{member}/smaps_rollup").read_text() for member in family(pid)]
    lines = [line for rollup in rollups for line in rollup.splitlines() if line.startswith("Pss:")]
    return sum(int(line.split()[1]) for line in lines) / 1024


def report(results: Mapping[str, Any]) -> str:
    """The whole of ENVIRONMENTS.md."""
    parts = ["# Environments, measured", results["machine"], METHOD.rstrip()]
    rows = [
        [name.removesuffix("_env"), *(_shown(found[column]) for column in COLUMNS)]
        for name, found in results["environments"].items()
    ]
    parts.append(_table(["environment", *COLUMNS.values()], rows))
    if compared := results["beside the peer"]:
        parts += ["### Beside the peer", _table(list(BESIDE), [_beside(one) for one in compared])]
    return "\n\n".join(parts) + "\n"


BESIDE = ("the same work", "in", "ours", "openenv 0.10.0", "ratio", "goal")


def _beside(one: Mapping[str, Any]) -> list[str]:
    ratio = one["ours"] / one["theirs"]
    numbers = [_shown(one["ours"]), _shown(one["theirs"]), f"{ratio:.3g} ×"]
    return [one["title"], one["unit"], *numbers, f"≥ {one['goal']:g} ×"]


def _shown(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
