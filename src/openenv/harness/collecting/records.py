"""Episodes on disk: one a line, appended as they end, so that a run that was cut off goes on."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python
from typing_extensions import Self

from openenv.harness.rollouts.rewards import STEP_REWARDS, resolve_env_reward
from openenv.harness.rollouts.rollout_errors import RewardInvalid, RewardMissing
from openenv.protocol.errors import ConfigurationError, Json, OpenEnvError
from openenv.rollout.trajectories.folder_lock import alone_in
from openenv.rollout.trajectories.json_lines import append, is_cut_off, mend

if TYPE_CHECKING:
    from openenv.harness.rollouts.results import HarnessRolloutResult, VerifyResult

RESULTS_FILENAME = "results.jsonl"
FAILURES_FILENAME = "failures.jsonl"
METADATA_FILENAME = "metadata.json"
_BEGINNING = b'{"episode_id": '
"""What every record begins with."""


class NotJson(OpenEnvError, ValueError):
    """Of a part of a record there is no JSON."""


@dataclass(frozen=True)
class EpisodeRecord:
    """One episode that was played.

    Attributes:
        episode_id: its name in this collection.
        messages: the conversation; of a policy's episode what was seen (`user`) and done
            (`assistant`), as JSON texts.
        reward: the episode's reward, `None` where there is none.
        done: whether the environment has ended it.
        tool_trace: each call or step: `tool_name`, `arguments` and `result`.
        metrics: `turns`, `truncated`: whether a limit ended it, `stopped_by`: what did, and what
            else its harness counts; `step_rewards`, what each step is worth, where its environment
            says so.
        verify_metrics: what its session says of it.
        artifacts: what else its session keeps of it.
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

    @classmethod
    def from_rollout(
        cls,
        episode_id: str,
        rollout: HarnessRolloutResult,
        verify: VerifyResult,
        task: Any = None,
        extra: Json | None = None,
    ) -> Self:
        """The record of a rollout.

        Raises:
            RewardInvalid: its reward could not be computed, or is no finite number.
            RewardError: its session and its environment say different rewards.
        """
        return cls(
            episode_id,
            list(rollout.messages),
            _reward_if_any(rollout, verify),
            rollout.episode_ended or verify.done,
            trace_of(rollout),
            {**rollout.metrics, **_credit(verify)},
            {name: said for name, said in verify.metrics.items() if name != STEP_REWARDS},
            dict(verify.artifacts),
            task,
            dict(extra or {}),
        )

    def to_dict(self) -> Json:
        """The record as JSON takes it.

        Bytes become base64 text, NaN and infinities text; what JSON cannot say is written as
        `str` does.

        Raises:
            NotJson: it contains itself, or is too deep.
        """
        return {name: _as_json(value) for name, value in vars(self).items()}


class RolloutSerializer:
    """The files of one collection.

    Args:
        output_dir: the folder; it is made with the first record.
    """

    def __init__(self, output_dir: str | Path) -> None:
        self.output_dir = Path(output_dir)
        self._whole: set[Path] = set()
        self._is_alone = False

    @property
    def results_path(self) -> Path:
        """The records, one a line."""
        return self.output_dir / RESULTS_FILENAME

    @property
    def failures_path(self) -> Path:
        """The records of episodes that failed, as far as they came, one a line."""
        return self.output_dir / FAILURES_FILENAME

    @property
    def metadata_path(self) -> Path:
        """What is known of the collection as a whole."""
        return self.output_dir / METADATA_FILENAME

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other runs out of the folder, which would write every episode a second time.

        Raises:
            FolderBusy: there is another run.
        """
        if self._is_alone:
            yield
            return
        with alone_in(self.output_dir):
            self._is_alone = True
            try:
                yield
            finally:
                self._is_alone = False

    def collected_episode_ids(self) -> set[str]:
        """The episodes that are there. A last line that was cut off in writing is taken away.

        Raises:
            ConfigurationError: the file holds something else.
        """
        try:
            with self.results_path.open("rb") as results:
                found = {
                    self._id_in(number, line)
                    for number, line in enumerate(results, 1)
                    if line.strip() and not is_cut_off(line, _BEGINNING)
                }
        except FileNotFoundError:
            return set()
        self._mend(self.results_path)
        return found

    def write_episode(self, record: EpisodeRecord) -> None:
        """Appends a record: all of it, or nothing.

        Raises:
            NotJson: there is no JSON of it.
            OSError: it could not be written.
        """
        self._append(self.results_path, record.to_dict())

    def write_failure(self, record: EpisodeRecord) -> None:
        """Appends the record of an episode that failed, beside those that did not.

        A part of it of which there is no JSON becomes text that says so.
        """
        self._append(self.failures_path, {n: _or_why(value) for n, value in vars(record).items()})

    def write_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Writes the metadata anew, whole or not at all."""
        self.output_dir.mkdir(parents=True, exist_ok=True)
        fresh = self.metadata_path.with_suffix(".tmp")
        fresh.write_text(json.dumps(dict(metadata), indent=2) + "\n", encoding="utf-8")
        fresh.replace(self.metadata_path)

    def set_aside(self) -> Path | None:
        """Renames what there is so that new files begin; the records' new name, if there were any.

        Trajectories go first: records without any are known to be such.
        """
        stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
        for path in sorted(self.output_dir.glob("trajectories.*")):
            if ".bak." not in path.name:
                path.rename(path.with_name(path.name.replace(".", f".{stamp}.bak.", 1)))
        if not self.results_path.exists():
            return None
        return self.results_path.rename(self.output_dir / f"results.{stamp}.bak.jsonl")

    def _append(self, path: Path, record: Json) -> None:
        self.output_dir.mkdir(parents=True, exist_ok=True)
        self._mend(path)
        with path.open("ab", buffering=0) as records:
            append(records, [json.dumps(record).encode()], path)

    def _mend(self, path: Path) -> None:
        """Takes away a last line that a killed writer left unfinished; once for each file."""
        if path not in self._whole:
            mend(path, _BEGINNING)
            self._whole.add(path)

    def _id_in(self, number: int, line: bytes) -> str:
        try:
            return str(json.loads(line)["episode_id"])
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{self.results_path}:{number} is no record of an episode; correct it, or begin "
                "anew with --no-resume (resume=False)"
            ) from error


@dataclass(kw_only=True)
class CollectResult:
    """How a run went.

    Attributes:
        num_collected: episodes that were written.
        num_skipped: those that were there already.
        num_dropped: those that nobody wanted to keep.
        num_failed: those that an error ended.
        num_unscored: those whose reward could not be computed; they count as nothing else.
        num_cut: those of the written ones that a limit ended, not the environment.
        episode_ids: of the episodes that were written.
        failures: how many failed by which kind of error.
        rewards: of the episodes that were written and have one.
    """

    num_collected: int = 0
    num_skipped: int = 0
    num_dropped: int = 0
    num_failed: int = 0
    num_unscored: int = 0
    num_cut: int = 0
    episode_ids: list[str] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    rewards: list[float] = field(default_factory=list, repr=False)

    @property
    def avg_reward(self) -> float:
        """The mean reward of the episodes that were written and have one; NaN if there are none."""
        return sum(self.rewards) / len(self.rewards) if self.rewards else math.nan

    @property
    def success_rate(self) -> float:
        """The share of them with a reward above 0; NaN if there are none."""
        return sum(r > 0 for r in self.rewards) / len(self.rewards) if self.rewards else math.nan

    def collected(self, record: EpisodeRecord) -> None:
        """Counts an episode that was written."""
        self.num_collected += 1
        self.num_cut += record.metrics.get("stopped_by") == "limit"
        self.episode_ids.append(record.episode_id)
        if record.reward is not None:
            self.rewards.append(record.reward)

    def failed(self, error: Exception) -> None:
        """Counts an episode that was not: by its error, or as one without a valid reward."""
        if isinstance(error, RewardInvalid):
            self.num_unscored += 1
            return
        self.failed_by(type(error.__cause__ or error).__name__)

    def failed_by(self, kind: str) -> None:
        """Counts an episode that was not, by the name of its error's type."""
        self.num_failed += 1
        self.failures[kind] = self.failures.get(kind, 0) + 1

    def to_dict(self) -> Json:
        """The result as JSON takes it; what is NaN is `None`."""
        counts = {name: value for name, value in vars(self).items() if name != "rewards"}
        means = {"avg_reward": self.avg_reward, "success_rate": self.success_rate}
        known = {name: None if math.isnan(mean) else mean for name, mean in means.items()}
        return {**counts, **known}


def trace_of(rollout: HarnessRolloutResult) -> list[Json]:
    """The calls of a rollout as plain dicts."""
    return [{**vars(call), "result": dict(vars(call.result))} for call in rollout.tool_trace]


def _as_json(value: Any) -> Any:
    try:
        return _strict(to_jsonable_python(value, bytes_mode="base64", fallback=str))
    except (ValueError, RecursionError) as error:
        raise NotJson(f"a part of an episode's record has no JSON: {error}") from error


def _or_why(value: Any) -> Any:
    try:
        return _as_json(value)
    except NotJson as error:
        return str(error)


def _strict(value: Any) -> Any:
    """A JSON value whose NaN and infinities are text: strict readers know no such numbers."""
    if isinstance(value, dict):
        return {name: _strict(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_strict(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _credit(verify: VerifyResult) -> Json:
    return {name: said for name, said in verify.metrics.items() if name == STEP_REWARDS}


def _reward_if_any(rollout: HarnessRolloutResult, verify: VerifyResult) -> float | None:
    try:
        return resolve_env_reward(rollout, verify)
    except RewardMissing:
        return None
