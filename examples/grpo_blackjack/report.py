"""What is left of a run: a picture of the curve, a transcript of games, a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from blackjack.history import means

from blackjack_env.rules import MOVES
from grpo_blackjack.config import Config
from grpo_blackjack.display import LEVELS
from grpo_blackjack.evaluation import Sample
from grpo_blackjack.progress import Progress
from grpo_blackjack.rollout import Game
from openenv.protocol.extras import needs

MIDDLE_GAMES = 12_288
TRANSCRIPT_GAMES = 12
DOTS = 18


def summary(config: Config, progress: Progress, sample: Sample) -> dict[str, Any]:
    """The figures of a run."""
    first, last = progress.points[0], progress.points[-1]
    return {
        "seed": config.seed,
        "model": config.policy.model,
        "blind": config.blackjack_env.blind,
        "games": progress.games,
        "seconds": round(progress.seconds, 1),
        "interrupted": progress.interrupted,
        "start_ev": first.ev,
        "middle_ev": progress.ev_at(MIDDLE_GAMES),
        "end_ev": progress.last_ev,
        "greedy_ev": last.greedy_ev,
        "win_rate": last.win_rate,
        "greedy_win_rate": last.greedy_win_rate,
        "played": asdict(sample),
        "points": [asdict(point) for point in progress.points],
    }


def transcript(games: Sequence[Game]) -> str:
    """Some games, move by move, as Markdown."""
    lines = ["# Games of the policy after training"]
    for game in games[:TRANSCRIPT_GAMES]:
        lines += ["", f"## Seed {game.deal.seed}", ""]
        lines += [f"| prompt | {' | '.join(f'P({move})' for move in MOVES)} | move |"]
        lines += ["| --- |" + " --- |" * (len(MOVES) + 1)]
        for decision in game.decisions:
            chances = " | ".join(f"{chance:.3f}" for chance in decision.chances)
            lines.append(f"| `{decision.prompt}` | {chances} | {decision.move} |")
        reward = "no reward" if game.reward is None else f"{game.reward:+g}"
        lines += ["", f"{game.result}, {reward}"]
    return "\n".join(lines) + "\n"


def plot(progress: Progress, file: Path) -> None:
    """Draws the curve.

    Raises:
        MissingPackage: Matplotlib is not installed.
    """
    with needs("matplotlib"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    rewards = means(progress.rewards, DOTS)
    share = progress.games / len(rewards)
    middles = [(number + 0.5) * share for number in range(len(rewards))]
    axes.plot(middles, rewards, "o", color="#9ecae1", label="mean reward of the games played")
    games = [point.games for point in progress.points]
    axes.plot(
        games,
        [point.ev for point in progress.points],
        color="#08519c",
        label="exact value of the policy",
    )
    greedy = [point.greedy_ev for point in progress.points]
    axes.plot(games, greedy, "--", color="#e6550d", label="if it makes its likeliest move")
    for name, level in LEVELS.items():
        axes.axhline(level, color="grey", linewidth=0.8)
        axes.annotate(name, (games[-1], level), ha="right", va="bottom", color="grey")
    axes.set(xlabel="games", ylabel="won per game", ylim=(-0.5, 0.0))
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.28))
    figure.savefig(file, dpi=120)
