"""An account as a web page shows it."""

from __future__ import annotations

from typing import Any

from finrl_env.describing import MOST_LINES
from finrl_env.episode import Episode
from openenv.env.web_html import Html, WebAction, facts, notice, page, refusal, table, tag

MOST_POINTS = 400
"""Points of the equity curve that are drawn."""
WIDTH, HEIGHT = 600, 160
ALIKE = (("buy all", 1.0, "b"), ("hold", 0.0, "h"), ("sell all", -1.0, "s"))
STYLE = """
.equity svg { display: block; width: 100%; height: 10rem; border-bottom: 1px solid var(--border); }
.equity svg * { vector-effect: non-scaling-stroke; }
.equity .area { fill: var(--accent); opacity: .15; }
.equity .line { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
.equity .start { stroke: var(--muted); stroke-dasharray: 4 4; }
.equity p { display: flex; justify-content: space-between; color: var(--muted); font-size: 13px; }
"""


def draw(seen: dict[str, Any], episode: Episode) -> str:
    """The equity curve, what is held, and how the portfolio has done.

    Args:
        seen: an observation.
        episode: the account that it is of.
    """
    known = {
        "Day": f"{_date(seen['date'])} ({episode.day + 1} of {len(episode.tape)})",
        "Portfolio": f"{episode.value:,.2f}",
        "Cash": f"{seen['state'][0]:,.2f}",
    }
    return page(
        facts(known),
        refusal(seen),
        _curve(episode),
        notice("The last day is over." if episode.done else None),
        _holdings(seen, episode),
        _metrics(episode.metrics()),
        style=STYLE,
    )


def actions(seen: dict[str, Any]) -> list[WebAction]:
    """The same for every stock, three times."""
    ways = () if seen["done"] else ALIKE
    return [(label, {"actions": [part] * len(seen["tickers"])}, key) for label, part, key in ways]


def _curve(episode: Episode) -> Html:
    values, last = episode.values, len(episode.values) - 1
    shown = sorted({*range(0, last + 1, -(-len(values) // MOST_POINTS)), last})
    low, high = min(values), max(values)
    across, up = WIDTH / (last or 1), HEIGHT / ((high - low) or 1)
    line = " ".join(f"{at * across:.1f},{(high - values[at]) * up:.1f}" for at in shown)
    start = f"{(high - values[0]) * up:.1f}"
    area = f"0,{HEIGHT} {line} {last * across:.1f},{HEIGHT}"
    first, today = _date(episode.tape.dates[episode.day - last]), _date(episode.date)
    drawn = tag(
        "svg",
        tag("polygon", points=area, class_="area"),
        tag("line", x1=0, x2=WIDTH, y1=start, y2=start, class_="start"),
        tag("polyline", points=line, class_="line"),
        viewBox=f"0 -4 {WIDTH} {HEIGHT + 8}",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"The portfolio from {values[0]:,.2f} on {first} to {values[-1]:,.2f} on "
        f"{today}; lowest {low:,.2f}, highest {high:,.2f}",
    )
    title = tag("figcaption", f"Portfolio, {low:,.0f} to {high:,.0f}")
    dates = tag("p", tag("span", first), tag("span", today))
    return tag("figure", title, drawn, dates, class_="equity")


def _date(written: str) -> str:
    """A date without the time of day, where that is midnight."""
    return written.removesuffix(" 00:00:00")


def _holdings(seen: dict[str, Any], episode: Episode) -> Html:
    stocks = len(seen["tickers"])
    prices, shares = seen["state"][1 : stocks + 1], seen["state"][stocks + 1 : 2 * stocks + 1]
    known = zip(seen["tickers"], prices, shares, episode.filled, strict=True)
    rows = [
        (ticker, f"{price:,.2f}", f"{held:,.0f}", f"{price * held:,.2f}", f"{bought:+,.0f}")
        for ticker, price, held, bought in list(known)[:MOST_LINES]
    ]
    more = f", the first {MOST_LINES} of {stocks} stocks" if stocks > MOST_LINES else ""
    return table(("Stock", "Price", "Shares", "Value", "Traded"), rows, f"Holdings{more}")


def _metrics(known: dict[str, Any]) -> Html:
    shown = {
        name.replace("_", " ").capitalize(): f"{value:,.4g}"
        for name, value in known.items()
        if value is not None
    }
    return tag("section", tag("h2", "Metrics"), facts(shown))
