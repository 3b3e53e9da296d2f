"""What a client gets back from a reset or a step."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Generic

from typing_extensions import TypeVar

ObsT_co = TypeVar("ObsT_co", default=Any, covariant=True)


@dataclass
class StepResult(Generic[ObsT_co]):
    """One step's outcome.

    Attributes:
        observation: what the agent sees.
        reward: the step's reward, `None` where there is none.
        done: the episode has ended, for either reason.
        metadata: what came along with the observation.
        truncated: a limit ended the episode, not its own rules.
    """

    observation: ObsT_co
    reward: float | None = None
    done: bool = False
    metadata: dict[str, Any] | None = None
    truncated: bool = False

    @property
    def terminated(self) -> bool:
        """The episode ended by its own rules."""
        return self.done and not self.truncated

    @property
    def reward_error(self) -> dict[str, Any] | None:
        """Why there is no reward though there should be one; `None` if that is not so.

        A verifier failed: `rubric`, `error` and `message` say which and how (`rubric` is `None` if
        the environment itself gave what is no number). It is no reward of 0, and belongs into no
        mean.
        """
        error: dict[str, Any] | None = (self.metadata or {}).get("reward_error")
        return error


class PendingResult(StepResult[ObsT_co]):
    """What type checkers see where a client may block or be awaited.

    A blocking call gives a `StepResult`; an awaiting one something that gives it when awaited.
    """

    def __await__(self) -> Generator[Any, None, StepResult[ObsT_co]]:
        """The result, awaited."""
        raise NotImplementedError("only for type checkers")
