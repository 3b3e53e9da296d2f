"""A slot: one seat of a pool, and where its episode stands."""

from __future__ import annotations

from enum import Enum

from openenv.protocol.errors import (
    ENDING_CODES,
    EnvironmentFailed,
    InvalidRequest,
    Json,
    MessageTooLarge,
    ResetRequired,
)
from openenv.rollout.lanes import Outcome, Turn


class Autoreset(Enum):
    """When a slot whose episode has ended begins the next one; the names are Gymnasium's."""

    NEXT_STEP = "next_step"
    SAME_STEP = "same_step"
    DISABLED = "disabled"


class Phase(Enum):
    """Where a slot's episode stands."""

    NEW = "new"
    RUNNING = "running"
    OVER = "over"
    LOST = "lost"


class Slot:
    """One seat of a pool.

    Attributes:
        phase: where its episode stands.
    """

    __slots__ = ("_again", "_options", "number", "phase")

    def __init__(self, number: int, autoreset: Autoreset) -> None:
        self.number = number
        self.phase = Phase.NEW
        self._options: Json = {}
        self._again = frozenset(
            {Phase.LOST} if autoreset is Autoreset.DISABLED else {Phase.LOST, Phase.OVER}
        )

    def reset(self, seed: int | None, options: Json) -> Turn:
        """The turn that begins an episode. The next ones are begun with the same options.

        A seed and an `episode_id` are one episode's own.
        """
        self._options = {name: value for name, value in options.items() if name != "episode_id"}
        return Turn(self.number, "reset", options if seed is None else {**options, "seed": seed})

    def restart(self) -> Turn:
        """The turn that begins an episode which nobody asked for."""
        return Turn(self.number, "reset", self._options, stand_in=True)

    def step(self, payload: Json) -> Turn:
        """The turn that takes an action, or begins an episode where one is due."""
        return self.restart() if self.phase in self._again else Turn(self.number, "step", payload)

    def settle(self, turn: Turn, outcome: Outcome) -> None:
        """Notes what became of a turn."""
        if not isinstance(outcome, Exception):
            self.phase = Phase.OVER if outcome.done else Phase.RUNNING
        elif isinstance(outcome, ResetRequired):
            self.phase = Phase.OVER
        elif turn.op == "reset" or is_fatal(outcome):
            self.phase = Phase.LOST


def is_fatal(error: Exception) -> bool:
    """Whether an episode cannot go on after an error of one of its turns."""
    if isinstance(error, MessageTooLarge):  # v1 ends the connection, and cannot say whose limit
        return "whose" not in error.details
    alive = isinstance(error, EnvironmentFailed | InvalidRequest)
    return not alive or getattr(error, "code", None) in ENDING_CODES
