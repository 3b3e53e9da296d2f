"""How training is shown: live on a terminal, line by line elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Protocol

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


class View(Protocol):
    """Shows a history while it grows."""

    def __enter__(self) -> View: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def show(self, history: History) -> None:
        """Brings what is shown up to date."""


class LiveView:
    """A panel that is redrawn in place."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> View:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def show(self, history: History) -> None:
        self._live.update(_panel(history, self._live.console.width), refresh=True)


class PlainView:
    """A line every few seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next = time.monotonic()

    def __enter__(self) -> View:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """There is nothing to take down."""

    def show(self, history: History) -> None:
        now = time.monotonic()
        if now >= self._next or history.games == history.total:
            self._next = now + SECONDS_BETWEEN_LINES
            line = f"{_progress(history)}  {_rewards(history)}"
            self._console.print(line, highlight=False, soft_wrap=True)


def view_for(console: Console) -> View:
    """The view that suits where the output goes."""
    return LiveView(console) if console.is_terminal else PlainView(console)


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
