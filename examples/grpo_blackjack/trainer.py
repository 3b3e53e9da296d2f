"""GRPO: games in, a better policy out."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from blackjack_env.rules import MOVES
from grpo_blackjack.config import Config
from grpo_blackjack.policy import Transformer, move_logprobs
from grpo_blackjack.reward import compute_advantages
from grpo_blackjack.rollout import Deal, Game


class Episode(NamedTuple):
    """What is learned from: one decision, and how its game went beside the others of its deal."""

    prompt: str
    legal: tuple[str, ...]
    move: int
    advantage: float


class Batch(NamedTuple):
    """Episodes as columns. Tensors are of shape `(rows,)`."""

    prompts: list[str]
    legal: list[tuple[str, ...]]
    moves: Tensor
    advantages: Tensor
    old_logprobs: Tensor
    ref_logprobs: Tensor | None


class Loss(NamedTuple):
    """What is minimised, and what it is made of."""

    total: Tensor
    policy: Tensor
    entropy: Tensor
    kl: Tensor


class Trainer:
    """A policy and what it takes to improve it."""

    def __init__(self, config: Config) -> None:
        torch.manual_seed(config.seed)
        self._config = config
        self.policy = make_policy(config)
        self._reference = copy.deepcopy(self.policy) if config.ref_model.beta else None
        self._optimizer = torch.optim.AdamW(
            self.policy.parameters(),
            lr=config.trainer.optimizer.lr,
            weight_decay=config.trainer.optimizer.weight_decay,
        )
        self._shuffle = torch.Generator().manual_seed(config.seed)

    def step(self, games: Sequence[Game], entropy_bonus: float) -> dict[str, float]:
        """Learns from the games of one step; says how it went, averaged over its updates."""
        batch = collate(episodes_of(games), self.policy, self._reference)
        settings = self._config.trainer
        sums: dict[str, float] = defaultdict(float)
        updates = 0
        for _ in range(settings.epochs):
            order = torch.randperm(len(batch.prompts), generator=self._shuffle)
            for rows in order.split(settings.local_batch_size):
                loss = self._loss(_rows_of(batch, rows.tolist()), entropy_bonus)
                self._optimizer.zero_grad()
                loss.total.backward()
                nn.utils.clip_grad_norm_(self.policy.parameters(), settings.max_norm)
                self._optimizer.step()
                updates += 1
                for name, value in loss._asdict().items():
                    sums[name] += value.item()
        return {name: value / updates for name, value in sums.items()}

    def state_dict(self) -> dict[str, Any]:
        """All that the next step depends on."""
        return {
            "policy": self.policy.state_dict(),
            "reference": self._reference.state_dict() if self._reference else None,
            "optimizer": self._optimizer.state_dict(),
            "shuffle": self._shuffle.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from there."""
        self.policy.load_state_dict(state["policy"])
        if self._reference:
            self._reference.load_state_dict(state["reference"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._shuffle.set_state(state["shuffle"])

    def _loss(self, batch: Batch, entropy_bonus: float) -> Loss:
        logprobs = move_logprobs(self.policy, batch.prompts, batch.legal)
        entropy = -(logprobs.exp() * logprobs).sum(-1).mean()
        beta = self._config.ref_model.beta
        loss, kl = simple_grpo_loss(_of(batch.moves, logprobs), batch, self._config.trainer.clip)
        return Loss(loss + beta * kl - entropy_bonus * entropy, loss, entropy, kl)


def collate(episodes: Sequence[Episode], policy: nn.Module, reference: nn.Module | None) -> Batch:
    """Columns, with the log-probabilities of the policy that has played and of the reference.

    They are computed here, once for the whole batch, and not taken down during the games:
    how games shared forward passes then leaves no trace in the last digits.
    """
    prompts = [episode.prompt for episode in episodes]
    legal = [episode.legal for episode in episodes]
    device = next(policy.parameters()).device
    moves = torch.tensor([episode.move for episode in episodes], device=device)
    advantages = torch.tensor([episode.advantage for episode in episodes], device=device)
    with torch.no_grad():
        old = _of(moves, move_logprobs(policy, prompts, legal))
        ref = _of(moves, move_logprobs(reference, prompts, legal)) if reference else None
    return Batch(prompts, legal, moves, advantages, old, ref)


def simple_grpo_loss(logprobs: Tensor, batch: Batch, clip: float) -> tuple[Tensor, Tensor]:
    """The clipped policy loss, and the KL divergence from the reference (0 without one)."""
    ratio = torch.exp(logprobs - batch.old_logprobs)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    loss = -torch.min(ratio * batch.advantages, clipped * batch.advantages).mean()
    if batch.ref_logprobs is None:
        return loss, torch.zeros_like(loss)
    behind = batch.ref_logprobs - logprobs
    return loss, (behind.exp() - behind - 1).mean()  # the estimator that is never below 0


def episodes_of(games: Sequence[Game]) -> list[Episode]:
    """Every decision of every game, with its game's advantage in the group of its deal."""
    groups: dict[int, list[Game]] = defaultdict(list)
    for game in games:
        groups[game.deal.seed].append(game)
    episodes = []
    for group in groups.values():
        advantages = compute_advantages([game.reward for game in group])
        for game, advantage in zip(group, advantages, strict=True):
            if advantage is not None:
                episodes += [
                    Episode(decision.prompt, decision.legal, MOVES.index(decision.move), advantage)
                    for decision in game.decisions
                ]
    return episodes


def make_policy(config: Config) -> nn.Module:
    """The policy before it has learned anything here."""
    if config.policy.model is None:
        return Transformer(config.policy)
    from grpo_blackjack.pretrained import PretrainedPolicy

    return PretrainedPolicy(config.policy.model)


def deals_of(config: Config, step: int) -> list[Deal]:
    """The games of a step: no deal is ever played in two steps, or in two runs."""
    first = (config.seed << 32) + step * config.groups
    return [
        Deal(seed, number)
        for seed in range(first, first + config.groups)
        for number in range(config.group_size)
    ]


def _of(moves: Tensor, logprobs: Tensor) -> Tensor:
    return logprobs.gather(1, moves[:, None]).squeeze(1)


def _rows_of(batch: Batch, rows: list[int]) -> Batch:
    return Batch(
        [batch.prompts[row] for row in rows],
        [batch.legal[row] for row in rows],
        batch.moves[rows],
        batch.advantages[rows],
        batch.old_logprobs[rows],
        None if batch.ref_logprobs is None else batch.ref_logprobs[rows],
    )
