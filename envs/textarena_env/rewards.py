"""Reward signals: numbers about a step, beside its reward."""

from __future__ import annotations

import re
from collections import deque
from typing import Protocol

from textarena_env import wordle
from textarena_env.models import GAME_ID, TextArenaAction, TextArenaObservation

LONGEST_WORD = 32
MOST_REMEMBERED = 1000

_FEEDBACK = re.compile(r"Feedback:\n([A-Z](?: [A-Z])*)\n([GYX](?: [GYX])*)")


class RewardProvider(Protocol):
    """Computes signals from what was said and what was seen."""

    def reset(self) -> None:
        """Begins an episode."""

    def compute(
        self, *, action: TextArenaAction, observation: TextArenaObservation
    ) -> dict[str, float]:
        """The signals of a step, by name."""


class WordleSignals:
    """How good a guess was.

    - `wordle.greens`, `wordle.yellows`: the share of the letters with that mark.
    - `wordle.repetitions`: 1 less the number of times that the game took the guess before, among
      the last 1000 that it took.
    - `wordle.correct`: 1 for the secret, else 0.

    A message without a guess, and one that the game did not take, has 0 in all but repetitions.
    """

    def __init__(self) -> None:
        self._guesses: deque[str] = deque(maxlen=MOST_REMEMBERED)

    def reset(self) -> None:
        """Forgets the guesses."""
        self._guesses.clear()

    def compute(
        self, *, action: TextArenaAction, observation: TextArenaObservation
    ) -> dict[str, float]:
        """The signals of a guess."""
        guess = (wordle.guess_in(action.message) or "")[:LONGEST_WORD]
        before = self._guesses.count(guess) if guess else 0
        given = ""
        if "error" not in observation.metadata:
            self._guesses.append(guess)
            given = _marks_of(guess, observation)
        length = len(given) or wordle.LENGTH
        greens = given.count(wordle.GREEN) / length
        return {
            "wordle.greens": greens,
            "wordle.yellows": given.count(wordle.YELLOW) / length,
            "wordle.repetitions": 1.0 - before,
            "wordle.correct": float(greens == 1),
        }


def build_reward_providers(env_id: str) -> list[RewardProvider]:
    """The providers that suit a game; none for most."""
    return [WordleSignals()] if env_id.startswith("Wordle") else []


def _marks_of(guess: str, observation: TextArenaObservation) -> str:
    """The marks that the game gave a guess; TextArena's Wordle gives a winning one none."""
    if observation.done and observation.reward == 1:
        return wordle.GREEN * wordle.LENGTH
    for message in reversed(observation.messages):
        found = _FEEDBACK.search(message.content) if message.sender_id == GAME_ID else None
        if found:
            same = found[1].replace(" ", "").lower() == guess
            return found[2].replace(" ", "") if same else ""
    return ""
