"""Trajectory: one episode as it was played, and everything that is needed to play it again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError
from typing_extensions import Self

from openenv.client.results import StepResult
from openenv.protocol.errors import Json, OpenEnvError
from openenv.rollout.trajectories.plain import NotPlain, copied, from_plain, to_plain
from openenv.rollout.trajectories.reward_errors import reward_failure

FORMAT = "openenv.trajectory/1"
"""What a line of a file of trajectories says it is."""
End = Literal["terminated", "truncated", "limit", "error"]
"""What ended an episode: its own rules, a limit of the environment, `max_steps`, or an error."""


class NotATrajectory(OpenEnvError, ValueError):
    """What was read is no trajectory: another format, or a field that is missing or none."""


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """What a reset gave.

    Attributes:
        observation: what was seen first, without its metadata.
        metadata: what came along with it.
        latency_ms: from the request to its answer, in milliseconds.
    """

    observation: Json
    metadata: Json = field(default_factory=dict)
    latency_ms: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Transition:
    """One step.

    Attributes:
        action: what was done.
        observation: what was seen then, without its metadata.
        reward: the step's; `None` where there is none, or where it could not be computed.
        terminated: the episode ended by its own rules.
        truncated: a limit of the environment ended it.
        metadata: what came along: the reward's tree, `reward_error`, `step_rewards`.
        latency_ms: from the request to its answer, in milliseconds.
    """

    action: Json
    observation: Json
    reward: float | None = None
    terminated: bool = False
    truncated: bool = False
    metadata: Json = field(default_factory=dict)
    latency_ms: float = 0.0

    @property
    def reward_error(self) -> Json | None:
        """Why there is no reward though there should be one; `None` if that is not so."""
        return reward_failure(self.reward, self.metadata)


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """One episode.

    Attributes:
        episode_id: its name, which its reset was given.
        seed: of its reset and of its policy.
        environment: `name` and `version` of what was played, as its server says.
        openenv_version: of who played.
        policy: who chose the actions.
        options: what its reset was given beside the seed and the name.
        started_at: when, in UTC, as ISO 8601 says it.
        reset: what it began with; `None` where that failed.
        steps: what was done and seen, in order.
        end: what ended it.
        error: `type`, `code` (or `None`) and `message` of what went wrong, if `end` is `error`.
        messages: the conversation, in OpenAI's form, where a language model played.
    """

    episode_id: str
    seed: int | None
    environment: Json
    openenv_version: str
    policy: str
    options: Json
    started_at: str
    reset: Beginning | None
    steps: list[Transition]
    end: End
    error: Json | None = None
    messages: list[Json] | None = None

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def total_reward(self) -> float | None:
        """The sum of the steps' rewards.

        `None` where no step has one, where one could not be computed, where the sum is no finite
        number, and where an error ended the episode: such an episode says nothing of its policy,
        and belongs into no mean.
        """
        if self.end == "error" or any(step.reward_error for step in self.steps):
            return None
        rewards = [step.reward for step in self.steps if step.reward is not None]
        total = float(sum(rewards)) if rewards else math.nan
        return total if math.isfinite(total) else None

    def to_dict(self) -> Json:
        """The trajectory as `json.dumps` takes it; see `openenv.rollout.trajectories.plain`.

        Raises:
            NotPlain: it holds what cannot be kept.
        """
        own = {name: to_plain(value) for name, value in vars(self).items() if name not in _PARTS}
        return {
            "format": FORMAT,
            **own,
            "reset": None if self.reset is None else to_plain(vars(self.reset)),
            "steps": [
                {"step": number, **to_plain(vars(step))}
                for number, step in enumerate(self.steps, 1)
            ],
            "length": len(self.steps),
        }

    @classmethod
    def from_dict(cls, said: Any) -> Self:
        """The trajectory that `to_dict` has written.

        Raises:
            NotATrajectory: it is none, or of another version of the format.
        """
        _refuse_others(said)
        try:
            parts = {name: from_plain(value) for name, value in said.items() if name not in _PARTS}
            parts["reset"] = from_plain(said["reset"])
            parts["steps"] = [from_plain(step) for step in _in_order(said)]
            return cls(**vars(_reader().validate_python(parts)))
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            place = ".".join(map(str, fault["loc"]))
            raise NotATrajectory(f"a trajectory whose {place} is none: {fault['msg']}") from error
        except KeyError as error:
            raise NotATrajectory(f"a trajectory without {error}") from error
        except (NotPlain, TypeError) as error:
            raise NotATrajectory(f"a trajectory with a part that is none: {error}") from error


@cache
def _reader() -> TypeAdapter[Trajectory]:
    """Reads plain fields; made when it is first needed, for it takes a while."""
    return TypeAdapter(Trajectory)


_PARTS = ("format", "reset", "steps", "length")


def seen(result: StepResult[Json]) -> Json:
    """A copy of an observation, without its metadata, which a result has beside it."""
    return {name: copied(part) for name, part in result.observation.items() if name != "metadata"}


def _refuse_others(said: Any) -> None:
    if not isinstance(said, Mapping):
        raise NotATrajectory(f"a trajectory is a JSON object, got {type(said).__name__}")
    if said.get("format") != FORMAT:
        raise NotATrajectory(
            f"its format is {said.get('format')!r}, not {FORMAT!r}; read it with the version of "
            "OpenEnv that wrote it"
        )


def _in_order(said: Mapping[str, Any]) -> list[Json]:
    """The steps, without their numbers.

    Raises:
        NotATrajectory: one is missing, or there is one too many.
    """
    steps = []
    for number, step in enumerate(said["steps"], 1):
        if not isinstance(step, Mapping) or step.get("step", number) != number:
            raise NotATrajectory(f"step {number} is missing, or is there twice")
        steps.append({name: value for name, value in step.items() if name != "step"})
    if said.get("length", len(steps)) != len(steps):
        raise NotATrajectory(
            f"it has {len(steps)} steps, and says that they are {said['length']}: step "
            f"{min(len(steps), said['length']) + 1} is missing, or one too many"
        )
    return steps
