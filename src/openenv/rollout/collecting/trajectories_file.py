"""The output of a run: a file of trajectories, and one beside it for those that failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from openenv.protocol.errors import ConfigurationError, Json
from openenv.rollout.collecting.episodes import Episode
from openenv.rollout.collecting.recording import Line
from openenv.rollout.trajectories.store import TrajectoryWriter, load_trajectories
from openenv.rollout.trajectories.trajectory import Trajectory


def failures_beside(path: Path) -> Path:
    """Where the episodes of a file are that failed, as far as they came."""
    return path.with_name(f"{path.stem}.failures.jsonl")


class TrajectoriesFile:
    """Where a run writes. The episodes that failed are those of this run: each is played again.

    Args:
        path: a `.jsonl` or a `.parquet` file.
        whose: `environment` and `policy` of the run; episodes of others are not mixed with them.
    """

    def __init__(self, path: Path, whose: Json) -> None:
        self._path = path
        self._whose = whose
        self._writer = TrajectoryWriter(path)
        self._failures: TrajectoryWriter | None = None

    def there(self, plan: Sequence[Episode]) -> set[str]:
        """See `Storage`."""
        failures_beside(self._path).unlink(missing_ok=True)
        wanted = {episode.episode_id: episode for episode in plan}
        found = set()
        for trajectory in self._stored():
            self._refuse_others(trajectory, wanted.get(trajectory.episode_id))
            found.add(trajectory.episode_id)
        return found & wanted.keys()

    def write(self, lines: Sequence[Line]) -> None:
        """See `Sink`."""
        whole = [line for trajectory, line in lines if trajectory.end != "error"]
        failed = [line for trajectory, line in lines if trajectory.end == "error"]
        if whole:
            self._writer.write_lines(whole)
        if failed:
            self._failures = self._failures or TrajectoryWriter(failures_beside(self._path))
            self._failures.write_lines(failed)

    def trajectories(self) -> Iterator[Trajectory]:
        """See `Storage`."""
        yield from self._stored()
        if failures_beside(self._path).exists():
            yield from load_trajectories(failures_beside(self._path))

    def close(self) -> None:
        """Lets go of the files."""
        try:
            self._writer.close()
        finally:
            if self._failures is not None:
                self._failures.close()

    def _stored(self) -> Iterator[Trajectory]:
        return load_trajectories(self._path)

    def _refuse_others(self, there: Trajectory, wanted: Episode | None) -> None:
        differing = {name: getattr(there, name) for name in self._whose}
        expected = dict(self._whose)
        if wanted is not None:
            differing |= {"seed": there.seed, "options": there.options}
            expected |= {"seed": wanted.seed, "options": dict(wanted.options)}
        for name, value in expected.items():
            if differing[name] != value:
                raise ConfigurationError(
                    f"{self._path} has an episode {there.episode_id!r} whose {name} is "
                    f"{differing[name]!r}, not {value!r}; give another file"
                )
