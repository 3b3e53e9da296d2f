"""What the steps of a workload cost with no socket: ``inprocess.py WORKLOAD SECONDS``.

Prints a line of JSON, CPU microseconds per step: `direct_us` for the bare calls (validate the
action, step the environment, serialize what it gives), `session_us` for the same through the
runtime that a server puts around them.
"""

import asyncio
import itertools
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from serve_one import environment
from workloads import Workload, named

from openenv.env.models import pack
from openenv.env.spec import EnvSpec
from openenv.protocol.messages import Request
from openenv.runtime.host import InlineHost, session_factory

CHUNK = 32


def microseconds(calls: list[Callable[[], object]], seconds: float) -> float:
    """CPU time of each of these calls, taken in turn for so long."""
    bytearray(2**23)  # once freed, malloc no longer returns blocks of a picture's size
    cycle = calls * CHUNK
    for call in cycle:
        call()
    began, count = time.process_time(), 0
    while (spent := time.process_time() - began) < seconds:
        for call in cycle:
            call()
        count += len(cycle)
    return spent / count * 1e6


def direct(spec: EnvSpec, work: Workload, seconds: float) -> float:
    """The bare calls."""
    env = spec.make()
    parse = spec.parse_action

    def call(op: str, data: dict[str, Any]) -> Callable[[], object]:
        if op == "reset":
            return lambda: pack(env.reset(**data), True)
        return lambda: pack(env.step(parse(data)), True)

    call(*work.opening)()
    return microseconds(list(itertools.starmap(call, work.cycle)), seconds)


async def through_the_session(spec: EnvSpec, work: Workload, seconds: float) -> float:
    """The same as a server asks for it."""
    host = InlineHost(session_factory(spec, tracebacks=False))
    await host.start()

    def call(op: Any, data: dict[str, Any]) -> Callable[[], object]:
        return lambda: host.serve(Request(op, data, None, True))

    call(*work.opening)()
    measured = microseconds(list(itertools.starmap(call, work.cycle)), seconds)
    await host.close()
    return measured


def main(name: str, seconds: float) -> None:
    work = named(name)
    spec = EnvSpec.of(environment(work.env)[0])
    answer = {
        "direct_us": direct(spec, work, seconds),
        "session_us": asyncio.run(through_the_session(spec, work, seconds)),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
