"""Curves of a run: what is read back from the files of TensorBoard's own format."""

import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from openenv.cli.__main__ import app
from openenv.protocol.extras import MissingPackage
from openenv.rollout import RandomPolicy, collect
from openenv.rollout.collecting.tracking import TensorBoardTracker, WandbTracker
from tests.evals.lottery import Lottery, played
from tests.serving import serving

reading: Any = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def curves(folder: Path) -> dict[str, list[tuple[int, float]]]:
    events = reading.EventAccumulator(str(folder))
    events.Reload()
    return {
        name: [(event.step, event.value) for event in events.Scalars(name)]
        for name in events.Tags()["scalars"]
    }


def test_episodes_are_points_of_curves(tmp_path: Path) -> None:
    tracker = TensorBoardTracker(tmp_path / "logs")
    tracker.episode(played([0.5, 0.25]))
    tracker.episode(played([None]))
    tracker.episode(played([2.0], end="limit"))
    tracker.close()
    tracker.close()
    assert curves(tmp_path / "logs") == {
        "episode/reward": [(1, 0.75), (3, 2.0)],
        "episode/steps": [(1, 2.0), (2, 1.0), (3, 1.0)],
        "episode/latency_ms": [(1, 500.0), (2, 500.0), (3, 500.0)],
        "ended/terminated": [(1, 1.0), (2, 2.0), (3, 2.0)],
        "ended/without_reward": [(1, 0.0), (2, 1.0), (3, 1.0)],
        "ended/limit": [(3, 1.0)],
    }


def test_a_run_is_tracked(tmp_path: Path) -> None:
    with serving(Lottery) as served:
        collect(
            f"http://127.0.0.1:{served.port}",
            RandomPolicy(),
            episodes=5,
            trackers=[TensorBoardTracker(tmp_path)],
        )
    assert len(curves(tmp_path)["episode/steps"]) == 5


def test_commands_draw_curves(tmp_path: Path) -> None:
    with serving(Lottery) as served:
        played_on = ["--base-url", f"http://127.0.0.1:{served.port}", "-n", "3", "--json"]
        for words in (["collect", "lottery", "-o", str(tmp_path / "episodes")], ["eval"]):
            drawn = ["--tensorboard", str(tmp_path / words[0])]
            run = CliRunner().invoke(app, [*words, *played_on, *drawn])
            assert run.exit_code == 0, (run.output, run.exception)
    for folder in (tmp_path / "collect", tmp_path / "eval/random"):
        assert len(curves(folder)["episode/steps"]) == 3


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("wandb", "tensorboardX", "torch.utils.tensorboard"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackage, match="pip install 'tensorboardX'"):
        TensorBoardTracker("logs")
    with pytest.raises(MissingPackage, match="pip install 'wandb'"):
        WandbTracker("project")
