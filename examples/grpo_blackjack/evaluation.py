"""How good a policy is: exactly, by dynamic programming, and in games that are really played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import torch
from torch import nn

from blackjack_env.exact import Policy, Situation, evaluate, situations
from blackjack_env.rules import MOVES
from grpo_blackjack.config import Config
from grpo_blackjack.policy import move_logprobs
from grpo_blackjack.rollout import Deal, Game, Table, format_prompt

TEST_SEEDS = 2**31  # deals of training never come this far


@dataclass(frozen=True)
class Point:
    """The exact value of a policy.

    Attributes:
        games: games it has learned from.
        ev: what it wins per game, playing by chance as it does in training.
        win_rate: how often it wins so.
        greedy_ev: what it wins per game if it always makes the likeliest move.
        greedy_win_rate: how often it wins so.
    """

    games: int
    ev: float
    win_rate: float
    greedy_ev: float
    greedy_win_rate: float


@dataclass(frozen=True)
class Sample:
    """Games that were really played: their mean reward, with a confidence interval of 95 %."""

    games: int
    mean: float
    margin: float
    win_rate: float


def measure(policy: nn.Module, games: int, blind: bool) -> Point:
    """The policy's exact value: all 280 situations are asked for, and no game is played."""
    hit_chance = table_of(policy, blind)
    by_chance = evaluate(hit_chance)
    greedy = evaluate(lambda situation: float(hit_chance(situation) > 0.5))
    return Point(games, by_chance.value, by_chance.win, greedy.value, greedy.win)


def table_of(policy: nn.Module, blind: bool) -> Policy:
    """How likely the policy hits, as a look-up in a table."""
    every = situations()
    prompts = [format_prompt(describe(situation), blind) for situation in every]
    with torch.no_grad():
        chances = move_logprobs(policy, prompts, [MOVES] * len(prompts)).exp()
    hits = chances[:, MOVES.index("hit")].tolist()
    return dict(zip(every, hits, strict=True)).__getitem__


def describe(situation: Situation) -> str:
    """The text with which the environment describes a situation."""
    kind = "soft" if situation.usable_ace else "hard"
    return f"you {kind} {situation.player_sum} dealer {situation.dealer_card} act"


def play_test(table: Table, policy: nn.Module, config: Config) -> list[Game]:
    """Plays games none of which was trained on."""
    first = (config.seed << 32) + TEST_SEEDS
    deals = [Deal(seed, 0) for seed in range(first, first + config.evaluation.games)]
    return table.play_games(policy, deals)


def sample_of(games: Sequence[Game]) -> Sample:
    """What games say of the policy that has played them. Games without a reward say nothing."""
    rewards = [game.reward for game in games if game.reward is not None]
    margin = 1.96 * stdev(rewards) / len(rewards) ** 0.5
    wins = fmean(game.result == "win" for game in games)
    return Sample(len(rewards), fmean(rewards), margin, wins)
