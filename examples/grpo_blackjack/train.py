"""GRPO on BlackJack: a small language model learns to play from the rewards of a served game.

The server is a process of its own. The trainer plays over the socket, in hundreds of sessions at
once, and compares games of one deal with each other.

    python examples/grpo_blackjack/train.py                   a minute
    python examples/grpo_blackjack/train.py --smoke           a few seconds, for a first look
    python examples/grpo_blackjack/train.py --resume          goes on where it was stopped
    python examples/grpo_blackjack/train.py --blind           without the cards: cannot learn
    python examples/grpo_blackjack/train.py --model Qwen/Qwen3-0.6B trainer.optimizer.lr=1e-6
    python examples/grpo_blackjack/train.py --config my.yaml groups=128 seed=2

It fails when it has not learned what it should have.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from rich.console import Console

sys.path.insert(0, str(Path(__file__).parent.parent))

from blackjack.charts import strategy
from blackjack.server import Server, serving_always

from grpo_blackjack.checkpoint import Folder
from grpo_blackjack.config import DEFAULT_FILE, BadConfig, Config, read
from grpo_blackjack.display import curve, view_on
from grpo_blackjack.evaluation import play_test, sample_of, table_of
from grpo_blackjack.marks import marks_of
from grpo_blackjack.report import plot, summary, transcript
from grpo_blackjack.rollout import Stopped, Table
from grpo_blackjack.training import Training
from openenv import OpenEnvError
from openenv.protocol.extras import MissingPackage

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
SMOKE = ["steps=16", "evaluation.every=2", "evaluation.games=512"]


def parse(arguments: list[str] | None = None) -> tuple[Config, bool]:
    """Reads the command line: what to train, and whether to go on with it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", type=Path, default=DEFAULT_FILE, metavar="FILE")
    parser.add_argument("--seed", help="short for seed=N")
    parser.add_argument("--model", help="short for policy.model=NAME")
    parser.add_argument("--output", help="short for output=FOLDER")
    parser.add_argument("--server-url", help="short for blackjack_env.server_url=URL")
    parser.add_argument("--blind", action="store_true", help="take the cards out of the prompt")
    parser.add_argument("--smoke", action="store_true", help="a short run")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="any line of the file")
    given = parser.parse_intermixed_args(arguments)
    shortcuts = {
        "seed": given.seed,
        "policy.model": given.model,
        "output": given.output,
        "blackjack_env.server_url": given.server_url,
        "blackjack_env.blind": "true" if given.blind else None,
    }
    overrides = [f"{key}={value}" for key, value in shortcuts.items() if value is not None]
    overrides = [*(SMOKE if given.smoke else []), *overrides, *given.overrides]
    return read(given.config, overrides), given.resume


@asynccontextmanager
async def server_for(config: Config, console: Console) -> AsyncIterator[str]:
    """The address of the server: the user's, or one that is kept running as long as we run."""
    if config.blackjack_env.server_url is not None:
        yield config.blackjack_env.server_url
        return

    def tell(server: Server) -> None:
        console.print(f"server: process {server.pid} at {server.url}", highlight=False)

    async with serving_always(config.blackjack_env.sessions, tell) as server:
        yield server.url


async def run(config: Config, resume: bool, console: Console) -> int:
    """Trains, measures and reports; returns the exit code."""
    folder = Folder(config.output)
    training = Training(config, folder, resume)
    stop = threading.Event()
    received: list[int] = []

    def halt(number: int) -> None:
        received.append(number)
        stop.set()

    for number in STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, halt, number)
    async with server_for(config, console) as url:
        try:
            return await asyncio.to_thread(work, training, folder, url, console, stop)
        except Stopped:
            console.print(f"stopped at step {training.progress.step}; --resume goes on")
            return 128 + received[0]


def work(
    training: Training, folder: Folder, url: str, console: Console, stop: threading.Event
) -> int:
    """All that happens beside the server."""
    config, progress = training.config, training.progress
    settings = config.blackjack_env
    with closing(Table(url, settings.sessions, settings.blind, stop)) as table:
        with view_on(console) as show:
            training.run(table, show, stop)
        games = play_test(table, training.trainer.policy, config)
    figures = summary(config, progress, sample_of(games))
    folder.write_json("summary.json", figures)
    folder.write_text("transcript.md", transcript(games))
    console.print(f"\n{curve(progress)}\n", highlight=False, soft_wrap=True)
    console.print(strategy(table_of(training.trainer.policy, settings.blind)), highlight=False)
    tell_figures(console, figures)
    try:
        plot(progress, folder.path / "curve.png")
    except MissingPackage as missing:
        console.print(f"no curve.png: {missing}")
    marks = marks_of(figures)
    for mark in marks:
        console.print(f"{'✓' if mark.passed else '✗'} {mark.text}", highlight=False)
    console.print(f"{folder.path}: summary, transcript, checkpoint, curve", highlight=False)
    return 0 if all(mark.passed for mark in marks) else 1


def tell_figures(console: Console, figures: dict[str, Any]) -> None:
    """The result in a few lines."""
    played = figures["played"]
    console.print(
        f"\n{figures['games']:,} games in {figures['seconds']:.0f} s, "
        f"{figures['interrupted']} of them dealt again\n"
        f"exact EV {figures['start_ev']:+.3f} → {figures['end_ev']:+.3f}, "
        f"wins {figures['win_rate']:.1%}; likeliest move {figures['greedy_ev']:+.3f}, "
        f"wins {figures['greedy_win_rate']:.1%}\n"
        f"{played['games']:,} new games: {played['mean']:+.3f} ± {played['margin']:.3f}, "
        f"wins {played['win_rate']:.1%}",
        highlight=False,
    )


def main() -> None:
    """Trains from the command line."""
    try:
        config, resume = parse()
        sys.exit(asyncio.run(run(config, resume, Console())))
    except (BadConfig, ConnectionError, OpenEnvError) as error:
        sys.exit(f"train.py: {error}")


if __name__ == "__main__":
    main()
