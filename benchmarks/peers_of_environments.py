"""Environments beside the peer's: ``peers_of_environments.py SECONDS``, in one run.

Prints a line of JSON: of each comparison its title, both numbers, their unit and the goal.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import median

from contestants import CONTESTANTS
from loads import Load, busy
from rounds import FULL, UNKNOWN_SIZES, servers

ROUNDS = 3
SESSIONS = 64


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


COMPARISONS: tuple[Callable[[float], Iterator[Comparison]], ...] = (in_batches,)


if __name__ == "__main__":
    found = [one for compare in COMPARISONS for one in compare(float(sys.argv[1]))]
    print(json.dumps([asdict(one) for one in found]))
