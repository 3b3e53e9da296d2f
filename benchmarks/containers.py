"""How long a server of ours takes from nothing to its first healthy answer: a process, a container.

eval "$(scripts/docker up)"; python -m benchmarks.containers
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from openenv.providers import Launch, LocalDockerProvider, ProcessProvider, Provider, Running
from openenv.providers.engine import Engine
from tests.containers.images import ROOT, built, write_echo

ROUNDS = 10
IMAGE = "openenv-bench-echo:latest"
GOAL_S = 1.3


def timed(act: Callable[[], Running | None]) -> tuple[float, Running | None]:
    """Seconds, and what came of it."""
    started = time.perf_counter()
    result = act()
    return time.perf_counter() - started, result


def measure(name: str, provider: Provider, launch: Launch) -> float:
    """The median start; prints it, the slowest, and the median stop."""
    starts, stops = [], []
    for _ in range(ROUNDS):
        took, running = timed(lambda: provider.launch(launch))
        starts.append(took)
        if running is not None:
            stops.append(timed(running.stop)[0])
    p50 = statistics.median(starts)
    print(
        f"{name}: healthy after {p50:.2f} s (slowest of {ROUNDS}: {max(starts):.2f} s), "
        f"stopped in {statistics.median(stops):.2f} s"
    )
    return p50


def measure_ten(provider: Provider, launch: Launch) -> None:
    """Ten at once."""
    with ThreadPoolExecutor(10) as threads:
        started = time.perf_counter()
        running = list(threads.map(lambda _: provider.launch(launch), range(10)))
        took = time.perf_counter() - started
        list(threads.map(lambda one: one.stop(), running))
    print(f"ten containers at once: all healthy after {took:.2f} s")


def main() -> None:
    """Prints every figure, and whether the goal is met."""
    echo = ROOT / "envs" / "echo_env"
    measure("process", ProcessProvider(), Launch(project=echo))
    with tempfile.TemporaryDirectory() as directory:
        image = write_echo(Path(directory))
        with built(Engine("docker"), IMAGE, "openenv.bench=1", image):
            provider = LocalDockerProvider(engine="docker")
            p50 = measure("container", provider, Launch(image=IMAGE))
            measure_ten(provider, Launch(image=IMAGE))
    print(f"goal of a container: {GOAL_S} s; {'met' if p50 <= GOAL_S else 'missed'}")


if __name__ == "__main__":
    main()
