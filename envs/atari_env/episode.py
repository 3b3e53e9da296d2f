"""One game, from its first frame to its end."""

from __future__ import annotations

import random
from typing import Literal

from atari_env.console import Console
from atari_env.options import AtariOptions

End = Literal["game over", "life lost", "frame limit"]


class Episode:
    """A game on a console, which nobody else plays on meanwhile.

    Attributes:
        console: what it is played on.
        options: how it is played.
        seed: what plays it again.
        actions: the names of what `act` chooses from.
        score: the points so far.
        end: how it ended, `None` while it runs.
    """

    def __init__(self, console: Console, options: AtariOptions, seed: int) -> None:
        self.console = console
        self.options = options
        self.seed = seed
        self._moves = console.actions(options.full_action_space)
        self.actions = [move.name for move in self._moves]
        self.score = 0
        self.end: End | None = None
        self._begin()

    @property
    def lives(self) -> int:
        """Lives that are left; 0 in games that have none."""
        return self.console.ale.lives()

    @property
    def frames(self) -> int:
        """Frames since the game began."""
        return self.console.ale.getEpisodeFrameNumber()

    def act(self, action_id: int) -> int:
        """Plays the frames of a step; their points."""
        lives = self.lives
        points = self.console.ale.act(self._moves[action_id])
        self.score += points
        self.end = self._how_it_ended(lives)
        return points

    def _begin(self) -> None:
        """Begins with the NOOPs that the seed has for it, which must not end the game."""
        self.console.begin(self.seed)
        if not self.options.noop_max:
            return
        noops = random.Random(f"noops {self.seed}").randint(1, self.options.noop_max)
        for _ in range(noops):
            self.act(0)
            if self.end:
                self.console.begin(self.seed)
                self.score, self.end = 0, None
                return

    def _how_it_ended(self, lives_before: int) -> End | None:
        ale = self.console.ale
        if ale.game_over(with_truncation=False):
            return "game over"
        if self.options.terminal_on_life_loss and self.lives < lives_before:
            return "life lost"
        return "frame limit" if ale.game_truncated() else None
