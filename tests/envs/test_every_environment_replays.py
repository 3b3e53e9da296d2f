"""Episodes of every environment are collected, kept as JSON, and come about again to the bit."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from openenv.rollout import Act, EnvironmentSpec, Policy, Trajectory, collect
from openenv.rollout.trajectories.replaying import replay_all
from tests.envs.case import Case
from tests.serving import Served, eventually

EPISODES = 4
STEPS = 12


class Player(Policy):
    """Plays as the tests of an environment do."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def episode(self, seed: int, spec: EnvironmentSpec) -> Act:
        chance = random.Random(seed)

        def act(result: Any) -> Any:
            beside = {"metadata": result.metadata or {}, "done": result.done}
            seen = {**result.observation, **beside, "reward": result.reward}
            return self._case.policy(seen, chance)

        return act


@pytest.mark.timeout(120)
def test_its_episodes_are_replayed_and_a_change_is_found(case: Case, served: Served) -> None:
    url = f"http://127.0.0.1:{served.port}"
    collected = collect(
        url, Player(case), episodes=EPISODES, sessions=2, max_steps=STEPS, options=case.reset
    )
    assert not collected.errors, [each.error for each in collected]
    lines = [json.dumps(each.to_dict(), allow_nan=False) for each in collected]
    again = [Trajectory.from_dict(json.loads(line)) for line in lines]
    assert [each.to_dict() for each in again] == [each.to_dict() for each in collected]
    assert [str(each) for _, each in replay_all(again, url, sessions=2)] == ["None"] * EPISODES
    longest = max(again, key=len)
    number = (len(longest) + 1) // 2
    steps = list(longest.steps)
    steps[number - 1] = replace(steps[number - 1], reward=1e6)
    [(_, difference)] = replay_all([replace(longest, steps=steps)], url)
    assert difference is not None
    assert (difference.step, difference.path, difference.is_random) == (number, "reward", False)
    eventually(lambda: served.openenv.active_sessions == 0)
