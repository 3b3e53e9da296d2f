"""A broken verifier, as trainers see it: batches, Gymnasium, collected episodes."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openenv import EnvClient, EnvPool
from openenv.gym import GymEnv, VectorEnv
from openenv.harness.collecting.records import RolloutSerializer
from tests.rollout.players import collection
from tests.rubrics.worlds import Delayed, Peer, Tried, Try
from tests.serving import Served, serving


class TriedClient(EnvClient[Try, Tried]):
    """Typed."""


@pytest.fixture(scope="module")
def peer() -> Iterator[Served]:
    with serving(Peer) as server:
        yield server


def _url(server: Served) -> str:
    return f"http://127.0.0.1:{server.port}"


def test_a_batch(peer: Served) -> None:
    with EnvPool(_url(peer), 3, TriedClient) as pool:
        pool.reset()
        batch = pool.step([Try(), Try(way="raises"), Try(way="nan", end=True)])
        assert batch.rewards.tolist() == pytest.approx([0.5, math.nan, math.nan], nan_ok=True)
        assert float(np.nanmean(batch.rewards)) == 0.5
        assert [error and error["error"] for error in batch.reward_errors] == [
            None,
            "RuntimeError",
            "ValueError",
        ]
        assert batch.valid.all()
        assert (pool.metrics.unscored, pool.metrics.steps, pool.metrics.failures) == (2, 3, 0)


@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
def test_a_batch_of_episodes_that_end(peer: Served, autoreset: Any) -> None:
    with EnvPool(_url(peer), 2, TriedClient, autoreset=autoreset) as pool:
        pool.reset()
        batch = pool.step([Try(end=True), Try(way="text", end=True)])
        assert batch.rewards.tolist() == pytest.approx([0.5, math.nan], nan_ok=True)
        assert [error is None for error in batch.reward_errors] == [True, False]


def _mapped() -> dict[str, Any]:
    from gymnasium import spaces

    ways = ["fine", "raises"]
    return {
        "observation": (spaces.Discrete(1), lambda observation: 0),
        "action": (spaces.Discrete(2), lambda number: {"way": ways[int(number)]}),
    }


def test_a_gymnasium_environment(peer: Served) -> None:
    env = GymEnv(_url(peer), **_mapped())
    env.reset()
    assert env.step(0)[1] == 0.5
    _, reward, terminated, truncated, info = env.step(1)
    assert math.isnan(float(reward))
    assert (terminated, truncated) == (False, False)
    assert info["reward_error"]["error"] == "RuntimeError"
    assert env.step(0)[1] == 0.5
    env.close()


def test_a_vector_of_them(peer: Served) -> None:
    envs = VectorEnv(EnvPool(_url(peer), 2), **_mapped())
    envs.reset()
    _, rewards, _, _, infos = envs.step(np.array([0, 1]))
    assert rewards.tolist() == pytest.approx([0.5, math.nan], nan_ok=True)
    assert infos["reward_error"]["error"][1] == "RuntimeError"
    envs.close()


def _collected(server: Served, folder: Path, ways: dict[int, str]) -> tuple[Any, list[Any]]:
    """Plays three episodes of one step, in ways by their seeds."""
    played = collection(
        _url(server),
        lambda seed: lambda seen: {"way": ways.get(seed, "fine"), "end": True},
        num_episodes=3,
    )
    serializer = RolloutSerializer(folder)
    result = played.run(serializer)
    lines = serializer.results_path.read_text() if serializer.results_path.exists() else ""
    return result, [json.loads(line) for line in lines.splitlines()]


def test_collected_episodes(peer: Served, tmp_path: Path) -> None:
    result, records = _collected(peer, tmp_path, {2: "nan"})
    assert [record["reward"] for record in records if record["reward"] is not None] == [0.5, 0.5]
    assert (result.avg_reward, result.num_unscored) == (0.5, 1)
    [line] = (tmp_path / "failures.jsonl").read_text().splitlines()
    failed = json.loads(line)
    assert (failed["episode_id"], failed["reward"], failed["done"]) == ("ep-000002", None, True)
    [step] = failed["tool_trace"]
    assert step["result"]["reward"] is None
    assert step["result"]["reward_error"]["rubric"] == "rubric_0.ways.nan"
    again, records = _collected(peer, tmp_path, {})
    assert (again.num_skipped, again.num_collected, len(records)) == (2, 1, 3)


def test_collected_episodes_without_a_single_reward(peer: Served, tmp_path: Path) -> None:
    result, records = _collected(peer, tmp_path, dict.fromkeys(range(4), "hangs"))
    assert all(record["reward"] is None for record in records)
    assert result.num_unscored == 3
    assert result.to_dict()["avg_reward"] is None


def test_collected_episodes_have_the_credit_of_each_step(tmp_path: Path) -> None:
    with serving(Delayed) as server:
        played = collection(_url(server), lambda seed: _ends_after(4), num_episodes=2)
        serializer = RolloutSerializer(tmp_path)
        played.run(serializer)
    for line in serializer.results_path.read_text().splitlines():
        record = json.loads(line)
        assert record["reward"] == 1.0
        assert record["metrics"]["step_rewards"] == [0.125, 0.25, 0.5, 1.0]


def _ends_after(steps: int) -> Any:
    left = iter(range(steps - 1, -1, -1))
    return lambda seen: {"end": next(left) == 0}
