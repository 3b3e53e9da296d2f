"""Trajectories as rows of data sets: what a row says, and who is in none."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from openenv.cli.__main__ import app
from openenv.project.errors import UsageProblem
from openenv.rollout import BrokenFile, Trajectory, TrajectoryWriter, Transition
from openenv.rollout.trajectories.export import (
    group_advantages,
    grpo_groups,
    messages,
    preference_rows,
    sft_rows,
    to_dataset,
)
from tests.evals.lottery import played

TALK = [
    {"role": "user", "content": "ticket 0"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"name": "act"}}]},
]


def scored(reward: float | None, seed: int | None = 0, **fields: Any) -> Trajectory:
    return played([reward], seed, **fields)


def test_an_episode_is_a_conversation() -> None:
    assert messages(played([0.0, 1.0], seed=3)) == [
        {"role": "user", "content": "ticket 3"},
        {"role": "assistant", "content": '{"ticket":"t1"}'},
        {"role": "user", "content": "seen 1"},
        {"role": "assistant", "content": '{"ticket":"t2"}'},
    ]


def test_an_action_is_said_as_the_caller_says() -> None:
    (row,) = sft_rows([scored(1.0)], action_text=lambda action: str(action["ticket"]))
    assert row["messages"][-1] == {"role": "assistant", "content": "t1"}


def test_an_observation_without_a_text_is_said_as_json() -> None:
    step = Transition(action={"a": 1}, observation={"board": [1, 2], "raw": b"x"}, reward=1.0)
    said = messages(played(steps=[step, step]))
    assert said[2]["content"] == '{"board":[1,2],"raw":"eA=="}'


def test_a_model_has_its_own_conversation() -> None:
    assert messages(played(messages=TALK)) == TALK


def test_rows_of_sft_are_episodes_that_have_a_reward() -> None:
    unjudged = Transition(action={}, observation={}, metadata={"reward_error": {"message": "x"}})
    episodes = [
        scored(1.0, 1),
        scored(0.2, 2),
        scored(None, 3),
        scored(1.0, 4, end="error", error={"type": "E", "code": None, "message": ""}),
        played(seed=5, steps=[unjudged]),
        played([], seed=6),
    ]
    assert [row["seed"] for row in sft_rows(episodes)] == [1, 2]
    assert [row["seed"] for row in sft_rows(episodes, min_reward=0.5)] == [1]
    (row,) = sft_rows(episodes[:1])
    assert (row["reward"], row["policy"], row["environment"]) == (1.0, "anyone", "lottery")
    assert (row["environment_version"], row["options"]) == ("1", "{}")


def test_a_pair_is_the_best_and_the_worst_of_a_seed() -> None:
    episodes = [scored(0.5), scored(1.0), scored(None), scored(0.0), scored(9.0, seed=1)]
    (row,) = preference_rows(episodes)
    assert row["prompt"] == [{"role": "user", "content": "ticket 0"}]
    assert row["chosen"] == [{"role": "assistant", "content": '{"ticket":"t1"}'}]
    assert (row["chosen_reward"], row["rejected_reward"]) == (1.0, 0.0)


def test_a_pair_differs_by_more_than_the_margin() -> None:
    episodes = [scored(0.0), scored(0.5)]
    assert len(list(preference_rows(episodes, margin=0.4))) == 1
    assert not list(preference_rows(episodes, margin=0.5))
    assert not list(preference_rows([scored(1.0), scored(1.0)]))


@pytest.mark.parametrize(
    "other",
    [
        {"environment": {"name": "lottery", "version": "2"}},
        {"options": {"chance": 1}},
        {"seed": None},
    ],
)
def test_episodes_that_began_otherwise_are_no_pair(other: dict[str, Any]) -> None:
    assert not list(preference_rows([scored(0.0), scored(1.0, **other)]))


def test_episodes_that_saw_something_else_first_are_no_pair() -> None:
    other = scored(1.0, messages=[{"role": "user", "content": "unlike"}, TALK[1]])
    assert not list(preference_rows([scored(0.0), other]))


def test_advantages_are_a_groups_own() -> None:
    assert group_advantages([1.0, 0.0, 1.0, 0.0]) == pytest.approx(
        [0.86588, -0.86588, 0.86588, -0.86588], abs=1e-4
    )
    assert group_advantages([2.0, 2.0]) == [0.0, 0.0]


def test_a_reward_that_failed_moves_no_mean_and_is_masked() -> None:
    with_failure = group_advantages([1.0, None, 0.0])
    assert with_failure[1] is None
    assert [each for each in with_failure if each is not None] == group_advantages([1.0, 0.0])
    assert group_advantages([1.0, None]) == [None, None]
    assert group_advantages([]) == []


def test_a_group_is_all_episodes_of_a_seed() -> None:
    never = scored(1.0, end="error", reset=None, steps=[])
    episodes = [scored(1.0), scored(5.0, seed=1), scored(None), never, scored(0.0)]
    first, second = grpo_groups(episodes)
    assert (first["seed"], first["rewards"], first["mask"]) == (
        0, [1.0, None, 0.0], [True, False, True],
    )  # fmt: skip
    assert first["advantages"][1] is None
    assert len(first["completions"]) == 3
    assert first["prompt"] == [{"role": "user", "content": "ticket 0"}]
    assert (second["mask"], second["advantages"]) == ([False], [None])


@pytest.mark.parametrize("rows", [sft_rows, preference_rows, grpo_groups])
def test_rows_are_a_data_set(rows: Any, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    episodes = [scored(0.0), scored(None), scored(1.0, messages=TALK)]
    made = list(rows(episodes))
    dataset = to_dataset(made)
    assert dataset.num_rows == len(made)
    dataset.to_parquet(tmp_path / "rows.parquet")
    again = datasets.Dataset.from_parquet(
        str(tmp_path / "rows.parquet"), cache_dir=str(tmp_path / "cache")
    )
    assert again[0]["seed"] == 0
    if rows is grpo_groups:
        assert again[0]["rewards"] == [0.0, None, 1.0]


def write(folder: Path, *trajectories: Trajectory) -> Path:
    with TrajectoryWriter(folder / "trajectories.jsonl") as writer:
        writer.write(*trajectories)
    return folder


def export(*arguments: object) -> Result:
    result = CliRunner().invoke(app, ["export", *map(str, arguments)])
    if result.exception is not None:
        raise result.exception
    return result


def test_the_command_writes_rows_of_several_files(tmp_path: Path) -> None:
    one = write(tmp_path / "one", scored(1.0))
    other = write(tmp_path / "other", scored(0.0), scored(None))
    out = tmp_path / "rows" / "pairs.jsonl"
    told = export(one, other / "trajectories.jsonl", "--to", "preference", "-o", out, "--json")
    assert json.loads(told.stdout) == {"rows": 1, "kind": "preference", "output": str(out)}
    assert json.loads(out.read_text())["chosen_reward"] == 1.0
    assert "1 rows" in export(one, "-o", out, "--min-reward", 1).stdout
    assert "without a reward" in export(one, "-o", out, "--min-reward", 2).stderr


def test_groups_of_one_are_told_of(tmp_path: Path) -> None:
    lonely = write(tmp_path / "lonely", scored(1.0), scored(0.0, seed=1))
    out = tmp_path / "groups.jsonl"
    assert "no group has two rewards" in export(lonely, "--to", "grpo", "-o", out).stderr
    pair = write(tmp_path / "pair", scored(1.0), scored(0.0))
    assert "no group" not in export(pair, "--to", "grpo", "-o", out).stderr


def test_the_command_does_not_overwrite_what_it_reads(tmp_path: Path) -> None:
    folder = write(tmp_path, scored(1.0))
    before = (folder / "trajectories.jsonl").read_bytes()
    with pytest.raises(UsageProblem, match="holds the trajectories"):
        export(folder, "-o", folder / "trajectories.jsonl")
    assert (folder / "trajectories.jsonl").read_bytes() == before


def test_rows_that_cannot_be_made_leave_the_older_ones(tmp_path: Path) -> None:
    folder = write(tmp_path / "runs", scored(1.0))
    with (folder / "trajectories.jsonl").open("a") as file:
        file.write("{}\n")
    out = tmp_path / "rows.jsonl"
    out.write_text("older\n")
    with pytest.raises(BrokenFile):
        export(folder, "-o", out)
    assert out.read_text() == "older\n"
    assert {path.name for path in tmp_path.iterdir()} == {"runs", "rows.jsonl"}


def test_rewards_that_add_up_to_no_number_are_no_reward() -> None:
    huge = played([1e308] * 3, 0)
    assert huge.total_reward is None
    assert not list(sft_rows([huge]))


def test_options_of_another_kind_of_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="--margin with --to preference"):
        export(tmp_path, "-o", tmp_path / "rows", "--margin", 1)
