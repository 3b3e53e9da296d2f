"""Trajectories on disk: a line each, appended as they end; or the columns of a Parquet file."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

from openenv.protocol.errors import OpenEnvError
from openenv.rollout.trajectory import NotATrajectory, Trajectory

TRAJECTORIES_FILENAME = "trajectories.jsonl"


class BrokenFile(OpenEnvError, ValueError):
    """A file of trajectories that cannot be read; the text names the file and the line."""


class TrajectoryWriter:
    """Appends trajectories to a file: each whole, and on the disk when `write` returns.

    Args:
        path: the file; its folder is made.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("ab", buffering=0)

    def write(self, trajectory: Trajectory) -> None:
        """Appends one: all of it, or nothing.

        Raises:
            NotPlain: it holds what cannot be kept.
            OSError: it could not be written.
        """
        line = json.dumps(trajectory.to_dict(), ensure_ascii=False, allow_nan=False).encode()
        before = os.fstat(self._file.fileno()).st_size
        if self._file.write(line + b"\n") != len(line) + 1:
            os.ftruncate(self._file.fileno(), before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Lets go of the file. Twice does no harm."""
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

    Raises:
        BrokenFile: a line is no trajectory.
        FileNotFoundError: there is no such file.
    """
    path = Path(path)
    path = path / TRAJECTORIES_FILENAME if path.is_dir() else path
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _read(path, number, line)


def _read(path: Path, number: int, line: bytes) -> Trajectory:
    try:
        return Trajectory.from_dict(json.loads(line))
    except NotATrajectory as error:
        raise BrokenFile(f"{path}:{number}: {error}") from error
    except ValueError as error:
        raise BrokenFile(f"{path}:{number} is no JSON: {error}") from error
