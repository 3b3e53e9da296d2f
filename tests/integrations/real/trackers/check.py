"""Trackers and data sets with their own packages: W&B, tensorboardX without torch, datasets.

python tests/integrations/real/trackers/check.py, where these are installed and torch is not. A run
on a served BlackJack is tracked by both, and what they wrote is read again.
"""

from __future__ import annotations

import random
import sys
import tempfile
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from blackjack_env.server.app import app
from openenv.rollout import collect, load_trajectories
from openenv.rollout.collecting.tracking import TensorBoardTracker, WandbTracker
from openenv.rollout.trajectories.export import grpo_groups, preference_rows, sft_rows, to_dataset
from openenv.testing.loopback import serving

EPISODES = 12


def varied(seen: dict[str, Any]) -> dict[str, str]:
    """Plays a seed in different ways."""
    return {"move": random.choice(["hit", "stand"])}


def main() -> None:
    """Plays, tracks, and reads everything again."""
    random.seed(1)
    assert find_spec("torch") is None, "tensorboardX is to be tried without torch"
    folder = Path(tempfile.mkdtemp(prefix="trackers-"))
    trackers = [
        TensorBoardTracker(folder / "board"),
        WandbTracker("blackjack", mode="offline", dir=str(folder)),
    ]
    lines = folder / "trajectories.jsonl"
    with serving(app) as url:
        collect(url, varied, seeds=[0, 1, 2, 3] * 3, output=lines, trackers=trackers)
    rewards = sorted(float(each.total_reward or 0.0) for each in load_trajectories(lines))
    board = sorted(curve(folder / "board", "episode/reward"))
    assert board == rewards, (board, rewards)
    told("tensorboardX", f"{len(board)} rewards read back")
    (log,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    written = log.read_bytes()
    count = written.count(b"ended/without_reward")
    assert count >= EPISODES, count
    told("wandb", f"offline run of {len(written)} bytes for {EPISODES} episodes")
    data_sets(folder, lines)


def data_sets(folder: Path, lines: Path) -> None:
    """Each kind of row, as a data set that was on the disk."""
    datasets = import_module("datasets")
    datasets.disable_progress_bars()
    for kind in (sft_rows, preference_rows, grpo_groups):
        made = to_dataset(kind(load_trajectories(lines)))
        made.save_to_disk(str(folder / kind.__name__))
        again = datasets.load_from_disk(str(folder / kind.__name__))
        assert again.to_list() == made.to_list()
        told("datasets", f"{kind.__name__}: {again.num_rows} rows, {', '.join(again.column_names)}")


def curve(folder: Path, name: str) -> list[float]:
    """The values of a curve in TensorBoard's files."""
    reading = import_module("tensorboard.backend.event_processing.event_accumulator")
    events = reading.EventAccumulator(str(folder))
    events.Reload()
    return [event.value for event in events.Scalars(name)]


def told(package: str, text: str) -> None:
    """A line of figures."""
    sys.stdout.write(f"trackers {package} {version(package)}: {text}\n")


if __name__ == "__main__":
    main()
