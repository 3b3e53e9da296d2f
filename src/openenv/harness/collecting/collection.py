"""Episodes that policies play, one after the other, into a folder."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from openenv.client.generic import GenericEnvClient
from openenv.client.results import StepResult
from openenv.harness.collecting.records import CollectResult, EpisodeRecord, RolloutSerializer
from openenv.harness.rollouts.client_session import credit, reward_error
from openenv.harness.rollouts.rewards import REWARD, REWARD_ERROR, in_words
from openenv.harness.rollouts.rollout_errors import RewardInvalid
from openenv.protocol.errors import ConnectFailed, Json, OpenEnvError

Policy = Callable[[Json], Json]
"""What to do, by what is seen: both as plain dicts."""


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """What is to be played, whoever plays it.

    Attributes:
        base_url: the server.
        num_episodes: how many there are to be in the end.
        max_turns: the most steps or turns of one episode.
        prefix: what their names begin with; `-000000` and so on follow.
        options: what each reset is given beside the seed, which is the episode's number, and the
            episode's name.
        keep_losses: whether episodes with a reward below 0 are written.
        task: what the episodes are about.
        player: who plays, for the record.
    """

    base_url: str
    num_episodes: int = 10
    max_turns: int = 9
    prefix: str = "ep"
    options: Mapping[str, Any] = field(default_factory=dict)
    keep_losses: bool = False
    task: Any = None
    player: str = "scripted"

    @abstractmethod
    def run(
        self, serializer: RolloutSerializer, told: Callable[[str], None] = lambda line: None
    ) -> CollectResult:
        """Plays the episodes that are not there yet, each in a session of its own.

        An episode that fails is counted, and the next one is played. One with a step whose reward
        could not be computed has none: it is written to the failures, and a later run plays it
        again.

        Args:
            serializer: where they are written.
            told: is told of each that fails, in a line.

        Raises:
            ConnectFailed: the server is gone; what was written stays.
            ConfigurationError: the file of records holds something else.
        """

    def keeps(self, record: EpisodeRecord) -> bool:
        """Whether an episode is written."""
        return self.keep_losses or record.reward is None or record.reward >= 0


@dataclass(frozen=True, kw_only=True)
class Collection(Plan):
    """Episodes that policies play.

    Attributes:
        make_policy: the policy of an episode, by its seed.
    """

    make_policy: Callable[[int], Policy]

    def run(
        self, serializer: RolloutSerializer, told: Callable[[str], None] = lambda line: None
    ) -> CollectResult:
        """See `Plan`."""
        result = CollectResult()
        there = serializer.collected_episode_ids()
        for number in range(self.num_episodes):
            episode_id = f"{self.prefix}-{number:06d}"
            if episode_id in there:
                result.num_skipped += 1
                continue
            try:
                record = self._play(episode_id, seed=number)
            except ConnectFailed:
                raise
            except OpenEnvError as error:
                result.failed(error)
                told(f"{episode_id} failed: {error}")
                continue
            self._keep(record, serializer, result, told)
        return result

    def _keep(
        self,
        record: EpisodeRecord,
        serializer: RolloutSerializer,
        result: CollectResult,
        told: Callable[[str], None],
    ) -> None:
        unscored = _unscored(record)
        if unscored is not None:
            serializer.write_failure(record)
            result.failed(unscored)
            told(f"{record.episode_id}: {unscored}")
            return
        if not self.keeps(record):
            result.num_dropped += 1
            return
        serializer.write_episode(record)
        result.collected(record)

    def _play(self, episode_id: str, seed: int) -> EpisodeRecord:
        policy = self.make_policy(seed)
        messages: list[Json] = []
        trace: list[Json] = []
        with GenericEnvClient(base_url=self.base_url) as client:
            result = client.reset(seed=seed, episode_id=episode_id, **self.options)
            messages.append(_message("user", result.observation))
            while not result.done and len(trace) < self.max_turns:
                action = policy(result.observation)
                result = client.step(action)
                messages.append(_message("assistant", action))
                messages.append(_message("user", result.observation))
                trace.append(_traced(action, result))
        truncated = result.truncated or not result.done
        stopped_by = "environment" if result.done else "limit"
        return EpisodeRecord(
            episode_id=episode_id,
            messages=messages,
            reward=_sum([step["result"] for step in trace]),
            done=result.done,
            tool_trace=trace,
            metrics={
                "turns": len(trace),
                "truncated": truncated,
                "stopped_by": stopped_by,
                **credit(result),
            },
            task=self.task,
            extra={"seed": seed},
        )


def _message(role: str, content: Json) -> Json:
    return {"role": role, "content": json.dumps(content, ensure_ascii=False, default=str)}


def _traced(action: Json, result: StepResult[Json]) -> Json:
    outcome: Json = {"reward": result.reward, "done": result.done}
    failure = reward_error(result)
    if failure is not None:
        outcome.update({REWARD: None, REWARD_ERROR: failure})
    called: Json = {"tool_name": "step", "arguments": action}
    if action.get("type") == "call_tool":
        called = {"tool_name": action["tool_name"], "arguments": action.get("arguments", {})}
    return {**called, "result": outcome}


def _sum(outcomes: list[Json]) -> float | None:
    """The sum of the rewards; none if there are none, or one could not be computed."""
    rewards = [outcome[REWARD] for outcome in outcomes if outcome[REWARD] is not None]
    if not rewards or any(REWARD_ERROR in outcome for outcome in outcomes):
        return None
    return float(sum(rewards))


def _unscored(record: EpisodeRecord) -> RewardInvalid | None:
    """Why an episode has no reward though it should have one."""
    for number, step in enumerate(record.tool_trace, 1):
        failure = step["result"].get(REWARD_ERROR)
        if failure is not None:
            return RewardInvalid(f"the reward of step {number}: {in_words(failure)}")
    return None
