"""The loop: play, learn, measure, take down."""

from __future__ import annotations

import threading
import time
from statistics import fmean

import torch

from grpo_blackjack.checkpoint import Folder
from grpo_blackjack.config import Config
from grpo_blackjack.display import Show
from grpo_blackjack.evaluation import measure
from grpo_blackjack.progress import Progress
from grpo_blackjack.rollout import Stopped, Table
from grpo_blackjack.trainer import Trainer, deals_of


class Training:
    """A run, from its first step or from its checkpoint to its last step.

    The same configuration gives the same run, whether it was interrupted or not: on a CPU, to the
    last bit.
    """

    def __init__(self, config: Config, folder: Folder, resume: bool) -> None:
        torch.set_num_threads(1)  # so small a model is slower on more
        self.config = config
        self.trainer = Trainer(config)
        self._folder = folder
        self.progress = (
            folder.resume(config, self.trainer) if resume else Progress(steps=config.steps)
        )

    def run(self, table: Table, show: Show, stop: threading.Event) -> None:
        """Trains.

        Raises:
            Stopped: it was asked to; the checkpoint has all that was learned.
            ConnectionError: the server is gone for good; the checkpoint has what there was.
        """
        progress = self.progress
        if not progress.points:
            self._measure()
        show(progress)
        while progress.step < progress.steps:
            if stop.is_set():
                self._save()
                raise Stopped
            began = time.monotonic()
            self._step(table)
            if self._due(self.config.evaluation.every):
                self._measure()
            progress.seconds += time.monotonic() - began
            if self._due(self.config.checkpoint.every):
                self._save()
            show(progress)

    def _step(self, table: Table) -> None:
        progress, config = self.progress, self.config
        before = table.interrupted
        games = table.play_games(self.trainer.policy, deals_of(config, progress.step))
        bonus = config.trainer.entropy.at(progress.step / config.steps)
        progress.losses = self.trainer.step(games, bonus)
        progress.step += 1
        progress.games += len(games)
        progress.interrupted += table.interrupted - before
        progress.rewards.append(fmean(game.reward for game in games if game.reward is not None))

    def _measure(self) -> None:
        blind = self.config.blackjack_env.blind
        point = measure(self.trainer.policy, self.progress.games, blind)
        self.progress.points.append(point)

    def _save(self) -> None:
        self._folder.save(self.config, self.trainer, self.progress)

    def _due(self, every: int) -> bool:
        return self.progress.step % every == 0 or self.progress.step == self.progress.steps
