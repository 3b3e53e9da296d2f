"""Turns that many rollouts wait for, taken together."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from openenv.protocol.errors import OpenEnvError


@dataclass(frozen=True)
class Wanted:
    """What a rollout asks the model for.

    Attributes:
        prompt_ids: all tokens so far: shape `(prompt,)`.
        most: how many it may sample at most, from 1.
    """

    prompt_ids: list[int]
    most: int


@dataclass(frozen=True)
class Sampled:
    """What the model said.

    Attributes:
        ids: the tokens, the one that ends the turn among them: shape `(completion,)`.
        logprobs: the logarithms of their probabilities, in nats: shape `(completion,)`.
    """

    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class _Asked:
    place: int
    wanted: Wanted
    turn: Future[Sampled] = field(default_factory=Future)


Sample = Callable[[Sequence[Wanted]], list[Sampled]]
"""Takes one turn of the model for each."""


class Rounds:
    """Rollouts in threads of their own, whose turns the trainer's thread samples as one batch.

    A round begins as soon as each rollout that still runs waits for its turn. It is sampled in
    the rollouts' own order, whichever came first: the same seeds give the same run.

    Args:
        rollouts: how many there are, from 1.
    """

    def __init__(self, rollouts: int) -> None:
        self._running = rollouts
        self._said: queue.Queue[_Asked | None] = queue.Queue()

    def take(self, place: int, wanted: Wanted) -> Sampled:
        """Waits for a turn, in a rollout's thread.

        Args:
            place: which rollout it is, from 0.
            wanted: what it asks for.

        Raises:
            OpenEnvError: there are no more rounds.
        """
        asked = _Asked(place, wanted)
        self._said.put(asked)
        return asked.turn.result()

    def leave(self) -> None:
        """A rollout takes no more turns."""
        self._said.put(None)

    def serve(self, sample: Sample) -> None:
        """Holds rounds until all rollouts have left; raises what `sample` raises."""
        waiting: list[_Asked] = []
        try:
            while self._running:
                self._hear(waiting)
                if waiting and len(waiting) == self._running:
                    waiting.sort(key=lambda asked: asked.place)
                    turns = sample([asked.wanted for asked in waiting])
                    for asked, turn in zip(waiting, turns, strict=True):
                        asked.turn.set_result(turn)
                    waiting = []
        finally:
            while self._running:  # only if something was raised
                _refuse(waiting)
                waiting = []
                self._hear(waiting)

    def _hear(self, waiting: list[_Asked]) -> None:
        said = self._said.get()
        if said is None:
            self._running -= 1
        else:
            waiting.append(said)


def _refuse(waiting: list[_Asked]) -> None:
    for asked in waiting:
        asked.turn.set_exception(OpenEnvError("the trainer has given up the batch"))
