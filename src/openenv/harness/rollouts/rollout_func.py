"""A rollout function, as TRL's trainers call it, over sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from openenv.harness.collecting.records import trace_of
from openenv.harness.rollouts.results import HarnessRolloutResult, HarnessRunLimits, VerifyResult
from openenv.harness.rollouts.rewards import REWARD_ERROR, resolve_env_reward
from openenv.harness.rollouts.rollout_errors import RewardInvalid
from openenv.harness.rollouts.tokens import TokenSequence
from openenv.protocol.errors import Json, ProtocolError

if TYPE_CHECKING:
    from openenv.harness.rollouts.results import ModelStep
    from openenv.harness.rollouts.sessions import ResourceSession
    from openenv.harness.rollouts.white_box import HarnessAdapter

RolloutFunction: TypeAlias = Callable[[list[Any], Any], dict[str, list[Any]]]
"""Plays one episode for each prompt; gives lists of one item for each."""


class MakesSessions(Protocol):
    """What makes sessions: a `ResourceSessionFactory`, or what looks like one."""

    def create(self, task: Any) -> ResourceSession:
        """Begins an episode."""


def build_harness_rollout_func(
    *,
    session_factory: MakesSessions,
    harness_adapter: HarnessAdapter,
    model_step_builder: Callable[[Any, ResourceSession], ModelStep],
    limits: HarnessRunLimits | None = None,
    reward_key: str = "env_reward",
) -> RolloutFunction:
    """A function for `GRPOTrainer(rollout_func=…)`: one episode, in a session of its own, a prompt.

    What it returns has a list with one item for each prompt under `prompt_ids`,
    `completion_ids`, `logprobs`, `reward_key` and `verify_metrics`; and, where a rollout had
    several turns, under `env_mask` (1 for tokens that the model sampled). A reward that could not
    be computed is `None`, which TRL leaves out of its means, and `verify_metrics["reward_error"]`
    says why.

    Args:
        session_factory: makes a session of each prompt; a prompt comes as often as the trainer
            wants generations of it.
        harness_adapter: plays it.
        model_step_builder: the model's step, by the trainer and the session.
        limits: of each episode.
        reward_key: under which the rewards are returned, and given to reward functions.

    The function raises `RolloutFailed` if an episode cannot be played to its end, and
    `RewardError` if one has no reward at all. No session is left open.
    """

    def play(task: Any, trainer: Any) -> tuple[HarnessRolloutResult, VerifyResult]:
        session = session_factory.create(task)
        try:
            step = model_step_builder(trainer, session)
            rollout = harness_adapter.run_white_box(step, session, limits)
            return rollout, judged(session, rollout)
        finally:
            session.close()

    def rollout_func(prompts: list[Any], trainer: Any) -> dict[str, list[Any]]:
        played = [play(prompt, trainer) for prompt in prompts]
        tokens = [TokenSequence.of(rollout) for rollout, _ in played]
        scores = [_score(rollout, verify) for rollout, verify in played]
        columns: dict[str, list[Any]] = {
            "prompt_ids": [row.prompt_ids for row in tokens],
            "completion_ids": [row.completion_ids for row in tokens],
            "logprobs": [row.logprobs for row in tokens],
            reward_key: [reward for reward, _ in scores],
            "verify_metrics": [metrics for _, metrics in scores],
        }
        if any(0 in row.env_mask for row in tokens):
            columns["env_mask"] = [row.env_mask for row in tokens]
        return columns

    return rollout_func


def judged(session: ResourceSession, rollout: HarnessRolloutResult) -> VerifyResult:
    """What a session says of a rollout.

    Raises:
        ProtocolError: something else.
    """
    verdict = session.verify(rollout.messages, final_state=final_state(rollout))
    if not isinstance(verdict, VerifyResult):
        raise ProtocolError(
            f"verify() of {type(session).__name__} must return a VerifyResult, got a "
            f"{type(verdict).__name__}"
        )
    return verdict


def final_state(rollout: HarnessRolloutResult) -> Json:
    """What a harness tells `verify` of a rollout."""
    return {
        "done": rollout.done,
        "metrics": dict(rollout.metrics),
        "events": [dict(vars(event)) for event in rollout.events],
        "tool_trace": trace_of(rollout),
    }


def _score(rollout: HarnessRolloutResult, verify: VerifyResult) -> tuple[float | None, Json]:
    """The reward, if it is valid, and what was said of the episode."""
    try:
        return resolve_env_reward(rollout, verify), dict(verify.metrics)
    except RewardInvalid as error:
        return None, {REWARD_ERROR: str(error), **verify.metrics}
