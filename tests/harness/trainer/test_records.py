"""The files of a collection: lines that are whole, and JSON that any reader takes."""

import errno
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from openenv.core.harness.collect import build_dataset_readme, push_to_hf_hub
from openenv.harness import (
    EpisodeRecord,
    HarnessRolloutResult,
    RewardError,
    RolloutSerializer,
    ToolResult,
    VerifyResult,
)
from openenv.harness.rollouts.results import ToolTraceEntry
from openenv.protocol.errors import ConfigurationError


def episode(name: str = "ep-000000", **fields: Any) -> EpisodeRecord:
    return EpisodeRecord(name, [], 1.0, True, [], {"turns": 1}, **fields)


def test_a_record_goes_there_and_back(tmp_path: Path) -> None:
    rollout = HarnessRolloutResult(
        messages=[{"role": "user", "content": "ü\ud800"}],
        tool_trace=[ToolTraceEntry("move", {"n": 1}, ToolResult({"a": 1}, True, {"reward": 0.5}))],
        metrics={"turns": 1},
    )
    verdict = VerifyResult(0.5, True, {"m": 2}, {"f": "x"})
    record = EpisodeRecord.from_rollout("one", rollout, verdict, "go", {"seed": 4})
    RolloutSerializer(tmp_path / "new").write_episode(record)
    [line] = (tmp_path / "new/results.jsonl").read_text().splitlines()
    result = {"data": {"a": 1}, "done": True, "metadata": {"reward": 0.5}, "error": None}
    assert json.loads(line) == {
        "episode_id": "one",
        "messages": [{"role": "user", "content": "ü\ud800"}],
        "reward": 0.5,
        "done": True,
        "tool_trace": [{"tool_name": "move", "arguments": {"n": 1}, "result": result}],
        "metrics": {"turns": 1},
        "verify_metrics": {"m": 2},
        "artifacts": {"f": "x"},
        "task": "go",
        "extra": {"seed": 4},
    }
    with pytest.raises(RewardError, match="must repeat"):
        EpisodeRecord.from_rollout("one", rollout, VerifyResult(0.6))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (float("nan"), "NaN"),
        (b"\x00\xff", "AP8="),
        ({1, 2}, [1, 2]),
        (object, "<class 'object'>"),
        ((1, None), [1, None]),
    ],
    ids=["nan", "bytes", "set", "class", "tuple"],
)
def test_what_is_no_json_is_written_so_that_json_takes_it(
    tmp_path: Path, value: Any, written: Any
) -> None:
    serializer = RolloutSerializer(tmp_path)
    serializer.write_episode(episode(extra={"value": value}))
    text = serializer.results_path.read_text()
    assert json.loads(text, parse_constant=pytest.fail)["extra"]["value"] == written


@pytest.mark.parametrize("end", ["", "{", '{"episode_id": "b', '{"episode_id": "b", "messages": ['])
def test_a_line_that_was_cut_off_is_taken_away_before_the_next(tmp_path: Path, end: str) -> None:
    serializer = RolloutSerializer(tmp_path)
    serializer.write_episode(episode("a"))
    with serializer.results_path.open("a") as results:
        results.write(end)
    RolloutSerializer(tmp_path).write_episode(episode("c"))
    assert RolloutSerializer(tmp_path).collected_episode_ids() == {"a", "c"}


def test_a_last_line_without_an_end_is_kept(tmp_path: Path) -> None:
    whole = json.dumps(episode("a").to_dict())
    (tmp_path / "results.jsonl").write_text(whole)
    RolloutSerializer(tmp_path).write_episode(episode("b"))
    assert RolloutSerializer(tmp_path).collected_episode_ids() == {"a", "b"}


def test_a_long_line_that_was_cut_off(tmp_path: Path) -> None:
    serializer = RolloutSerializer(tmp_path)
    serializer.write_episode(episode("a"))
    with serializer.results_path.open("a") as results:
        results.write('{"episode_id": "b", "messages": "' + "x" * 300_000)
    assert RolloutSerializer(tmp_path).collected_episode_ids() == {"a"}
    assert len(serializer.results_path.read_text()) < 1000


def test_a_line_that_is_no_record_in_the_middle_is_told(tmp_path: Path) -> None:
    serializer = RolloutSerializer(tmp_path)
    content = '{"episode_id": "a", "mess\n{"episode_id": "b"}\n'
    serializer.results_path.write_text(content)
    with pytest.raises(ConfigurationError, match="results.jsonl:1"):
        serializer.collected_episode_ids()
    assert serializer.results_path.read_text() == content


FULL = """
import resource, sys
from pathlib import Path
from tests.harness.trainer.test_records import RolloutSerializer, episode

serializer = RolloutSerializer(sys.argv[1])
serializer.write_episode(episode("a"))
size = serializer.results_path.stat().st_size
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, size + 100))
try:
    serializer.write_episode(episode("b", extra={"long": "x" * 5000}))
except OSError as error:
    print(error.errno)
"""


def test_a_disk_that_is_full_tears_no_line(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert int(run.stdout) in (errno.ENOSPC, errno.EFBIG)
    assert (tmp_path / "results.jsonl").read_text().count("\n") == 1
    assert RolloutSerializer(tmp_path).collected_episode_ids() == {"a"}


def test_the_card_of_a_collection(tmp_path: Path) -> None:
    RolloutSerializer(tmp_path).write_episode(episode())
    card = build_dataset_readme(tmp_path)
    assert "path: results.jsonl" in card
    assert "1 episodes" in card


def test_nothing_is_not_uploaded(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no episodes"):
        push_to_hf_hub(tmp_path, "someone/something")
