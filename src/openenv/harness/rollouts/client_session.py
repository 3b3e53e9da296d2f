"""A session over a client of a served environment: one episode, from its reset to its close."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, Protocol, TypeAlias, cast, get_args

from openenv.client.results import StepResult
from openenv.harness.rollouts.results import Message, VerifyResult
from openenv.harness.rollouts.rewards import RETURN, REWARD, REWARD_ERROR, STEP_REWARDS
from openenv.harness.rollouts.sessions import ResourceSession
from openenv.protocol.errors import ConfigurationError, EnvironmentFailed, Json
from openenv.rollout.trajectories.reward_errors import reward_failure

MessagesBuilder: TypeAlias = Callable[[StepResult[Any], Any], list[Message]]
"""The conversation before the first turn, by the reset's result and the task."""
VerifyBuilder: TypeAlias = Callable[[list[Message], Any, StepResult[Any] | None, Any], VerifyResult]
"""The verdict, by the conversation, the harness's final state, the last result and the state."""


RewardOf: TypeAlias = Literal["last", "sum"]
"""An episode's reward: its last step's, or the sum of all its steps'."""


class BlockingClient(Protocol):
    """What a session needs of a client."""

    def reset(self, **options: Any) -> StepResult[Any]:
        """Begins an episode."""

    def step(self, action: Any) -> StepResult[Any]:
        """Takes an action."""

    def close(self) -> object:
        """Ends the session."""


class ClientSession(ResourceSession):
    """An episode of a client. It is the client's only user, and closes it.

    Args:
        client: an `EnvClient`, or anything whose `reset`, `step`, `state` and `close` block; its
            blocking form is used if it has one.
        verify_builder: how the episode is judged; by default by its reward so far.
        reward: what that is: the `"last"` step's, or the `"sum"` of all.
    """

    def __init__(
        self,
        client: Any,
        verify_builder: VerifyBuilder | None = None,
        reward: RewardOf = "last",
    ) -> None:
        blocking = getattr(client, "sync", None)
        self._client = cast("BlockingClient", blocking() if callable(blocking) else client)
        self._verdict_of = verify_builder
        self._score = _Score(reward)
        self._last: StepResult[Any] | None = None
        self._state: Any = None

    def verify(self, transcript: list[Message], final_state: Any | None = None) -> VerifyResult:
        """The builder's verdict, or the reward so far and the last step's end."""
        last = self._last
        if self._verdict_of is not None:
            return self._verdict_of(transcript, final_state, last, self._state)
        return VerifyResult(
            env_reward=self._score.reward,
            done=last is not None and last.done,
            metrics={**self._score.failed(), **credit(last)},
            artifacts={"final_state": self._state, "transcript_length": len(transcript)},
        )

    def close(self) -> None:
        """Ends the session of the client, whose slot is free when this returns."""
        self._client.close()

    def _begin(
        self, seed: int | None, episode_id: str | None, options: Json | None
    ) -> StepResult[Any]:
        given = {"seed": seed, "episode_id": episode_id}
        named = {name: value for name, value in given.items() if value is not None}
        result = self._client.reset(**{**named, **(options or {})})
        self._observe(result)
        return result

    def _act(self, action: Any) -> StepResult[Any]:
        result = self._client.step(action)
        self._score.add(result)
        self._observe(result)
        return result

    def _observe(self, result: StepResult[Any]) -> None:
        self._last = result
        state = getattr(self._client, "state", None)
        self._state = None
        if callable(state):
            with suppress(EnvironmentFailed):  # the step was taken all the same
                self._state = state()


class _Score:
    """The reward of an episode so far, where it has one."""

    def __init__(self, of: RewardOf) -> None:
        if of not in get_args(RewardOf):
            raise ConfigurationError(f"reward must be 'last' or 'sum', got {of!r}")
        self.reward: float | None = None
        self.failure: Json | None = None
        self._is_a_sum = of == "sum"
        self._step: Json = {REWARD: None}

    def add(self, result: StepResult[Any]) -> None:
        """Takes a step; a sum of which one part is not known is not known."""
        failure = reward_error(result)
        self._step = {REWARD: result.reward}
        if failure is not None:
            self._step = {REWARD: None, REWARD_ERROR: failure}
        if self._is_a_sum and self.failure is not None:
            return
        self.failure = failure
        if self.failure is not None:
            self.reward = None
        elif not self._is_a_sum:
            self.reward = result.reward
        elif result.reward is not None:
            self.reward = (self.reward or 0.0) + result.reward

    def as_metadata(self) -> Json:
        """What the last step gave, and the sum so far where that is the episode's reward."""
        return {**self._step, **({RETURN: self.reward} if self._is_a_sum else {})}

    def failed(self) -> Json:
        """Why there is no reward, if there should be one."""
        return {} if self.failure is None else {REWARD_ERROR: self.failure}


def credit(last: StepResult[Any] | None) -> Json:
    """What each step is worth, where the environment says so when an episode ends."""
    told = (last.metadata or {}).get(STEP_REWARDS) if last is not None else None
    return {} if told is None else {STEP_REWARDS: told}


def reward_error(result: StepResult[Any]) -> Json | None:
    """Why a step has no reward though it should have one: `rubric`, `error` and `message`."""
    metadata = result.metadata or {}
    if REWARD_ERROR not in metadata:
        metadata = _metadata(result.observation)
    return reward_failure(result.reward, metadata)


def _metadata(observation: Any) -> Json:
    if isinstance(observation, dict):
        found = observation.get("metadata")
    else:
        found = getattr(observation, "metadata", None)
    return found if isinstance(found, dict) else {}
