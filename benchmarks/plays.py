"""An environment with no socket before it: ``python -m benchmarks.plays PACKAGE SECONDS``.

Prints a line of JSON: seconds of each reset and of each step of episodes that a policy has played
before, so that only the environment is measured.
"""

import itertools
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from openenv.env.spec import EnvSpec
from tests.envs.case import Case, case_of
from tests.envs.playing import player, turns

EPISODES = 12
STEPS = 200
RECORDING_S = 5.0
"""How long the recording goes on at most: one episode, if that takes longer."""


@dataclass(frozen=True)
class Play:
    """An episode that can be played again.

    Attributes:
        seed: of its reset.
        actions: the legal actions that were taken, at least one.
    """

    seed: int
    actions: Sequence[dict[str, Any]]


def recorded(case: Case) -> list[Play]:
    """Episodes of an environment, of a few hundred steps together."""
    plays: list[Play] = []
    deadline = time.monotonic() + RECORDING_S
    with player(case) as client:
        for seed in range(EPISODES):
            played = [action for action, _ in turns(client, case, seed, case.steps)]
            plays.append(Play(seed, played[1:]))
            if time.monotonic() > deadline or sum(len(p.actions) for p in plays) > STEPS:
                break
    return plays


def again(plays: Sequence[Play], seconds: float) -> Iterator[Play]:
    """The episodes over and over, for so long and once at least."""
    began = time.perf_counter()
    for index, play in enumerate(itertools.cycle(plays)):
        if index >= len(plays) and time.perf_counter() - began > seconds:
            return
        yield play


def measured(case: Case, seconds: float) -> dict[str, list[float]]:
    """The times of resets and steps, called as the runtime calls them."""
    plays = recorded(case)
    spec = EnvSpec.of(case.environment_class)
    parsed = {play.seed: [spec.parse_action(action) for action in play.actions] for play in plays}
    environment: Any = spec.make()
    resets, steps = [], []
    try:
        for play in again(plays, seconds):
            began = time.perf_counter()
            environment.reset(seed=play.seed, **case.reset)
            resets.append(time.perf_counter() - began)
            for action in parsed[play.seed]:
                began = time.perf_counter()
                environment.step(action)
                steps.append(time.perf_counter() - began)
    finally:
        environment.close()
    return {"resets": resets, "steps": steps}


def main(package: str, seconds: str) -> None:
    print(json.dumps(measured(case_of(package).to_measure(), float(seconds))))


if __name__ == "__main__":
    main(*sys.argv[1:])
