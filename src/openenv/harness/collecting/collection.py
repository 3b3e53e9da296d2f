"""Episodes that a policy plays, into a folder: records and trajectories, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openenv.harness.collecting.records import CollectResult, EpisodeRecord, RolloutSerializer
from openenv.harness.collecting.trajectory_records import record_of, unscored
from openenv.protocol.errors import ConfigurationError
from openenv.rollout.background import run_apart
from openenv.rollout.collecting.collect import planned
from openenv.rollout.collecting.crew import Terms
from openenv.rollout.collecting.episodes import Episode
from openenv.rollout.collecting.recording import Line
from openenv.rollout.collecting.run import Run, Tracker
from openenv.rollout.policies.environment_spec import EnvironmentSpec
from openenv.rollout.policies.policy import Policy
from openenv.rollout.trajectories.store import (
    PARQUET,
    TRAJECTORIES_FILENAME,
    TrajectoryWriter,
    file_of,
    journal_of,
    load_trajectories,
)
from openenv.rollout.trajectories.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True)
class Collection:
    """What is to be played, and how.

    Attributes:
        spec: the environment, and where it is served.
        policy: who plays.
        num_episodes: how many there are to be in the end.
        max_turns: the most steps of one episode.
        prefix: what their names begin with; `-000000` and so on follow.
        seed: of the first episode; each further one has the next.
        options: what each reset is given beside the seed and the episode's name.
        keep_losses: whether episodes with a reward below 0 are kept.
        task: what the episodes are about.
        player: who plays, for the record.
        columns: whether the trajectories are in a Parquet file.
        terms: how many at a time, and in which time.
        listeners: told of each trajectory.
    """

    spec: EnvironmentSpec
    policy: Policy
    num_episodes: int = 10
    max_turns: int = 9
    prefix: str = "ep"
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    keep_losses: bool = False
    task: Any = None
    player: str = "scripted"
    columns: bool = False
    terms: Terms = Terms()
    listeners: Sequence[Tracker] = ()

    def run(
        self, serializer: RolloutSerializer, told: Callable[[str], None] = lambda line: None
    ) -> CollectResult:
        """Plays the episodes that are not there yet.

        An episode that fails is counted, and the next one is played. One with a step whose reward
        could not be computed has none: it is written to the failures, and a later run plays it
        again.

        Args:
            serializer: where they are written.
            told: is told of each that fails, in a line.

        Raises:
            ConnectFailed: the server is gone; what was written stays.
            ConfigurationError: the folder holds something else.
        """
        plan = planned(
            range(self.seed, self.seed + self.num_episodes),
            options=self.options,
            max_steps=self.max_turns,
            prefix=self.prefix,
        )
        with _Folder(serializer, self, told) as folder:
            run = Run(self.spec, self.policy, self.terms, folder, self.listeners)
            run_apart(run.play(plan), "openenv-collect")
            folder.result.num_skipped = run.collected.skipped
            return folder.result

    def keeps(self, record: EpisodeRecord) -> bool:
        """Whether an episode is written."""
        return self.keep_losses or record.reward is None or record.reward >= 0


class _Folder:
    """The storage of a run. A trajectory goes before its record, which says that both are there.

    Args:
        serializer: of the records.
        collection: what is played.
        told: is told of each that fails.
    """

    def __init__(
        self, serializer: RolloutSerializer, collection: Collection, told: Callable[[str], None]
    ) -> None:
        self._serializer = serializer
        self._collection = collection
        self._told = told
        self._path = serializer.output_dir / TRAJECTORIES_FILENAME
        if collection.columns:
            self._path = self._path.with_suffix(PARQUET)
        self._writer: TrajectoryWriter | None = None
        self.result = CollectResult()

    def there(self, plan: Sequence[Episode]) -> set[str]:
        """The episodes that have records; one of which only the trajectory is there gets its."""
        self._refuse_other_format()
        if self._collection.columns and journal_of(self._path).exists():
            TrajectoryWriter(self._path).close()  # what a run that was cut off has left
        there = self._serializer.collected_episode_ids()
        wanted = {episode.episode_id: episode for episode in plan}
        for trajectory in self.trajectories() if self._has_trajectories() else ():
            episode = wanted.get(trajectory.episode_id)
            if episode is not None and episode.seed != trajectory.seed:
                raise ConfigurationError(
                    f"{self._path} has an episode {trajectory.episode_id} of the seed "
                    f"{trajectory.seed}, not {episode.seed}; give another folder with "
                    "--output-dir, or set it aside with --no-resume"
                )
            if trajectory.episode_id not in there:
                self._serializer.write_episode(record_of(trajectory, self._collection.task))
                there.add(trajectory.episode_id)
        return there & wanted.keys()

    def write(self, lines: Sequence[Line]) -> None:
        """See `openenv.rollout.collecting.recording.Sink`."""
        kept: list[tuple[EpisodeRecord, bytes]] = []
        for trajectory, line in lines:
            record = record_of(trajectory, self._collection.task)
            if self._failed(trajectory, record):
                continue
            if self._collection.keeps(record):
                kept.append((record, line))
            else:
                self.result.num_dropped += 1
        if kept:
            self._writer = self._writer or TrajectoryWriter(self._path)
            self._writer.write_lines([line for _, line in kept])
        for record, _ in kept:
            self._serializer.write_episode(record)
            self.result.collected(record)

    def trajectories(self) -> Iterator[Trajectory]:
        """See `openenv.rollout.collecting.run.Storage`."""
        return load_trajectories(self._path)

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def _refuse_other_format(self) -> None:
        there = file_of(self._serializer.output_dir)
        if there.exists() and there.suffix != self._path.suffix:
            raise ConfigurationError(
                f"the trajectories of this folder are in {there}, not in a {self._path.suffix} "
                "file; keep to its --format, or set it aside with --no-resume"
            )

    def _has_trajectories(self) -> bool:
        return any(self._serializer.output_dir.glob(f"{self._path.name}*"))

    def _failed(self, trajectory: Trajectory, record: EpisodeRecord) -> bool:
        invalid = unscored(trajectory)
        if trajectory.error is not None:
            self.result.failed_by(trajectory.error["type"])
            self._told(f"{record.episode_id} failed: {trajectory.error['message']}")
        elif invalid is not None:
            self.result.failed(invalid)
            self._told(f"{record.episode_id}: {invalid}")
        else:
            return False
        self._serializer.write_failure(record)
        return True
