"""Measure calls of one tool, by every road, beside the peer's.

    python benchmarks/tools.py             5 rounds
    python benchmarks/tools.py --quick     one short round

Every round starts fresh servers, which take turns. Prints Markdown.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from contestants import HERE, PEER_PYTHON, environment
from goals import Results
from loads import Values, speed
from machine import machine
from measure import Server, command_cpu_s, running
from table import cell, grid

SESSIONS = (1, 16)
ROUNDS, SECONDS = 5, 1.0
SPARE_SESSIONS = 8
COLUMNS = {
    "rate": "calls/s",
    "p50_us": "p50 µs",
    "p99_us": "p99 µs",
    "server_us": "server CPU µs/call",
    "client_us": "client CPU µs/call",
}
ABOUT = """\
One tool that adds two numbers, called as fast as it is answered, in 1 session and in 16 at once
(one process of clients, one of the server). `@tool` is a method of ours on the event loop;
`FastMCP` is the same environment over a FastMCP server in both packages. A package's own client is
its `MCPToolClient`: ours speaks over one WebSocket, the peer's over HTTP; as a trainer ours takes
steps of wire v2. `HTTP` is `POST /mcp` in a session, with one and the same plain client for all.
Medians over {rounds} rounds, the range in brackets."""


@dataclass(frozen=True)
class Road:
    """One row: a server, and how it is called.

    Attributes:
        name: of the row.
        served: what `bench_tools.py` serves.
        kind: of the clients of `tool_loads.py`.
        of_peer: whether both are the peer's.
    """

    name: str
    served: str
    kind: str
    of_peer: bool = False

    @property
    def python(self) -> str:
        """The interpreter that has its package."""
        return PEER_PYTHON if self.of_peer else sys.executable


ROADS = (
    Road("ours, @tool, own client", "decorated", "client"),
    Road("ours, @tool, own client as a trainer", "decorated", "trainer"),
    Road("ours, @tool, HTTP", "decorated", "http"),
    Road("ours, FastMCP, own client", "fastmcp", "client"),
    Road("ours, FastMCP, own client as a trainer", "fastmcp", "trainer"),
    Road("ours, FastMCP, HTTP", "fastmcp", "http"),
    Road("peer, FastMCP, own client", "fastmcp", "client", of_peer=True),
    Road("peer, FastMCP, HTTP", "fastmcp", "http", of_peer=True),
)


def measured(road: Road, server: Server, sessions: int, seconds: float) -> Values:
    """What one run says."""
    numbers = [str(number) for number in (server.port, server.pid, sessions, seconds)]
    command = [road.python, str(HERE / "tool_loads.py"), road.kind, *numbers]
    _, printed = command_cpu_s(command, environment(road.python))
    run = json.loads(printed.splitlines()[-1])
    calls = len(run["latencies"])
    return {**speed(run), "server_us": run["server_cpu_s"] / calls * 1e6}


def tool_round(roads: Sequence[Road], seconds: float) -> dict[str, Values]:
    """Starts every server, then lets the roads take turns at each number of sessions."""
    values: dict[str, Values] = {road.name: {} for road in roads}
    with ExitStack() as stack:
        servers: dict[tuple[str, str], Server] = {}
        for road in roads:
            key = road.python, road.served
            if key not in servers:
                held = str(max(SESSIONS) + SPARE_SESSIONS)
                arguments = [str(HERE / "bench_tools.py"), road.served, "PORT", held]
                serving = running(road.python, arguments, environment(road.python))
                servers[key] = stack.enter_context(serving)
        for sessions in SESSIONS:
            for road in roads:
                seen = measured(road, servers[road.python, road.served], sessions, seconds)
                values[road.name] |= {f"tools.{sessions}.{name}": n for name, n in seen.items()}
    return values


def tables(results: Results) -> str:
    """A table for each number of sessions."""
    parts = []
    for sessions in SESSIONS:
        lines = [
            [name, *(cell(values[f"tools.{sessions}.{key}"]) for key in COLUMNS)]
            for name, values in results.items()
        ]
        title = f"Tools, {sessions} session{'' if sessions == 1 else 's'}"
        parts.append(f"## {title}\n\n{grid(['', *COLUMNS.values()], lines)}")
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one short round without the peer")
    parser.add_argument("--rounds", type=int, help=f"how many rounds (default {ROUNDS}, quick 1)")
    chosen = parser.parse_args(arguments)
    rounds = chosen.rounds or (1 if chosen.quick else ROUNDS)
    roads = [road for road in ROADS if not (chosen.quick and road.of_peer)]
    results: dict[str, dict[str, list[float]]] = {}
    for index in range(rounds):
        print(f"round {index + 1} of {rounds}", file=sys.stderr)
        for name, values in tool_round(roads, SECONDS / 20 if chosen.quick else SECONDS).items():
            for metric, value in values.items():
                results.setdefault(name, {}).setdefault(metric, []).append(value)
    print(f"# Calls of tools\n\n{machine()}\n\n{ABOUT.format(rounds=rounds)}\n\n{tables(results)}")


if __name__ == "__main__":
    main()
