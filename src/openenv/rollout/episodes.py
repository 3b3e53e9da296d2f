"""One episode, played by a policy over a lane and written down as it goes."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from openenv._version import __version__
from openenv.client.results import StepResult
from openenv.protocol.errors import Json, OpenEnvError, SessionError
from openenv.rollout.environment_spec import EnvironmentSpec
from openenv.rollout.lanes import Lane, Turn
from openenv.rollout.policies import Choice, Policy
from openenv.rollout.trajectory import Beginning, End, Trajectory, Transition, seen


class PolicyFailed(OpenEnvError, RuntimeError):
    """A policy raised, or gave something that is no action."""


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One episode that is to be played.

    Attributes:
        episode_id: its name.
        seed: of its reset and of its policy.
        options: what its reset is given beside these.
        max_steps: how long it may be.
    """

    episode_id: str
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)
    max_steps: int = 1000


class Playing:
    """An episode while it is played.

    Args:
        episode: what is played.
        spec: in which environment.
        policy: by whom.
        lane: how its server is reached.
        slot: as which of the lane's.
    """

    def __init__(
        self, episode: Episode, spec: EnvironmentSpec, policy: Policy, lane: Lane, slot: int
    ) -> None:
        self._episode = episode
        self._spec = spec
        self._policy = policy
        self._lane = lane
        self._slot = slot
        self._started_at = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        self._reset: Beginning | None = None
        self._steps: list[Transition] = []

    async def play(self) -> Trajectory:
        """Plays it to its end, which may be an error."""
        try:
            return self._trajectory(await self._until_end())
        except Exception as error:  # noqa: BLE001  # anyone's code may raise anything
            return self._trajectory("error", error)

    async def _until_end(self) -> End:
        result, latency_ms = await self._ask("reset", self._reset_keywords())
        self._reset = Beginning(
            observation=seen(result), metadata=result.metadata or {}, latency_ms=latency_ms
        )
        act = self._policy.episode(self._episode.seed, self._spec)
        while not result.done and len(self._steps) < self._episode.max_steps:
            action = await self._choice(act(result))
            if action is None:
                return "limit"
            result, latency_ms = await self._ask("step", action)
            self._steps.append(_transition(action, result, latency_ms))
        if not result.done:
            return "limit"
        return "truncated" if result.truncated else "terminated"

    def _reset_keywords(self) -> Json:
        episode = self._episode
        return {**episode.options, "seed": episode.seed, "episode_id": episode.episode_id}

    async def _choice(self, chosen: Any) -> Choice:
        choice = await chosen if inspect.isawaitable(chosen) else chosen
        if choice is not None and not isinstance(choice, dict):
            raise PolicyFailed(
                f"the policy {self._policy.name!r} must give an action as a dict, or None to stop; "
                f"it gave a {type(choice).__name__}"
            )
        return choice

    async def _ask(self, op: Any, data: Json) -> tuple[StepResult[Json], float]:
        began = time.perf_counter()
        (outcome,) = await self._lane.perform([Turn(self._slot, op, data)])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome, round((time.perf_counter() - began) * 1000, 3)

    def _trajectory(self, end: End, error: Exception | None = None) -> Trajectory:
        return Trajectory(
            episode_id=self._episode.episode_id,
            seed=self._episode.seed,
            environment={"name": self._spec.name, "version": self._spec.version},
            openenv_version=__version__,
            policy=self._policy.name,
            options=dict(self._episode.options),
            started_at=self._started_at,
            reset=self._reset,
            steps=self._steps,
            end=end,
            error=None if error is None else _told(error),
        )


def _transition(action: Json, result: StepResult[Json], latency_ms: float) -> Transition:
    return Transition(
        action=action,
        observation=seen(result),
        reward=result.reward,
        terminated=result.terminated,
        truncated=result.truncated,
        metadata=result.metadata or {},
        latency_ms=latency_ms,
    )


def _told(error: Exception) -> Json:
    code = error.code if isinstance(error, SessionError) else None
    message = error.message if isinstance(error, SessionError) else str(error)
    return {"type": type(error).__name__, "code": code, "message": message}
