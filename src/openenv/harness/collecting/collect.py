"""CollectRunner: episodes that a model plays, into a data set on disk."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from openenv.harness.collecting.records import (
    CollectResult,
    EpisodeRecord,
    NotJson,
    RolloutSerializer,
    trace_of,
)
from openenv.harness.rollouts.results import HarnessRolloutResult, HarnessRunLimits, ModelStep
from openenv.harness.rollouts.rollout_errors import RolloutFailed
from openenv.harness.rollouts.rollout_func import judged
from openenv.protocol.errors import ConfigurationError, ConnectFailed

if TYPE_CHECKING:
    from openenv.harness.rollouts.sessions import ResourceSession, ResourceSessionFactory
    from openenv.harness.rollouts.white_box import HarnessAdapter

logger = logging.getLogger(__name__)


class CollectRunner:
    """Plays episodes, each in a session of its own, and writes each as it ends.

    A run that is cut off, by whatever, loses the episode it was playing; the next run plays that
    one and those after it. Episodes that fail are counted, and kept beside the others in
    `failures.jsonl` as far as they came, together with those whose reward could not be computed;
    they are played anew by the next run, as are episodes that were dropped.

    Args:
        session_factory: makes the sessions; its seeds are the episodes' numbers.
        harness_adapter: plays them.
        serializer: where they are written.
        tasks: what they are about, in order and then from the beginning again; read no further
            than there are episodes. `None` for no tasks.
        limits: of each episode.
    """

    def __init__(
        self,
        *,
        session_factory: ResourceSessionFactory[Any],
        harness_adapter: HarnessAdapter,
        serializer: RolloutSerializer,
        tasks: Iterable[Any] | None = None,
        limits: HarnessRunLimits | None = None,
    ) -> None:
        self._factory = session_factory
        self._adapter = harness_adapter
        self._serializer = serializer
        self._limits = limits
        self._tasks: list[Any] = []
        self._unread = iter(() if tasks is None else tasks)
        self._has_tasks = tasks is not None

    def run(
        self,
        *,
        model_step: ModelStep | None,
        num_episodes: int,
        episode_id_prefix: str = "ep",
        resume: bool = True,
        should_keep: Callable[[EpisodeRecord], bool] | None = None,
        told: Callable[[str], None] = logger.warning,
    ) -> CollectResult:
        """Plays what is not there yet.

        Args:
            model_step: takes the model's turns; `None` for an adapter whose agent does.
            num_episodes: how many there are to be in the end, from 0.
            episode_id_prefix: what their names begin with; `-000000` and so on follow.
            resume: keep what is there and play the rest; otherwise what is there is set aside, in
                `results.TIME.bak.jsonl`.
            should_keep: whether an episode is written; all are by default.
            told: is told, in a line, of each episode that fails; by default the log is.

        Raises:
            ConnectFailed: the server is gone; what was written stays.
            ConfigurationError: there are no tasks to play, or the file of records holds something
                else.
            FolderBusy: another run writes to the folder.
        """
        if num_episodes < 0:
            raise ConfigurationError(f"num_episodes must be a number from 0, got {num_episodes}")
        self._read_tasks(num_episodes)
        result = CollectResult()
        with self._serializer.alone():
            for episode in self._missing(num_episodes, episode_id_prefix, resume, result):
                record = self._attempt(episode, model_step)
                if not isinstance(record, Exception):
                    record = self._kept(record, should_keep, result)
                if isinstance(record, Exception):
                    told(f"{episode.episode_id} failed: {type(record).__name__}: {record}")
                    self._serializer.write_failure(episode.failed(record))
                    result.failed(record)
        return result

    def _kept(
        self,
        record: EpisodeRecord,
        should_keep: Callable[[EpisodeRecord], bool] | None,
        result: CollectResult,
    ) -> EpisodeRecord | Exception:
        """The record, written if it is wanted; or why it cannot be."""
        if should_keep is not None and not should_keep(record):
            result.num_dropped += 1
            return record
        try:
            self._serializer.write_episode(record)
        except NotJson as error:
            return error
        result.collected(record)
        return record

    def _missing(
        self, num_episodes: int, prefix: str, resume: bool, result: CollectResult
    ) -> Iterator[_Episode]:
        """The episodes that are not there yet; the others are counted."""
        if not resume:
            self._serializer.set_aside()
        there = self._serializer.collected_episode_ids()
        for number in range(num_episodes):
            episode_id = f"{prefix}-{number:06d}"
            if episode_id in there:
                result.num_skipped += 1
            else:
                yield _Episode(episode_id, number, self._task(number))

    def _attempt(
        self, episode: _Episode, model_step: ModelStep | None
    ) -> EpisodeRecord | Exception:
        """The record of an episode, or why it failed."""
        try:
            session = self._factory.create(
                episode.task, seed=episode.seed, episode_id=episode.episode_id
            )
            try:
                return episode.play(session, self._adapter, model_step, self._limits)
            finally:
                _close(session)
        except ConnectFailed:
            raise
        except Exception as error:  # noqa: BLE001  # anyone's code may raise anything
            return error

    def _read_tasks(self, num_episodes: int) -> None:
        self._tasks += islice(self._unread, max(0, num_episodes - len(self._tasks)))
        if self._has_tasks and num_episodes > 0 and not self._tasks:
            raise ConfigurationError("tasks is empty: there is nothing to play")

    def _task(self, number: int) -> Any:
        return self._tasks[number % len(self._tasks)] if self._has_tasks else None


class _Episode:
    """One episode, and how far it came."""

    def __init__(self, episode_id: str, seed: int, task: Any) -> None:
        self.episode_id = episode_id
        self.seed = seed
        self.task = task
        self._rollout = HarnessRolloutResult()

    def play(
        self,
        session: ResourceSession,
        adapter: HarnessAdapter,
        model_step: ModelStep | None,
        limits: HarnessRunLimits | None,
    ) -> EpisodeRecord:
        """Plays it and has it judged."""
        try:
            if model_step is None:
                self._rollout = adapter.run_black_box(session, limits)
            else:
                self._rollout = adapter.run_white_box(model_step, session, limits)
        except RolloutFailed as failure:
            self._rollout = failure.rollout
            raise
        verify = judged(session, self._rollout)
        return EpisodeRecord.from_rollout(
            self.episode_id, self._rollout, verify, self.task, {"seed": self.seed}
        )

    def failed(self, error: Exception) -> EpisodeRecord:
        """What there is of it, and why it is no more."""
        why = {"seed": self.seed, "error": type(error).__name__, "message": str(error)}
        rollout = self._rollout
        return EpisodeRecord(
            self.episode_id,
            rollout.messages,
            None,
            rollout.episode_ended,
            trace_of(rollout),
            rollout.metrics,
            task=self.task,
            extra=why,
        )


def _close(session: ResourceSession) -> None:
    """Ends a session; an episode that is played is not lost for a goodbye that fails."""
    try:
        session.close()
    except Exception:  # anyone's code may raise anything
        logger.warning("closing the session of an episode failed", exc_info=True)
