"""How training is shown: a live curve on a terminal, a line for each evaluation elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from blackjack.charts import chart
from rich.console import Console, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from blackjack_env import policies
from blackjack_env.exact import evaluate
from grpo_blackjack.progress import Progress

Show = Callable[[Progress], None]
LEVELS = {
    "random": evaluate(policies.coin_toss).value,
    "always stand": evaluate(policies.always_stand).value,
    "optimal": evaluate(policies.optimal()).value,
}
COLUMNS = 54  # the panel fits into 80


def view_on(console: Console) -> AbstractContextManager[Show]:
    """What shows progress in the way that suits where the output goes."""
    return _live(console) if console.is_terminal else _plain(console)


def curve(progress: Progress) -> str:
    """What was won per game: · in the games of each step, ● by the policy's exact value."""
    games = [point.games for point in progress.points]
    exact = [point.ev for point in progress.points]
    rewards = progress.rewards or exact
    columns = range(COLUMNS)
    played = [rewards[column * len(rewards) // COLUMNS] for column in columns]
    reached = [column * (progress.games or 1) / (COLUMNS - 1) for column in columns]
    latest = [max(row for row, g in enumerate(games) if g <= until) for until in reached]
    return chart({"·": played, "●": [exact[row] for row in latest]}, LEVELS)


@contextmanager
def _live(console: Console) -> Iterator[Show]:
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda progress: live.update(_panel(progress), refresh=True)


@contextmanager
def _plain(console: Console) -> Iterator[Show]:
    told = 0

    def show(progress: Progress) -> None:
        nonlocal told
        if len(progress.points) > told:
            told = len(progress.points)
            line = f"{_pace(progress)}  {_figures(progress)}"
            console.print(line, highlight=False, soft_wrap=True)

    yield show


def _panel(progress: Progress) -> RenderableType:
    rows = Table.grid(expand=True)
    rows.add_row(ProgressBar(total=progress.steps, completed=progress.step))
    rows.add_row(_pace(progress))
    rows.add_row(_figures(progress))
    rows.add_row(Text(curve(progress), style="green"))
    return Panel(rows, title="GRPO on BlackJack: · games  ● exact value")


def _pace(progress: Progress) -> str:
    again = f"  {progress.interrupted} dealt again" if progress.interrupted else ""
    return (
        f"step {progress.step:>3}/{progress.steps}  {progress.games:>7,} games  "
        f"{progress.speed:5,.0f}/s  {progress.seconds_left:3.0f} s left{again}"
    )


def _figures(progress: Progress) -> str:
    point = progress.points[-1]
    losses = "  ".join(f"{name} {value:+.3f}" for name, value in progress.losses.items())
    return f"EV {point.ev:+.3f}  greedy {point.greedy_ev:+.3f}  win {point.win_rate:.1%}  {losses}"
