"""How training is shown: live on a terminal, line by line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from blackjack.charts import sparkline
from blackjack.history import History, means

LOWEST, HIGHEST = -0.45, 0.0
SECONDS_BETWEEN_LINES = 2.0

Show = Callable[[History], None]


def view_on(console: Console) -> AbstractContextManager[Show]:
    """What shows a history while it grows, in the way that suits where the output goes."""
    return _live(console) if console.is_terminal else _plain(console)


@contextmanager
def _live(console: Console) -> Iterator[Show]:
    """A panel that is redrawn in place."""
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda history: live.update(_panel(history, console.width), refresh=True)


@contextmanager
def _plain(console: Console) -> Iterator[Show]:
    """A line every few seconds."""
    due = time.monotonic()

    def show(history: History) -> None:
        nonlocal due
        if time.monotonic() < due and history.games < history.total:
            return
        due = time.monotonic() + SECONDS_BETWEEN_LINES
        line = f"{_progress(history)}  {_rewards(history)}"
        console.print(line, highlight=False, soft_wrap=True)

    yield show


def _progress(history: History) -> str:
    return (
        f"{history.games:>6,} of {history.total:,} games  {history.speed:5,.0f} games/s  "
        f"{history.seconds_left:3.0f} s left"
    )


def _rewards(history: History) -> str:
    recent, exact = history.recent_reward, history.exact[-1]
    return f"mean reward {recent:+.3f}  exact value of the policy {exact:+.3f}"


def _panel(history: History, width: int) -> RenderableType:
    rows = Table.grid(expand=True)
    rows.add_row(ProgressBar(total=history.total, completed=history.games))
    rows.add_row(_progress(history))
    rows.add_row(_rewards(history))
    curve = means(history.rewards, max(10, width - 4))
    rows.add_row(Text(sparkline(curve, LOWEST, HIGHEST), style="green"))
    return Panel(rows, title="learning over the socket")
