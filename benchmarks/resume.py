"""How long a step takes whose connection is cut under it: ``resume.py PORT CUTS``.

A proxy on loopback drops the connection when the step passes, before or after it has reached the
server; the client comes back and the session goes on. Prints the seconds of each such step.
"""

import json
import sys
import time
from itertools import cycle, islice

from bench_client import BenchClient
from bench_env import BenchAction

from openenv.testing import FaultProxy, FrameFault

CUTS: tuple[FrameFault, ...] = ("cut_before", "cut_after")


def main(port: int, cuts: int) -> None:
    action = BenchAction(message="hello")
    seconds = []
    with FaultProxy(f"http://127.0.0.1:{port}") as proxy, BenchClient(proxy.url).sync() as env:
        env.reset()
        for cut in islice(cycle(CUTS), cuts):
            env.step(action)
            proxy.disturb_next(cut, "to_server")
            began = time.perf_counter()
            env.step(action)
            seconds.append(time.perf_counter() - began)
        steps = env.state().step_count
    if steps != 2 * cuts:
        raise RuntimeError(f"{2 * cuts} steps were taken, the server counted {steps}")
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
