"""Trajectories on disk: they come back exactly, and files that broke are mended or named."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openenv.harness import FolderBusy
from openenv.rollout import (
    BrokenFile,
    NotATrajectory,
    Trajectory,
    TrajectoryWriter,
    Transition,
    load_trajectories,
)
from openenv.rollout.trajectories.differences import parting
from openenv.rollout.trajectories.plain import NotPlain, from_plain, to_plain
from tests.rollout.halls import recorded

ARRAYS = [
    np.zeros((210, 160, 3), "uint8"),
    np.arange(6, dtype=">f8").reshape(2, 3),
    np.array([math.nan, -0.0, math.inf], "float32"),
    np.array(True),
    np.zeros((0, 4), "int16"),
    np.arange(8, dtype="int64")[::2],
    np.array([1 + 2j], "complex64"),
]
SUFFIXES = [".jsonl", ".parquet"]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_arrays_come_back_exactly(array: Any) -> None:
    again = from_plain(json.loads(json.dumps(to_plain({"frame": array}))))["frame"]
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.tobytes() == array.tobytes()
    again[...] = 1  # it is its reader's own


def test_frames_that_are_mostly_even_are_small() -> None:
    frame = np.zeros((210, 160, 3), "uint8")
    frame[100:110, 50:60] = 200
    assert len(json.dumps(to_plain(frame))) < 2000 < frame.nbytes


@pytest.mark.parametrize(
    "value",
    [
        {"$bytes": "aGk="},
        {"$object": {"$float": 1}},
        {"$array": 1, "more": 2},
        b"\x00\xff",
        [1, 1.5, True, None, "ü\ud800"],
        2**70,
        {"": {}, "a": []},
    ],
    ids=repr,
)
def test_what_json_cannot_say_is_not_mixed_up_with_what_it_can(value: Any) -> None:
    again = from_plain(json.loads(json.dumps(to_plain(value))))
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks(number: float) -> None:
    text = json.dumps(to_plain([number]), allow_nan=False)
    assert parting(from_plain(json.loads(text)), [number]) is None


@pytest.mark.parametrize(
    "value",
    [object(), {1: 2}, {"a": {3}}, np.array([object()], dtype=object)],
    ids=["object", "number for a name", "set", "array of objects"],
)
def test_what_cannot_be_kept_is_refused(value: Any) -> None:
    with pytest.raises(NotPlain):
        to_plain(value)
    around: list[Any] = []
    around.append(around)
    with pytest.raises(NotPlain, match="contains itself"):
        to_plain(around)


@pytest.mark.parametrize(
    "said",
    [
        {"$array": {"dtype": "|O", "shape": [1], "zlib": ""}},
        {"$array": {"dtype": "|u1", "shape": [1 << 40], "zlib": ""}},
        {"$array": {"dtype": "|u1", "shape": [2], "zlib": to_plain(np.zeros(3, "u1"))}},
        {"$array": {"dtype": "|u1", "shape": [2], "zlib": "AAAA"}},
        {"$array": 3},
        {"$float": "1e9"},
        {"$bytes": "?"},
        {"$object": []},
    ],
    ids=str,
)
def test_what_nobody_wrote_is_refused(said: Any) -> None:
    with pytest.raises(NotPlain):
        from_plain(said)


def episodes() -> list[Trajectory]:
    """Episodes of environments that have nothing in common."""
    frame = Transition(
        action={"action_id": 3},
        observation={"frame": ARRAYS[0], "raw": b"\x01", "low": -math.inf},
        reward=math.nan,
        truncated=True,
        metadata={"reward_error": {"rubric": None, "error": "ValueError", "message": "NaN"}},
        latency_ms=1.25,
    )
    called = {"type": "call_tool", "tool_name": "buy", "arguments": {"item": "tea"}}
    tool = Transition(action=called, observation={"result": None, "$bytes": 1}, reward=0.1 + 0.2)
    why = {"type": "EnvironmentFailed", "code": "EXECUTION_ERROR", "message": "it fell"}
    return [
        recorded(0),
        recorded(1, steps=[frame], end="truncated", options={"size": [3, 4]}),
        recorded(2, steps=[tool], end="limit", messages=[{"role": "user", "content": "hi"}]),
        recorded(3, steps=[], reset=None, end="error", error=why),
    ]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_trajectories_come_back_exactly(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"new/folder/some{suffix}"
    with TrajectoryWriter(path) as writer:
        for episode in episodes()[:2]:
            writer.write(episode)
    with TrajectoryWriter(path) as writer:
        writer.write(*episodes()[2:])
    again = list(load_trajectories(path))
    for one, other in zip(episodes(), again, strict=True):
        assert parting(one.to_dict(), other.to_dict()) is None
    assert [each.total_reward for each in again] == [1.0, None, 0.1 + 0.2, None]
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]


def test_a_parquet_file_that_nobody_closed_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    with TrajectoryWriter(path) as writer:
        writer.write(recorded(0))
    left = TrajectoryWriter(path)
    left.write(recorded(1))
    left._file.close()  # as a kill does
    assert [each.seed for each in load_trajectories(path)] == [0, 1]
    with TrajectoryWriter(path) as writer:
        writer.write(recorded(2))
    assert [each.seed for each in load_trajectories(path)] == [0, 1, 2]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_seed_that_no_column_keeps_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    writer = TrajectoryWriter(path)
    writer.write(recorded(0, seed=2**63))
    with pytest.raises(NotPlain, match=r"keep it as \.jsonl"):
        writer.close()
    assert [each.seed for each in load_trajectories(path)] == [2**63]
    assert [each.name for each in tmp_path.iterdir()] == ["some.parquet.new.jsonl"]


def test_parquet_has_a_row_for_each_step(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "some.parquet"
    with TrajectoryWriter(path) as writer:
        writer.write(*episodes())
    table = pandas.read_parquet(path)
    assert table["step"].tolist() == [0, 1, 2, 0, 1, 0, 1, 0]
    assert table["reward"].sum() == 1.0 + 0.1 + 0.2
    assert json.loads(table["action"][1]) == {"word": "left"}


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_a_last_line_that_was_cut_off_is_taken_away(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "some.jsonl"
    with TrajectoryWriter(path) as writer:
        writer.write(recorded(0), recorded(1))
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[: first + cut])
    assert [each.seed for each in load_trajectories(path)] == [0]
    with TrajectoryWriter(path) as writer:
        writer.write(recorded(1))
    assert path.read_bytes() == whole


def test_a_last_line_without_its_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps(recorded(0).to_dict()))
    with TrajectoryWriter(path) as writer:
        writer.write(recorded(1))
    assert [each.seed for each in load_trajectories(path)] == [0, 1]


def lines(**changes: Any) -> list[str]:
    """Two trajectories, of which the second was changed."""
    second = {**recorded(1).to_dict(), **changes}
    return [json.dumps(recorded(0).to_dict()), json.dumps(second)]


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("my only copy", "is no JSON"),
        ("[1]", "a JSON object"),
        ("[" * 100_000, "is no JSON"),
        ('{"a": 1}', "its format is None, not 'openenv.trajectory/1'"),
        (lines(format="openenv.trajectory/9")[1], "'openenv.trajectory/9'"),
        (lines(end="won")[1], "whose end is none"),
        (lines(steps=3)[1], "a part that is none"),
        (lines(seed="many")[1], "whose seed is none"),
        (lines(steps=[{"step": 1}], length=1)[1], "whose steps.0.action is none"),
        (lines(steps=recorded().to_dict()["steps"][1:])[1], "step 1 is missing"),
        (lines(steps=recorded().to_dict()["steps"][:1])[1], "step 2 is missing"),
        (lines(reset={"observation": {"a": {"$bytes": "?"}}})[1], r"a \$bytes that is none"),
        (b"\xff\xfe\x00", "is no JSON"),
    ],
    ids=lambda value: str(value)[:40],
)
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_line_of_something_else_is_named_and_kept(
    tmp_path: Path, second: str | bytes, told: str, end: str
) -> None:
    path = tmp_path / "some.jsonl"
    line = second if isinstance(second, bytes) else second.encode()
    path.write_bytes(lines()[0].encode() + b"\n" + line + end.encode())
    reading = load_trajectories(path)
    assert next(reading).seed == 0
    with pytest.raises(BrokenFile, match=told) as caught:
        next(reading)
    assert f"{path}:2" in str(caught.value)


def test_a_line_without_an_end_is_not_read_into_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openenv.rollout.trajectories.json_lines.LONGEST_LINE", 1000)
    path = tmp_path / "some.jsonl"
    path.write_text("x" * 5000)
    with pytest.raises(BrokenFile, match="line 1 is longer than 1000 bytes"):
        list(load_trajectories(path))


@pytest.mark.parametrize("content", [b"my only copy", b'{"episode_id": 1}\n', b"\n\n[]"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_of_something_else_is_not_written_to(
    tmp_path: Path, content: bytes, suffix: str
) -> None:
    path = tmp_path / f"some{suffix}"
    path.write_bytes(content)
    with pytest.raises(BrokenFile, match=str(path)), TrajectoryWriter(path) as writer:
        writer.write(recorded())
    assert path.read_bytes() == content


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_second_writer_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"some{suffix}"
    with TrajectoryWriter(path) as writer:
        with pytest.raises(FolderBusy, match="another run writes"):
            TrajectoryWriter(path)
        TrajectoryWriter(path.with_name(f"other{suffix}")).close()
        writer.write(recorded())
    assert len(list(load_trajectories(path))) == 1


def test_an_empty_file_holds_none(tmp_path: Path) -> None:
    (tmp_path / "some.jsonl").write_text("\n")
    assert list(load_trajectories(tmp_path / "some.jsonl")) == []
    with pytest.raises(FileNotFoundError):
        list(load_trajectories(tmp_path))


def test_a_trajectory_is_a_part_of_no_mean_unless_it_has_a_reward() -> None:
    episode = recorded()
    assert episode.total_reward == 1.0
    assert replace(episode, end="error").total_reward is None
    assert replace(episode, steps=episode.steps[:1], end="limit").total_reward is None
    with pytest.raises(NotATrajectory, match="without 'reset'"):
        Trajectory.from_dict({"format": "openenv.trajectory/1"})
