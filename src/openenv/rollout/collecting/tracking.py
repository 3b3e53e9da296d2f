"""Trackers: each episode of a run as a point of curves, in TensorBoard or Weights & Biases."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from openenv.protocol.extras import needs
from openenv.rollout.trajectories.trajectory import Trajectory


def figures(trajectory: Trajectory) -> dict[str, float]:
    """What is drawn of an episode, by name; a reward that failed is left out, for it is no 0."""
    latencies = [step.latency_ms for step in trajectory.steps]
    told: dict[str, float] = {"episode/steps": len(trajectory)}
    if latencies:
        told["episode/latency_ms"] = sum(latencies) / len(latencies)
    if trajectory.total_reward is not None:
        told["episode/reward"] = trajectory.total_reward
    return told


class _Curves:
    """What both trackers count: episodes, how they ended, and how many have no reward."""

    def __init__(self) -> None:
        self._episodes = 0
        self._counts: Counter[str] = Counter()

    def _points(self, trajectory: Trajectory) -> dict[str, float]:
        self._episodes += 1
        self._counts[f"ended/{trajectory.end}"] += 1
        self._counts["ended/without_reward"] += trajectory.total_reward is None
        return {**figures(trajectory), **self._counts}


class TensorBoardTracker(_Curves):
    """Writes event files for TensorBoard: an episode is a step of the curves.

    Needs `torch` and `tensorboard`, or `tensorboardX` alone.

    Args:
        log_dir: where they go; its folder is made.

    Raises:
        MissingPackage: a package is not installed.
    """

    def __init__(self, log_dir: str | Path) -> None:
        super().__init__()
        self._writer = _summary_writer(str(log_dir))

    def episode(self, trajectory: Trajectory) -> None:
        """Draws an episode."""
        for name, value in self._points(trajectory).items():
            self._writer.add_scalar(name, value, self._episodes)

    def close(self) -> None:
        """Writes what is left. Twice does no harm."""
        self._writer.close()


class WandbTracker(_Curves):
    """Logs to a run of Weights & Biases: an episode is a step of it.

    Needs `wandb`.

    Args:
        project: whose run it is.
        **settings: what `wandb.init` takes besides, for example `mode="offline"` or `config`.

    Raises:
        MissingPackage: it is not installed.
    """

    def __init__(self, project: str, **settings: Any) -> None:
        super().__init__()
        with needs("wandb"):
            wandb: Any = import_module("wandb")
        self._run = wandb.init(project=project, **settings)

    def episode(self, trajectory: Trajectory) -> None:
        """Logs an episode."""
        self._run.log(self._points(trajectory), step=self._episodes)

    def close(self) -> None:
        """Ends the run. Twice does no harm."""
        self._run.finish()


def _summary_writer(log_dir: str) -> Any:
    """Torch's writer, or the one for those who have no torch."""
    try:
        module = import_module("torch.utils.tensorboard")
    except ImportError:
        with needs("tensorboardX"):
            module = import_module("tensorboardX")
    return module.SummaryWriter(log_dir)
