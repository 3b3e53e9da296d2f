"""The pictures of RESULTS.md, drawn from `results.json`: ``plots.py [DIRECTORY]``.

Points are medians over the rounds, bars their whole range; both axes are logarithmic.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from contestants import HERE, IN_PROCESS
from goals import Results
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

STYLES: dict[str, dict[str, Any]] = {
    "v2": {"label": "ours, wire v2", "color": "#0b5fa5", "marker": "o"},
    "v2 json": {"label": "ours, wire v2 as JSON", "color": "#7a4fb5", "marker": "D"},
    "inline": {"label": "ours, wire v1", "color": "#4fa3d9", "marker": "s"},
    "peer": {"label": "openenv 0.10.0", "color": "#c23b22", "marker": "^"},
    "picows": {"label": "floor: picows", "color": "#555555", "marker": "v", "ls": "--"},
    "tcp": {"label": "floor: raw TCP", "color": "#999999", "marker": "x", "ls": ":"},
    "websockets": {"label": "floor: websockets", "color": "#777777", "marker": "+", "ls": "-."},
}


def curve(axes: Any, results: Results, name: str, family: str, metric: str) -> list[int]:
    """Draw one contestant's line, if it took part; where it has points."""
    numbers = results.get(name, {})
    points = sorted(
        (int(key.split(".")[1]), values)
        for key, values in numbers.items()
        if key.startswith(f"{family}.") and key.endswith(f".{metric}")
    )
    if not points:
        return []
    places = [place for place, _ in points]
    middles = [median(values) for _, values in points]
    below = [middle - min(values) for middle, (_, values) in zip(middles, points, strict=True)]
    above = [max(values) - middle for middle, (_, values) in zip(middles, points, strict=True)]
    axes.errorbar(places, middles, [below, above], capsize=3, lw=1.6, ms=6, **STYLES[name])
    return places


def finish(
    figure: Figure, axes: Any, places: Sequence[int], title: str, labels: tuple[str, str]
) -> None:
    """Axes, ticks and a legend beside the lines."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = sorted(set(places))
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(True, alpha=0.3)
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    if places:
        axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.01, 0.5))
    figure.tight_layout()


def throughput(results: Results) -> Figure:
    """Steps a second against sessions."""
    figure = Figure(figsize=(8.4, 4.6))
    axes = figure.subplots()
    places = []
    for name in ("tcp", "picows", "websockets", "v2", "inline", "peer"):
        places += curve(axes, results, name, "sessions", "rate")
    title = "Steps a second, one step to a message, one server process"
    finish(figure, axes, places, title, ("busy sessions", "steps/s (higher is better)"))
    return figure


def cost(results: Results) -> Figure:
    """CPU time of the server for a step against the steps in a frame."""
    figure = Figure(figsize=(8.4, 4.6))
    axes = figure.subplots()
    places = []
    for name in ("peer", "inline", "v2 json", "v2", "picows", "tcp"):
        places += curve(axes, results, name, "batch", "server_us")
    if direct := results.get(IN_PROCESS, {}).get("blackjack.direct_us"):
        axes.axhspan(min(direct), max(direct), color="#2b8a3e", alpha=0.15, lw=0)
        label = "no server: validate,\nstep, serialize"
        axes.axhline(median(direct), color="#2b8a3e", lw=1.4, label=label)
    title = "What a step of BlackJack costs the server"
    across = "K: sessions stepped at once (v2: in one frame; v1: a socket and a frame each)"
    finish(figure, axes, places, title, (across, "server CPU µs/step (lower is better)"))
    return figure


PLOTS = {"throughput": throughput, "cost": cost}


def draw(results: Results, out: Path) -> None:
    """Write every picture."""
    for name, plot in PLOTS.items():
        plot(results).savefig(out / f"{name}.png", dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    draw(json.loads((where / "results.json").read_text())["results"], where)
