"""What can go wrong with a rollout, and with its reward.

ToolNotFound          a session has no such tool (also KeyError)
└── ReservedTool      no agent may call it
RolloutFailed         an episode could not be played to its end; what was played is kept
RewardError           an episode's session and its environment say different rewards (ValueError)
├── RewardMissing     neither says any
└── RewardInvalid     there should be one, but it could not be computed, or is no finite number
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openenv.protocol.errors import OpenEnvError

if TYPE_CHECKING:
    from openenv.harness.rollouts.results import HarnessRolloutResult


class ToolNotFound(OpenEnvError, KeyError):
    """A session has no tool of that name."""

    __str__ = Exception.__str__  # a KeyError's own puts its text in quotation marks


class ReservedTool(ToolNotFound):
    """A tool of that name would control the episode, which is the trainer's to do."""


class RolloutFailed(OpenEnvError, RuntimeError):
    """An episode could not be played to its end. Its cause says why.

    Attributes:
        rollout: what was played until then.
    """

    def __init__(self, message: str, rollout: HarnessRolloutResult) -> None:
        super().__init__(message)
        self.rollout = rollout

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.rollout)


class RewardError(OpenEnvError, ValueError):
    """An episode has no reward that can be used."""


class RewardMissing(RewardError):
    """An episode has no reward, and none was to be expected."""


class RewardInvalid(RewardError):
    """A reward could not be computed, or it is no finite number. It must never count as a zero."""
