"""Environments beside the peer's: ``peers_of_environments.py SECONDS``, in one run.

Prints a line of JSON: of each comparison its title, both numbers, their unit and the goal.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from contestants import CONTESTANTS, HERE, PEER_PYTHON, ROOT, environment
from loads import Load, busy
from measure import command_cpu_s, running
from rounds import FULL, UNKNOWN_SIZES, servers

from openenv import create_app
from openenv.testing import serving

ROUNDS = 3
SESSIONS = 64
OUR_ATARI = ["-m", "openenv", "serve", str(ROOT / "envs/atari_env"), "--port", "PORT"]
THEIR_ATARI = [str(HERE / "bench_atari.py"), "serve", "PORT"]
GAME = "breakout"
ENOUGH_PRINTS_PER_S = 1000 / 3
"""A print in 3 ms is fast enough, however fast the other is."""


@dataclass(frozen=True)
class Comparison:
    """The same work done by both packages.

    Attributes:
        title: what was done.
        unit: of both numbers, of which more is better.
        ours: what we reached.
        theirs: what the peer reached.
        goal: the least ratio that is wanted.
    """

    title: str
    unit: str
    ours: float
    theirs: float
    goal: float


def in_batches(seconds: float) -> Iterator[Comparison]:
    """Sessions of the same small environments: a frame of K steps, and K sockets of the peer's."""
    for title, env in (("Echo", "hello"), ("BlackJack", "blackjack")):
        load = Load(f"batch.{SESSIONS}", env, batch=SESSIONS)
        reached: dict[str, list[float]] = {"v2": [], "peer": []}
        chosen = [one for one in CONTESTANTS if one.name in reached]
        with servers(chosen, env, FULL) as present:
            for _ in range(ROUNDS):
                for contestant, server in present:
                    values, _ = busy(load, contestant, server, UNKNOWN_SIZES, seconds)
                    reached[contestant.name].append(values["per_core"])
        yield Comparison(
            f"{title}, {SESSIONS} sessions",
            "steps/s per server core",
            median(reached["v2"]),
            median(reached["peer"]),
            40,
        )


def blackjack_tables(seconds: float) -> Iterator[Comparison]:
    """BlackJack, ours in batches, and the peer's, which OpenSpiel deals, a socket per session."""
    if find_spec("open_spiel") is None:
        return
    known = {one.name: one for one in CONTESTANTS}
    ours, theirs = known["v2"], known["peer"]
    with lent("open_spiel", "open_spiel*", "pyspiel*", "absl*") as engine:
        reached: dict[str, list[float]] = {"blackjack": [], "openspiel": []}
        for _ in range(ROUNDS):
            for contestant, env in ((ours, "blackjack"), (theirs, "openspiel")):
                environ = environment(contestant.python) | {"PYTHONPATH": engine}
                serve = contestant.serve(env, SESSIONS + 1)
                load = Load(f"batch.{SESSIONS}", env, batch=SESSIONS)
                with running(contestant.python, serve, environ) as server:
                    values, _ = busy(load, contestant, server, UNKNOWN_SIZES, seconds)
                reached[env].append(values["per_core"])
    rates = (median(rates) for rates in reached.values())
    yield Comparison(
        f"BlackJack, {SESSIONS} sessions; theirs is OpenSpiel's",
        "steps/s per server core",
        *rates,
        goal=40,
    )


def running_code(seconds: float) -> Iterator[Comparison]:
    """coding_env's sandbox, and smolagents, which the peer's runs code with, in the same server."""
    if any(find_spec(name) is None for name in ("coding_env", "smolagents")):
        return
    reached: dict[str, list[float]] = {"sandbox": [], "smolagents": []}
    for _ in range(ROUNDS):
        for executor, rates in reached.items():
            rates.append(_prints_per_s(executor, seconds))
    ours, theirs = (median(rates) for rates in reached.values())
    goal = min(3.0, ENOUGH_PRINTS_PER_S / theirs)
    yield Comparison("Coding, a print; theirs is smolagents", "steps/s", ours, theirs, goal)


def _prints_per_s(executor: str, seconds: float) -> float:
    from coding_env import CodeAction, CodeObservation, CodingEnv
    from coding_env.server import PythonCodeActEnv

    server = partial(PythonCodeActEnv, executor=executor)
    action = CodeAction(code="print('Hello, World!')")
    app = create_app(server, CodeAction, CodeObservation)
    with serving(app) as url, CodingEnv(base_url=url).sync() as client:
        client.reset()
        steps, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            client.step(action)
            steps += 1
    return steps / seconds


@contextmanager
def lent(package: str, *parts: str) -> Iterator[str]:
    """A directory with an engine of ours, for the interpreter of the peer."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    with TemporaryDirectory() as directory:
        for pattern in parts:
            for part in Path(spec.origin).parent.parent.glob(pattern):
                (Path(directory) / part.name).symlink_to(part)
        yield directory


def atari_frames(seconds: float) -> Iterator[Comparison]:
    """A session of Breakout in colour, with each package's own client."""
    if any(find_spec(name) is None for name in ("atari_env", "ale_py")):
        return
    with lent("ale_py", "ale_py*") as engine:
        packages = {
            sys.executable: (OUR_ATARI, environment(sys.executable) | {"ATARI_GAME": GAME}),
            PEER_PYTHON: (THEIR_ATARI, environment(PEER_PYTHON) | {"PYTHONPATH": engine}),
        }
        reached: dict[str, list[float]] = {python: [] for python in packages}
        for _ in range(ROUNDS):
            for python, (served, environ) in packages.items():
                play = [python, str(HERE / "bench_atari.py"), "play"]
                with running(python, served, environ) as server:
                    _, steps = command_cpu_s([*play, str(server.port), str(seconds)], environ)
                reached[python].append(int(steps) / seconds)
        ours, theirs = (median(rates) for rates in reached.values())
        yield Comparison("Atari in colour", "steps/s", ours, theirs, 30)


COMPARISONS: tuple[Callable[[float], Iterator[Comparison]], ...] = (
    in_batches,
    blackjack_tables,
    running_code,
    atari_frames,
)


if __name__ == "__main__":
    found = [one for compare in COMPARISONS for one in compare(float(sys.argv[1]))]
    print(json.dumps([asdict(one) for one in found]))
