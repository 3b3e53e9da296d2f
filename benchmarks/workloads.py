"""What the sessions do: the calls of each load, the same for everybody who is measured."""

from dataclasses import dataclass
from typing import Any

Call = tuple[str, dict[str, Any]]
"""An operation and its data."""

BLACKJACK_SEED = 4
"""A game whose player may hit twice and is not bust, and whose dealer draws two cards."""


@dataclass(frozen=True)
class Workload:
    """A session's calls: the first one, then a cycle of others for ever.

    A reset in the cycle counts as a step: in a pool that resets by itself it takes one's place.
    """

    env: str
    opening: Call
    cycle: tuple[Call, ...]


def _step(**action: Any) -> Call:
    return "step", action


DEAL: Call = ("reset", {"seed": BLACKJACK_SEED})
WORKLOADS = {
    "hello": Workload("hello", ("reset", {}), (_step(message="hello", n=1),)),
    "blackjack": Workload(
        "blackjack", DEAL, (_step(move="hit"), _step(move="hit"), _step(move="stand"), DEAL)
    ),
    "openspiel": Workload(
        "openspiel",
        ("reset", {}),
        (_step(action_id=0), _step(action_id=0), _step(action_id=1), ("reset", {})),
    ),
    "frame": Workload("frame", ("reset", {}), (_step(n=1),)),
}


def named(name: str) -> Workload:
    """A workload by its name; `message.N` says hello with a text of N bytes."""
    kind, _, size = name.partition(".")
    if kind != "message":
        return WORKLOADS[name]
    return Workload("hello", ("reset", {}), (_step(message="x" * int(size), n=1),))
