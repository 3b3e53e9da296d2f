"""A page that shows an evaluation: one file, which needs no other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files

from openenv.evals import tables
from openenv.evals.charts import Axis, histogram, interval_chart, share_chart
from openenv.evals.comparing import Comparison
from openenv.evals.evaluation import Evaluation
from openenv.evals.tables import Table

MOST_SEEDS = 500
"""How many seeds are listed on a page; the JSON has all."""
_HOW = (
    "The mean is over seeds, with Student's 95 % interval; the success rate has Wilson's. "
    "Episodes that failed, and those without a reward that counts, are in no mean: they are "
    "counted apart."
)


def html_report(evaluation: Evaluation, comparison: Comparison | None = None) -> str:
    """The page: figures, plots, endings, and what each seed gave.

    It needs no script and nothing from elsewhere, and is light or dark as its reader likes it.

    Args:
        evaluation: what is shown.
        comparison: of two policies, shown on top.
    """
    name = evaluation.environment.get("name")
    sections = [
        *_compared(comparison),
        _section("Figures", [_drawn(tables.figures(evaluation)), f'<p class="muted">{_HOW}</p>']),
        *_doubts(evaluation),
        *_rewards(evaluation),
        _section("How episodes ended", _ended(evaluation)),
        _section("Seeds", _seeds(evaluation)),
    ]
    title = escape(f"Evaluation of {name}")
    style = files("openenv.evals").joinpath("report.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>\n{style}</style></head>",
            f"<body><main><header><h1>{title}</h1>{_facts(evaluation)}</header>",
            *sections,
            "</main></body></html>\n",
        ]
    )


def _facts(evaluation: Evaluation) -> str:
    seeds = evaluation.seeds
    told = {
        "version": evaluation.environment.get("version") or tables.NONE,
        "played": evaluation.started_at,
        "episodes": f"{len(seeds)} of each policy, {len(set(seeds))} seeds",
        "options": json.dumps(evaluation.options) if evaluation.options else "none",
        "max steps": evaluation.max_steps,
        "success": evaluation.success,
        "OpenEnv": evaluation.openenv_version,
    }
    parts = [f"<div><dt>{name}</dt><dd>{escape(str(v))}</dd></div>" for name, v in told.items()]
    return f'<dl class="facts">{"".join(parts)}</dl>'


def _compared(comparison: Comparison | None) -> Iterator[str]:
    if comparison is None:
        return
    kind = "open" if comparison.better is None else "told"
    mean = comparison.mean_difference
    parts = [f'<p class="verdict {kind}">{escape(comparison.verdict)}</p>']
    parts.append(_drawn(tables.difference(comparison)))
    if mean is not None:
        row = ("mean difference", mean, comparison.interval)
        parts.append(interval_chart([row], "The mean difference of the rewards"))
        values = list(comparison.differences.values())
        parts.append(histogram("seeds", values, Axis.over([*values, 0.0])))
    parts += _listed(comparison.warnings, "warnings")
    yield _section(f"{comparison.first} against {comparison.second}", parts)


def _doubts(evaluation: Evaluation) -> Iterator[str]:
    """What the figures leave out."""
    warnings, losses = evaluation.warnings(), tables.losses(evaluation)
    if warnings or losses:
        parts = [*_listed(warnings, "warnings"), *_listed(losses, "warnings losses")]
        yield _section("To be kept in mind", parts)


def _rewards(evaluation: Evaluation) -> Iterator[str]:
    """The means, and how the rewards are distributed."""
    cards = [card for card in evaluation.policies if card.rewards]
    if not cards:
        return
    rows = [(card.policy, card.mean_reward or 0.0, card.reward_interval) for card in cards]
    axis = Axis.over([reward for card in cards for reward in card.rewards])
    parts = [interval_chart(rows, "Mean rewards with their 95 % intervals")]
    parts.append("<h3>Distribution of the episodes' rewards</h3>")
    parts += [histogram(card.policy, card.rewards, axis, i) for i, card in enumerate(cards)]
    yield _section("Rewards", parts)


def _ended(evaluation: Evaluation) -> Iterator[str]:
    shares = {card.policy: card.shares() for card in evaluation.policies}
    yield share_chart(shares, "How episodes ended")
    yield _drawn(tables.endings(evaluation))


def _seeds(evaluation: Evaluation) -> Iterator[str]:
    seeds = list(dict.fromkeys(evaluation.seeds))
    cards = evaluation.policies
    rows = [
        [str(seed), *(tables.number(card.by_seed.get(seed)) for card in cards)]
        for seed in seeds[:MOST_SEEDS]
    ]
    shown = _drawn(Table(["seed", *(card.policy for card in cards)], rows))
    yield f"<details><summary>Mean reward of each seed</summary>{shown}</details>"
    if len(seeds) > MOST_SEEDS:
        yield f'<p class="muted">{MOST_SEEDS} of {len(seeds)} are listed; the JSON has all.</p>'


def _section(title: str, parts: Iterable[str]) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def _drawn(table: Table) -> str:
    heads = "".join(f'<th scope="col">{escape(header)}</th>' for header in table.headers)
    lines = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for first, *cells in table.rows
    )
    body = f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody>"
    return f'<div class="wide" tabindex="0"><table>{body}</table></div>'


def _listed(lines: Sequence[str], kind: str) -> list[str]:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return [f'<ul class="{kind}">{items}</ul>'] if items else []
