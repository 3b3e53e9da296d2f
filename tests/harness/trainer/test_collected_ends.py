"""Collected episodes: what each step gave, what each is worth, and what ended them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openenv import Action, Environment, Observation
from openenv.harness import (
    CollectResult,
    CollectRunner,
    HarnessRunLimits,
    MCPHarnessAdapter,
    RolloutSerializer,
    ServedSessions,
)
from openenv.rubrics import ExponentialDiscountingTrajectoryRubric, Rubric
from tests.harness.trainer.worlds import Script
from tests.rollout.players import collection
from tests.serving import Served, serving

LAST = 4
REWARDS = {1: 0.5, 3: 0.75, LAST: 0.25}
PLAYERS = ["scripted", "model"]


class Go(Action):
    fails: bool = False


class Walked(Observation):
    at: int = 0
    fails: bool = False


class Grading(Rubric):
    def forward(self, action: Any, observation: Walked) -> float:
        if observation.fails:
            raise RuntimeError("the grader is down")
        return REWARDS.get(observation.at, 1.0)


class Walk(Environment[Go, Walked]):
    """Ends with the fourth step."""

    def __init__(self) -> None:
        super().__init__(rubric=Grading())

    def reset(self, seed: int | None = None, **options: Any) -> Walked:
        self._at = 0
        return Walked()

    def step(self, action: Go) -> Walked:
        self._at += 1
        seen = Walked(at=self._at, fails=action.fails, done=self._at >= LAST)
        return self.rewarded(action, seen)


class Winning(ExponentialDiscountingTrajectoryRubric):
    def score_trajectory(self, trajectory: Any) -> float:
        return 1.0


class Credited(Walk):
    def __init__(self) -> None:
        super().__init__()
        self.rubric = Winning(gamma=0.5)


@pytest.fixture(scope="module")
def walk() -> Iterator[Served]:
    with serving(Walk) as served:
        yield served


def collected(
    server: Served, folder: Path, player: str, actions: list[dict[str, Any]], turns: int = 9
) -> tuple[CollectResult, dict[str, Any]]:
    """Plays one episode; its record."""
    serializer, url = RolloutSerializer(folder), f"http://127.0.0.1:{server.port}"
    if player == "scripted":
        left = iter(actions)
        played = collection(
            url, lambda seed: lambda seen: next(left), num_episodes=1, max_turns=turns
        )
        result = played.run(serializer)
    else:
        result = CollectRunner(
            session_factory=ServedSessions(url),
            harness_adapter=MCPHarnessAdapter(),
            serializer=serializer,
            limits=HarnessRunLimits(max_turns=turns),
        ).run(model_step=Script(*[[("act", each)] for each in actions]), num_episodes=1)
    [path] = (path for path in folder.glob("*.jsonl") if path.name != "trajectories.jsonl")
    [line] = path.read_text().splitlines()
    return result, json.loads(line)


def outcomes(record: dict[str, Any]) -> list[dict[str, Any]]:
    """What each step gave, wherever its player keeps it."""
    return [step["result"].get("metadata", step["result"]) for step in record["tool_trace"]]


@pytest.mark.parametrize("player", PLAYERS)
def test_a_verifier_that_failed_once_costs_no_other_step(
    walk: Served, tmp_path: Path, player: str
) -> None:
    result, record = collected(walk, tmp_path, player, [{}, {"fails": True}, {}, {}])
    assert (result.num_unscored, result.num_collected, record["reward"]) == (1, 0, None)
    assert [step["reward"] for step in outcomes(record)] == [0.5, None, 0.75, 0.25]
    errors = [step.get("reward_error") for step in outcomes(record)]
    assert errors == [
        None,
        {"rubric": "Grading", "error": "RuntimeError", "message": "the grader is down"},
        None,
        None,
    ]
    assert (record["done"], record["metrics"]["stopped_by"]) == (True, "environment")


@pytest.mark.parametrize("player", PLAYERS)
def test_a_reward_is_the_sum_of_the_steps(walk: Served, tmp_path: Path, player: str) -> None:
    result, record = collected(walk, tmp_path, player, [{}] * LAST)
    assert (record["reward"], result.avg_reward) == (2.5, 2.5)
    assert [step["reward"] for step in outcomes(record)] == [0.5, 1.0, 0.75, 0.25]


@pytest.mark.parametrize(
    ("player", "steps", "turns", "stopped_by"),
    [
        ("scripted", LAST, 9, "environment"),
        ("scripted", 2, 2, "limit"),
        ("model", LAST, 9, "environment"),
        ("model", LAST, LAST, "environment"),
        ("model", 2, 2, "limit"),
        ("model", 2, 9, "model"),
    ],
)
def test_done_is_that_the_environment_ended_it(
    walk: Served, tmp_path: Path, player: str, steps: int, turns: int, stopped_by: str
) -> None:
    _, record = collected(walk, tmp_path, player, [{}] * steps, turns)
    assert record["done"] is (stopped_by == "environment")
    assert record["metrics"]["stopped_by"] == stopped_by
    assert record["metrics"]["truncated"] is (stopped_by == "limit")


@pytest.mark.parametrize("player", PLAYERS)
def test_what_each_step_is_worth_is_in_the_metrics(tmp_path: Path, player: str) -> None:
    with serving(Credited) as server:
        _, record = collected(server, tmp_path, player, [{}] * LAST)
    assert record["metrics"]["step_rewards"] == [0.125, 0.25, 0.5, 1.0]
    assert record["verify_metrics"] == {}
