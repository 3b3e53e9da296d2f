"""Trajectories on disk: a line each, appended as they end; or the rows of a Parquet file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

from openenv.protocol.errors import OpenEnvError
from openenv.rollout.trajectories.folder_lock import hold
from openenv.rollout.trajectories.json_lines import (
    LineTooLong,
    append,
    is_cut_off,
    mend,
    numbered_lines,
    unfinished,
)
from openenv.rollout.trajectories.trajectory import FORMAT, NotATrajectory, Trajectory

TRAJECTORIES_FILENAME = "trajectories.jsonl"
PARQUET = ".parquet"
_BEGINNING = json.dumps({"format": FORMAT}).encode().rpartition(b"/")[0]
"""What every line begins with, whatever its version."""


class BrokenFile(OpenEnvError, ValueError):
    """A file of trajectories that cannot be read; the text names the file and the line."""


class TrajectoryWriter:
    """Appends trajectories to a file: each whole, and on the disk when `write` returns.

    A last line that a killed writer left unfinished is taken away first. A `.parquet` file is
    written by `close`, together with what it held before; until then, and wherever nobody came to
    close, its new trajectories are lines of a file beside it.

    Args:
        path: the file; its folder is made.

    Raises:
        FolderBusy: another writer holds it.
        BrokenFile: it holds something else.
        MissingPackage: pyarrow is not installed, which a `.parquet` file needs.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.suffix == PARQUET:
            from openenv.rollout.trajectories.parquet import require_pyarrow

            require_pyarrow()
        self._lines = journal_of(self.path)
        self._lines.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._lines.open("ab", buffering=0)
        try:
            hold(
                self._file,
                f"another run writes to {self.path}; wait until it is done, or give another file",
            )
            _refuse_others(self._lines)
            mend(self._lines, _BEGINNING)
        except BaseException:
            self._file.close()
            raise

    def write(self, *trajectories: Trajectory) -> None:
        """Appends trajectories: all of them, or nothing.

        Raises:
            NotPlain: one holds what cannot be kept.
            OSError: they could not be written.
        """
        self.write_lines([encoded(trajectory) for trajectory in trajectories])

    def write_lines(self, lines: Sequence[bytes]) -> None:
        """Appends trajectories that are encoded already, likewise."""
        append(self._file, lines, self._lines)
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Lets go of the file. Twice does no harm."""
        if self._file.closed:
            return
        try:
            if self.path.suffix == PARQUET:
                from openenv.rollout.trajectories.parquet import rewrite

                rewrite(self.path, load_trajectories(self.path))
                self._lines.unlink()
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        """The writer."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes."""
        self.close()


def load_trajectories(path: str | Path) -> Iterator[Trajectory]:
    """The trajectories in a file, or in the folder that `openenv collect` has written, one by one.

    A last line that a writer was killed over, or still writes, is none.

    Args:
        path: a `.jsonl` or a `.parquet` file, or the folder.

    Raises:
        BrokenFile: a line is no trajectory, or the file cannot be read as what it is called.
        FileNotFoundError: there is no such file.
        MissingPackage: pyarrow is not installed, which a `.parquet` file needs.
    """
    path = file_of(path)
    return _of_parquet(path) if path.suffix == PARQUET else _of_lines(path)


def file_of(path: str | Path) -> Path:
    """The file of trajectories that a path means: itself, or the one in that folder."""
    path = Path(path)
    if not path.is_dir():
        return path
    lines = path / TRAJECTORIES_FILENAME
    columns = lines.with_suffix(PARQUET)
    return columns if not lines.exists() and _exists(columns) else lines


def journal_of(path: Path) -> Path:
    """Where new trajectories of a file are written: of a Parquet file in one beside it."""
    return path.with_name(f"{path.name}.new.jsonl") if path.suffix == PARQUET else path


def encoded(trajectory: Trajectory) -> bytes:
    """A trajectory as a line.

    Raises:
        NotPlain: it holds what cannot be kept.
    """
    return json.dumps(trajectory.to_dict(), allow_nan=False).encode()


def _exists(columns: Path) -> bool:
    return columns.exists() or journal_of(columns).exists()


def _of_parquet(path: Path) -> Iterator[Trajectory]:
    from openenv.rollout.trajectories.parquet import rows_of

    there: set[str] = set()
    journal = journal_of(path)
    if path.exists() or not journal.exists():
        for trajectory in rows_of(path):
            there.add(trajectory.episode_id)
            yield trajectory
    if journal.exists():  # what it has that was merged already is not twice there
        yield from (each for each in _of_lines(journal) if each.episode_id not in there)


def _of_lines(path: Path) -> Iterator[Trajectory]:
    with path.open("rb") as file:
        try:
            for number, line in numbered_lines(file):
                if not is_cut_off(line, _BEGINNING):
                    yield _read(path, number, line)
        except LineTooLong as error:
            raise BrokenFile(f"{path}: {error}; is it a file of trajectories?") from error


def _read(path: Path, number: int, line: bytes) -> Trajectory:
    try:
        return Trajectory.from_dict(json.loads(line))
    except NotATrajectory as error:
        raise BrokenFile(f"{path}:{number}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise BrokenFile(f"{path}:{number} is no JSON: {error}") from error


def _refuse_others(path: Path) -> None:
    """Keeps a writer from what is no file of trajectories, or one of another version."""
    next(_of_lines(path), None)
    with path.open("rb") as file:
        last = unfinished(file)
    if last and not (last.startswith(_BEGINNING) or _BEGINNING.startswith(last)):
        raise BrokenFile(f"{path} ends with something that is no trajectory")
