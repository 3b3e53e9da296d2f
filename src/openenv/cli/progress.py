"""How far a run of episodes has come: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openenv.cli.output import say

if TYPE_CHECKING:
    from openenv.rollout.collecting.collected import Collected
    from openenv.rollout.collecting.run import Progress
    from openenv.rollout.trajectories.trajectory import Trajectory

TensorBoard = Annotated[
    Path | None,
    typer.Option(
        help="Draw each episode's reward, steps and end as curves for TensorBoard, in this folder."
    ),
]
EVERY_S = 5.0
"""Between two lines, where there is no terminal."""
_MINUTE, _HOUR = 60, 3600


def shown(title: str) -> Progress:
    """What shows a run's progress to people, on stderr.

    Args:
        title: what is played, in a few words.
    """
    return Bar(title) if sys.stderr.isatty() else Lines(title)


class Lines:
    """A line every few seconds, from a thread: also while no episode ends.

    Args:
        title: what is played.
        every_s: seconds between two lines.
    """

    def __init__(self, title: str, every_s: float = EVERY_S) -> None:
        self._title = title
        self._every_s = every_s
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, total: int, collected: Collected) -> None:
        """See `openenv.rollout.collecting.run.Progress`."""
        self._thread = threading.Thread(
            target=self._tell, args=(total, collected), name="openenv-progress", daemon=True
        )
        self._thread.start()

    def episode(self, trajectory: Trajectory) -> None:
        """Nothing: what is counted is looked at now and then."""

    def close(self) -> None:
        """Ends the lines."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _tell(self, total: int, collected: Collected) -> None:
        while not self._over.wait(self._every_s):
            done = collected.skipped + len(collected)
            say(f"  {self._title}: {done}/{total} episodes, {in_words(total, collected)}")


class Bar:
    """A bar with the time that is left.

    Args:
        title: what is played.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar: Any = None
        self._task: Any = None

    def begin(self, total: int, collected: Collected) -> None:
        """See `openenv.rollout.collecting.run.Progress`."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            ProgressColumn,
            TextColumn,
        )
        from rich.text import Text

        class Counts(ProgressColumn):
            max_refresh = 0.5

            def render(self, task: Any) -> Text:
                return Text(in_words(total, collected), no_wrap=True, overflow="ellipsis")

        title = TextColumn("{task.description}", markup=False)
        self._bar = Progress(
            title,
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            Counts(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._title, total=total, completed=collected.skipped)
        self._bar.start()

    def episode(self, trajectory: Trajectory) -> None:
        """Moves on."""
        self._bar.advance(self._task)

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.stop()


def in_words(total: int, collected: Collected) -> str:
    """Speed, time left, mean reward and errors by their type."""
    parts = [f"{collected.steps_per_s:.0f} steps/s"]
    done = len(collected)
    left = total - collected.skipped - done
    if done and left:
        parts.append(f"{_duration(collected.seconds / done * left)} left")
    if collected.mean_reward is not None:
        parts.append(f"mean reward {collected.mean_reward:.3f}")
    parts += [f"{count} {kind}" for kind, count in collected.errors.most_common()]
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    minutes = f"{whole % _HOUR // _MINUTE} min"
    return f"{whole // _HOUR} h {minutes}" if whole >= _HOUR else f"{minutes} {whole % _MINUTE} s"
