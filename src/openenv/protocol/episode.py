"""Where an episode stands: `NEW →reset→ RUNNING →step(done)→ OVER →reset→ RUNNING`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from openenv.protocol.errors import ResetRequired


def counted(steps: int) -> str:
    """A number of steps, for an error text."""
    return f"{steps} step{'' if steps == 1 else 's'}"


class Phase(Enum):
    """The states of an episode."""

    NEW = "new"
    RUNNING = "running"
    OVER = "over"


@dataclass
class Episode:
    """One session's current episode.

    Attributes:
        phase: where it stands.
        step_count: steps taken since its reset.
    """

    phase: Phase = Phase.NEW
    step_count: int = 0

    def require_running(self) -> None:
        """Refuses a step that belongs to no episode.

        Raises:
            ResetRequired: before the first reset, and after the end.
        """
        if self.phase is Phase.NEW:
            raise ResetRequired("step before reset: no episode has begun; call reset() first")
        if self.phase is Phase.OVER:
            raise ResetRequired(
                f"step after done: the episode ended after {counted(self.step_count)}; call "
                "reset() to begin the next"
            )

    def began(self) -> None:
        """A reset succeeded."""
        self.phase = Phase.RUNNING
        self.step_count = 0

    def stepped(self, *, done: bool) -> None:
        """A step succeeded."""
        self.step_count += 1
        self.phase = Phase.OVER if done else Phase.RUNNING
