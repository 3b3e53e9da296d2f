"""Trains a BlackJack player against a served environment, and shows what it has learned.

The server is a process of its own. The trainer plays over the socket, in many sessions at once,
learns from the rewards alone, and is then measured beside players whose values are known exactly.

    python examples/blackjack_demo.py            half a minute
    python examples/blackjack_demo.py --quick    a few seconds, for a first look

It fails when the player has not learned to beat one who never takes a card.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from statistics import fmean, stdev
from typing import NamedTuple

from blackjack.charts import chart, strategy
from blackjack.history import History, means
from blackjack.learner import Learner
from blackjack.server import serving
from blackjack.sessions import Sessions, open_sessions
from blackjack.view import Show, view_on
from rich.console import Console
from rich.table import Table

from blackjack_env import policies
from blackjack_env.exact import Policy, evaluate

EPISODES, QUICK_EPISODES = 50_000, 2_000
LEAST_TEST, LONGEST_TEST = 100, 4_000
GAMES_PER_UPDATE = 256
FIRST_ENTROPY_BONUS = 0.05
CURVE_POINTS = 50
TEST_SEEDS = 2**31  # games of training never come this far
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)

CLOSING = """
Your own environment:
  1.  write my_env.py   class MyEnv(Environment[MyAction, MyObservation]), with reset() and step()
  2.  serve it          openenv serve my_env.py
  3.  use it            with GenericEnvClient(base_url="http://127.0.0.1:8000") as env: env.reset()
"""


class Options(NamedTuple):
    """What to run."""

    episodes: int
    test_episodes: int
    sessions: int
    seed: int


class Score(NamedTuple):
    """What a player has won, and what the rules say it must win in the long run."""

    name: str
    mean: float
    margin: float
    exact: float


def parse(arguments: list[str] | None = None) -> Options:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=count, help="games to learn from")
    parser.add_argument("--sessions", type=count, default=64, help="sessions at once")
    parser.add_argument("--seed", type=whole, default=0, help="settles every card and every choice")
    parser.add_argument("--quick", action="store_true", help="a first look within seconds")
    given = parser.parse_args(arguments)
    episodes = given.episodes or (QUICK_EPISODES if given.quick else EPISODES)
    test_episodes = min(max(episodes // 4, LEAST_TEST), LONGEST_TEST)
    return Options(episodes, test_episodes, given.sessions, given.seed)


def whole(text: str) -> int:
    """A whole number from 0."""
    if (number := int(text)) < 0:
        raise ValueError(text)
    return number


def count(text: str) -> int:
    """A whole number from 1."""
    if (number := whole(text)) == 0:
        raise ValueError(text)
    return number


async def train(sessions: Sessions, learner: Learner, options: Options, show: Show) -> History:
    """Plays and learns in turns."""
    history = History(total=options.episodes)
    first = options.seed << 32
    while history.games < history.total:
        batch = min(GAMES_PER_UPDATE, history.total - history.games)
        seeds = range(first + history.games, first + history.games + batch)
        episodes = await sessions.play(learner.hit_chance, seeds)
        exact = evaluate(learner.hit_chance).value
        learner.learn(episodes, FIRST_ENTROPY_BONUS * (1 - history.games / history.total))
        history.add([episode.reward for episode in episodes], exact)
        show(history)
    return history


async def measure(sessions: Sessions, learner: Learner, options: Options) -> list[Score]:
    """Lets every player play the same games, none of which was trained on."""
    players: dict[str, Policy] = {
        "random": policies.coin_toss,
        "always stand": policies.always_stand,
        "learned": learner.greedy,
        "optimal": policies.optimal(),
    }
    first = (options.seed << 32) + TEST_SEEDS
    scores = []
    for name, policy in players.items():
        episodes = await sessions.play(policy, range(first, first + options.test_episodes))
        rewards = [episode.reward for episode in episodes]
        margin = 1.96 * stdev(rewards) / len(rewards) ** 0.5
        scores.append(Score(name, fmean(rewards), margin, evaluate(policy).value))
    return scores


def report(console: Console, history: History, learner: Learner, scores: list[Score]) -> None:
    """Says what came of it."""
    games = f"{history.games:,} games in {history.seconds:.0f} s"
    console.print(f"\nLearning from {games}: · mean reward, ● exact value of the policy")
    curves = {"·": history.rewards, "●": history.exact}
    compressed = {point: means(curve, CURVE_POINTS) for point, curve in curves.items()}
    levels = {score.name: score.exact for score in scores if score.name != "learned"}
    console.print(chart(compressed, levels), highlight=False)
    console.print("\nWhat it has learned: H hits, · stands")
    console.print(strategy(learner.greedy), highlight=False)
    table = Table("player", "mean reward, 95 %", "exact value", title="Reward per game")
    for score in scores:
        style = "bold green" if score.name == "learned" else None
        mean = f"{score.mean:+.3f} ± {score.margin:.3f}"
        table.add_row(score.name, mean, f"{score.exact:+.4f}", style=style)
    console.print()
    console.print(table)


async def run(options: Options, console: Console) -> int:
    """The whole demonstration; returns the exit code."""
    async with serving(options.sessions) as server:
        console.print(f"server: process {server.pid} at {server.url}", highlight=False)
        async with open_sessions(server.url, options.sessions) as sessions:
            learner = Learner()
            with view_on(console) as show:
                history = await train(sessions, learner, options, show)
            console.print("Measuring four players on new games …")
            scores = await measure(sessions, learner, options)
    report(console, history, learner, scores)
    exact = {score.name: score.exact for score in scores}
    if exact["learned"] <= exact["always stand"]:
        console.print("It has not learned to beat a player who always stands.", style="red")
        return 1
    console.print(CLOSING, highlight=False, markup=False, soft_wrap=True)
    return 0


async def until_stopped(options: Options, console: Console) -> int:
    """Runs until the end, or until a signal; either way everything is taken down."""
    task = asyncio.ensure_future(run(options, console))
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        task.cancel()

    for number in STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not received:
            raise
        console.print("stopped")
        return 128 + received[0]


def main() -> None:
    """Runs the demonstration from the command line."""
    try:
        sys.exit(asyncio.run(until_stopped(parse(), Console())))
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
