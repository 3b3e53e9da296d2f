"""One episode, played by a policy over a lane and written down as it goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

from openenv._version import __version__
from openenv.client.results import StepResult
from openenv.protocol.errors import InvalidRequest, Json, ResetRequired, SessionError
from openenv.rollout.lanes import Lane, Turn
from openenv.rollout.policies.calls import PolicyCalls, PolicyFailed, PolicyThread
from openenv.rollout.policies.environment_spec import EnvironmentSpec
from openenv.rollout.policies.policy import Act, Choice, Policy
from openenv.rollout.trajectories.plain import copied
from openenv.rollout.trajectories.trajectory import Beginning, End, Trajectory, Transition, seen


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


@dataclass(frozen=True, kw_only=True)
class Player:
    """A policy in an environment, as one session plays it.

    Attributes:
        policy: who chooses.
        spec: in which environment.
        calls: of the policy.
        thread: for calls that may block.
    """

    policy: Policy
    spec: EnvironmentSpec
    calls: PolicyCalls
    thread: PolicyThread

    async def begin(self, seed: int) -> Act:
        """What plays an episode.

        Raises:
            PolicyFailed: the policy does not.
        """
        act: Act = await self._called(self.policy.episode, seed, self.spec)
        return act

    async def choose(self, act: Act, result: StepResult[Json]) -> Choice:
        """The next action, or `None` to stop.

        Raises:
            PolicyFailed: there is none.
        """
        choice = await self.calls.result(await self._called(act, result))
        if choice is None:
            return None
        if not isinstance(choice, dict):
            raise PolicyFailed(
                f"the policy {self.policy.name!r} must give an action as a dict, or None to stop; "
                f"it gave a {type(choice).__name__}"
            )
        try:
            action: Json = copied(choice)
        except RecursionError as error:
            raise PolicyFailed(
                f"the policy {self.policy.name!r} gave an action that is too deep, or contains "
                "itself"
            ) from error
        return action

    async def _called(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self.policy.blocks:
            return await self.thread.call(function, *arguments)
        return self.calls.made(function, *arguments)

    def tell(self, act: Act, what: str, said: object) -> bool:
        """Tells whatever plays an episode something; whether it listens to such.

        Raises:
            PolicyFailed: it raised.
        """
        listens = getattr(act, what, None)
        if listens is not None:
            self.calls.made(listens, said)
        return listens is not None


class Playing:
    """An episode while it is played.

    Args:
        episode: what is played.
        player: by whom.
        lane: how its server is reached.
        slot: as which of the lane's.
        tell: called with the slot and the number of steps so far, after the reset and each step.

    Attributes:
        began: its reset has succeeded.
        failure: the error that ended it.
    """

    def __init__(
        self,
        episode: Episode,
        player: Player,
        lane: Lane,
        slot: int,
        tell: Callable[[int, int], object],
    ) -> None:
        self._episode = episode
        self._player = player
        self._lane = lane
        self._slot = slot
        self._tell = tell
        self._started_at = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        self._reset: Beginning | None = None
        self._steps: list[Transition] = []
        self._messages: list[Json] | None = None
        self.failure: Exception | None = None

    @property
    def began(self) -> bool:
        """Whether its reset has succeeded."""
        return self._reset is not None

    async def play(self) -> Trajectory:
        """Plays it to its end, which may be an error."""
        try:
            return self._trajectory(await self._until_end())
        except Exception as error:  # noqa: BLE001  # anyone's code may raise anything
            self.failure = error
            return self._trajectory("error")

    async def _until_end(self) -> End:
        result, latency_ms = await self._ask("reset", self._keywords())
        self._reset = Beginning(
            observation=seen(result),
            metadata=copied(result.metadata or {}),
            latency_ms=latency_ms,
        )
        self._tell(self._slot, 0)
        act = await self._player.begin(self._episode.seed)
        self._messages = getattr(act, "messages", None)
        for _ in range(self._episode.max_steps):
            if result.done:
                break
            action = await self._player.choose(act, result)
            if action is None:
                return "limit"
            result = await self._step(act, action, result)
        self._player.tell(act, "ended", result)
        if not result.done:
            return "limit"
        return "truncated" if result.truncated else "terminated"

    async def _step(self, act: Act, action: Json, last: StepResult[Json]) -> StepResult[Json]:
        """The result of a step; the last one again, if an action was refused that may be."""
        try:
            result, latency_ms = await self._ask("step", action)
        except InvalidRequest as refusal:
            if isinstance(refusal, ResetRequired) or not self._player.tell(act, "refused", refusal):
                raise
            return last
        self._steps.append(_transition(action, result, latency_ms))
        self._tell(self._slot, len(self._steps))
        return result

    def _keywords(self) -> Json:
        episode = self._episode
        return {**episode.options, "seed": episode.seed, "episode_id": episode.episode_id}

    async def _ask(
        self, op: Literal["reset", "step"], data: Json
    ) -> tuple[StepResult[Json], float]:
        began = time.perf_counter()
        (outcome,) = await self._lane.perform([Turn(self._slot, op, data)])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome, round((time.perf_counter() - began) * 1000, 3)

    def _trajectory(self, end: End) -> Trajectory:
        player = self._player
        return Trajectory(
            episode_id=self._episode.episode_id,
            seed=self._episode.seed,
            environment=player.spec.identity,
            openenv_version=__version__,
            policy=player.policy.name,
            options=dict(self._episode.options),
            started_at=self._started_at,
            reset=self._reset,
            steps=self._steps,
            end=end,
            error=None if self.failure is None else told(self.failure),
            messages=None if self._messages is None else list(self._messages),
        )


def told(error: Exception) -> Json:
    """An error as a trajectory keeps it."""
    code = error.code if isinstance(error, SessionError) else None
    message = error.message if isinstance(error, SessionError) else str(error)
    return {"type": type(error).__name__, "code": code, "message": message}


def _transition(action: Json, result: StepResult[Json], latency_ms: float) -> Transition:
    return Transition(
        action=action,
        observation=seen(result),
        reward=result.reward,
        terminated=result.terminated,
        truncated=result.truncated,
        metadata=copied(result.metadata or {}),
        latency_ms=latency_ms,
    )
