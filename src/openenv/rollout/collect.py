"""Episodes on disk: one a line, appended as they end, so that a run that was cut off goes on."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from openenv.client.generic import GenericEnvClient
from openenv.client.results import StepResult
from openenv.protocol.errors import (
    ConfigurationError,
    ConnectFailed,
    Json,
    OpenEnvError,
    ProtocolError,
)

RESULTS_FILENAME = "results.jsonl"
METADATA_FILENAME = "metadata.json"
_BEGINNING = b'{"episode_id": '
"""What every record begins with."""

Policy = Callable[[Json], Json]
"""What to do, by what is seen: both as plain dicts."""


@dataclass(frozen=True, kw_only=True)
class EpisodeRecord:
    """One episode that was played.

    Attributes:
        episode_id: its name in this collection.
        messages: what was seen (`user`) and done (`assistant`), in order, as JSON texts.
        reward: the sum of its steps' rewards.
        done: whether it ended by itself, not by the limit of turns.
        tool_trace: each step: its action, and the reward and end that followed.
        metrics: `turns`, and `truncated`: whether a limit ended it.
        verify_metrics: what a verifier says of it; nobody does as yet.
        artifacts: files that belong to it; there are none as yet.
        task: what it was about.
        extra: what else is known, for example its `seed`.
    """

    episode_id: str
    messages: list[Json]
    reward: float | None
    done: bool
    tool_trace: list[Json]
    metrics: Json
    verify_metrics: Json = field(default_factory=dict)
    artifacts: Json = field(default_factory=dict)
    task: Any = None
    extra: Json = field(default_factory=dict)

    def to_dict(self) -> Json:
        """The record as JSON takes it."""
        return asdict(self)


class RolloutSerializer:
    """The files of one collection.

    Args:
        output_dir: the folder; it is made with the first record.
    """

    def __init__(self, output_dir: str | Path) -> None:
        self.output_dir = Path(output_dir)

    @property
    def results_path(self) -> Path:
        """The records, one a line."""
        return self.output_dir / RESULTS_FILENAME

    @property
    def metadata_path(self) -> Path:
        """What is known of the collection as a whole."""
        return self.output_dir / METADATA_FILENAME

    def collected_episode_ids(self) -> set[str]:
        """The episodes that are there. A last line that was cut off in writing is taken away.

        Raises:
            ConfigurationError: the file holds something else.
        """
        try:
            content = self.results_path.read_bytes()
        except FileNotFoundError:
            return set()
        *lines, last = content.split(b"\n")
        found = {self._id_in(number, line) for number, line in enumerate(lines, 1) if line.strip()}
        if _is_cut_off(last):
            os.truncate(self.results_path, len(content) - len(last))
        elif last.strip():
            found.add(self._id_in(len(lines) + 1, last))
            with self.results_path.open("ab") as results:
                results.write(b"\n")
        return found

    def write_episode(self, record: EpisodeRecord) -> None:
        """Appends a record, in one write."""
        self.output_dir.mkdir(parents=True, exist_ok=True)
        line = json.dumps(record.to_dict(), default=str).encode()
        with self.results_path.open("ab", buffering=0) as results:
            results.write(line + b"\n")

    def write_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Writes the metadata anew, whole or not at all."""
        self.output_dir.mkdir(parents=True, exist_ok=True)
        fresh = self.metadata_path.with_suffix(".tmp")
        fresh.write_text(json.dumps(dict(metadata), indent=2) + "\n", encoding="utf-8")
        fresh.replace(self.metadata_path)

    def set_aside(self) -> Path | None:
        """Renames the records so that a new file begins; the new name, if there were any."""
        if not self.results_path.exists():
            return None
        stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
        return self.results_path.rename(self.output_dir / f"results.{stamp}.bak.jsonl")

    def _id_in(self, number: int, line: bytes) -> str:
        try:
            return str(json.loads(line)["episode_id"])
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{self.results_path}:{number} is no record of an episode; correct it, or begin "
                "anew with --no-resume"
            ) from error


def _is_cut_off(line: bytes) -> bool:
    """Whether a line is the beginning of a record, and no more."""
    if not line or not (line.startswith(_BEGINNING) or _BEGINNING.startswith(line)):
        return False
    try:
        json.loads(line)
    except ValueError:
        return True
    return False


@dataclass(kw_only=True)
class CollectResult:
    """How a run went.

    Attributes:
        num_collected: episodes that were written.
        num_skipped: those that were there already.
        num_dropped: those that nobody wanted to keep.
        num_failed: those that an error ended.
        episode_ids: of the episodes that were written.
        rewards: theirs.
    """

    num_collected: int = 0
    num_skipped: int = 0
    num_dropped: int = 0
    num_failed: int = 0
    episode_ids: list[str] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list, repr=False)

    @property
    def avg_reward(self) -> float:
        """The mean reward of the episodes that were written; 0 if there are none."""
        return sum(self.rewards) / len(self.rewards) if self.rewards else 0.0

    @property
    def success_rate(self) -> float:
        """The share of them with a reward above 0."""
        return sum(r > 0 for r in self.rewards) / len(self.rewards) if self.rewards else 0.0

    def to_dict(self) -> Json:
        """The result as JSON takes it."""
        counts = asdict(self)
        del counts["rewards"]
        return {**counts, "avg_reward": self.avg_reward, "success_rate": self.success_rate}


@dataclass(frozen=True, kw_only=True)
class Collection:
    """What is to be played.

    Attributes:
        base_url: the server.
        make_policy: the policy of an episode, by its seed.
        num_episodes: how many there are to be in the end.
        max_turns: the most steps of one episode.
        prefix: what their names begin with; `-000001` and so on follow.
        options: what each reset is given beside the seed and the episode's name.
        keep_losses: whether episodes with a reward below 0 are written.
        task: what the episodes are about.
    """

    base_url: str
    make_policy: Callable[[int], Policy]
    num_episodes: int = 10
    max_turns: int = 9
    prefix: str = "ep"
    options: Mapping[str, Any] = field(default_factory=dict)
    keep_losses: bool = False
    task: Any = None

    def run(
        self, serializer: RolloutSerializer, told: Callable[[str], None] = lambda line: None
    ) -> CollectResult:
        """Plays the episodes that are not there yet, each in a session of its own.

        An episode that fails is counted, and the next one is played.

        Args:
            serializer: where they are written.
            told: is told of each that fails, in a line.

        Raises:
            ConnectFailed: the server is gone; what was written stays.
            ConfigurationError: the file of records holds something else.
        """
        result = CollectResult()
        there = serializer.collected_episode_ids()
        for number in range(1, self.num_episodes + 1):
            episode_id = f"{self.prefix}-{number:06d}"
            if episode_id in there:
                result.num_skipped += 1
                continue
            try:
                record = self._play(episode_id, seed=number)
            except ConnectFailed:
                raise
            except OpenEnvError as error:
                result.num_failed += 1
                told(f"{episode_id} failed: {error}")
                continue
            self._keep(record, serializer, result)
        return result

    def _keep(
        self, record: EpisodeRecord, serializer: RolloutSerializer, result: CollectResult
    ) -> None:
        reward = record.reward or 0.0
        if reward < 0 and not self.keep_losses:
            result.num_dropped += 1
            return
        serializer.write_episode(record)
        result.num_collected += 1
        result.episode_ids.append(record.episode_id)
        result.rewards.append(reward)

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
        reward = sum(step["result"]["reward"] or 0.0 for step in trace)
        if not math.isfinite(reward):
            raise ProtocolError(f"its rewards are {[s['result']['reward'] for s in trace]}")
        return EpisodeRecord(
            episode_id=episode_id,
            messages=messages,
            reward=reward,
            done=result.done,
            tool_trace=trace,
            metrics={"turns": len(trace), "truncated": result.truncated or not result.done},
            task=self.task,
            extra={"seed": seed},
        )


def _message(role: str, content: Json) -> Json:
    return {"role": role, "content": json.dumps(content, ensure_ascii=False, default=str)}


def _traced(action: Json, result: StepResult[Json]) -> Json:
    return {
        "tool_name": "step",
        "arguments": action,
        "result": {"reward": result.reward, "done": result.done},
    }
