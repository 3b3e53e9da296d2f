"""What of a project is published: its files without caches, hidden files and credentials.

Nothing is copied: a small file is read once, so what was looked through is what is published.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from openenv.credentials import find_credentials, is_secret_folder, is_secret_name
from openenv.project.errors import ProjectError, UsageProblem

_NEVER = (".*", "__pycache__", "*.pyc", "*.pyo", "*.egg-info", "node_modules")
_NEVER_AT_THE_TOP = ("build", "dist", "outputs", "htmlcov")
_LARGEST_READ_BYTES = 1 << 20
_MOST_FILES = 10_000
_MOST_BYTES_READ = 1_000_000_000
"""The most that the Hub takes of small files in one commit."""
_CHUNK_BYTES = 1 << 20
_SHOWN_FINDINGS = 5


@dataclass(frozen=True)
class StagedFile:
    """A file as it is published.

    Attributes:
        path: where, seen from the published root, with `/`.
        content: its bytes, or the file that holds them if it is large.
        size: in bytes.
        executable: whether it may be run; the Hub does not keep that.
    """

    path: str
    content: bytes | Path
    size: int
    executable: bool = False

    @classmethod
    def of(cls, path: str, content: bytes) -> StagedFile:
        """A file with that content."""
        return cls(path, content, len(content))

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, piece by piece.

        Raises:
            ProjectError: the file cannot be read any more.
        """
        if isinstance(self.content, bytes):
            yield self.content
            return
        try:
            with self.content.open("rb") as file:
                yield from iter(lambda: file.read(_CHUNK_BYTES), b"")
        except OSError as error:
            raise _unreadable(self.content, error) from error

    def read(self) -> bytes:
        """Its bytes."""
        return b"".join(self.chunks())


@dataclass(frozen=True)
class LeftOut:
    """A file that is not published although one might expect it."""

    path: str
    reason: str


@dataclass(frozen=True)
class Staging:
    """The files to publish, in order of their paths, and those that were left out."""

    files: tuple[StagedFile, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    def find(self, path: str) -> StagedFile | None:
        """The file at a path."""
        return next((file for file in self.files if file.path == path), None)

    def replacing(self, *new: StagedFile, without: Sequence[str] = ()) -> Staging:
        """The same with other files, each in the place of what had its path."""
        gone = {*without, *(file.path for file in new)}
        kept = [file for file in self.files if file.path not in gone]
        return Staging(tuple(sorted([*kept, *new], key=lambda file: file.path)), self.left_out)

    def write_to(self, directory: Path) -> None:
        """Writes every file into an empty directory."""
        for file in self.files:
            target = directory / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as copy:
                copy.writelines(file.chunks())
            target.chmod(0o755 if file.executable else 0o644)


def stage(directory: Path, excludes: Sequence[str] = ()) -> Staging:
    """The files of a project that may be published.

    Left out are hidden files, caches, build products, virtual environments, what the patterns
    name, links that lead out of the project, and files whose names say that they hold credentials.

    Args:
        directory: the project.
        excludes: globs as `.gitignore` has them, without negation.

    Raises:
        ProjectError: a file cannot be read, there is too much, or a file holds what looks like a
            credential; the text says which file and line.
    """
    root = directory.resolve()
    globs = _Globs(excludes)
    files: list[StagedFile] = []
    left_out: list[LeftOut] = []
    read = 0
    for path, inner in _walk(root, globs):
        if reason := _why_not(path, root):
            left_out.append(LeftOut(inner, reason))
        else:
            files.append(_staged(path, inner))
            read += len(files[-1].content) if isinstance(files[-1].content, bytes) else 0
        if len(files) > _MOST_FILES or read > _MOST_BYTES_READ:
            raise ProjectError(
                f"{directory} has more than {_MOST_FILES} files, or 1 GB of small ones; is it the "
                "right directory? Leave out what an environment does not need with --exclude FILE"
            )
    _refuse_credentials(files)
    return Staging(tuple(sorted(files, key=lambda file: file.path)), tuple(left_out))


def read_excludes(path: Path) -> tuple[str, ...]:
    """The globs of a file: one a line, as in `.gitignore`; a line with `!` says nothing here.

    Raises:
        UsageProblem: there is no such file, or it is no text.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(
            f"--exclude {path} cannot be read ({error}); it takes a text file with one glob a line"
        ) from error
    patterns = (line.strip() for line in lines)
    return tuple(pattern for pattern in patterns if pattern and pattern[0] not in "#!")


class _Globs:
    """Patterns as `.gitignore` has them: a name's at any depth, a path's from the root."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._names = [p.rstrip("/") for p in patterns if "/" not in p.rstrip("/")]
        paths = [p.rstrip("/").removeprefix("/") for p in patterns if "/" in p.rstrip("/")]
        self._paths = [*paths, *(p.removeprefix("**/") for p in paths if p.startswith("**/"))]

    def match(self, inner: str) -> bool:
        """Whether a path below the root is named."""
        name = PurePosixPath(inner).name
        return any(fnmatchcase(name, pattern) for pattern in self._names) or any(
            fnmatchcase(inner, pattern) for pattern in self._paths
        )


def _walk(root: Path, globs: _Globs) -> Iterator[tuple[Path, str]]:
    """Every file that may be of interest, with its path below the root; links are not followed."""

    def fail(error: OSError) -> None:
        raise _unreadable(error.filename, error) from error

    for place, directories, names in os.walk(root, onerror=fail):
        here = Path(place)
        inner_of = {n: (here / n).relative_to(root).as_posix() for n in (*directories, *names)}
        links = [name for name in directories if (here / name).is_symlink()]
        directories[:] = [
            name
            for name in directories
            if name not in links
            and not _is_never(inner_of[name])
            and not globs.match(inner_of[name])
            and not (here / name / "pyvenv.cfg").exists()
        ]
        secret = [name for name in directories if is_secret_folder(here / name)]
        directories[:] = sorted(set(directories).difference(secret))
        for name in (*names, *links, *secret):
            inner = inner_of[name]
            if (is_secret_name(name) or not _is_never(inner)) and not globs.match(inner):
                yield here / name, inner


def _is_never(inner: str) -> bool:
    path = PurePosixPath(inner)
    patterns = _NEVER if len(path.parts) > 1 else (*_NEVER, *_NEVER_AT_THE_TOP)
    return any(fnmatchcase(path.name, pattern) for pattern in patterns)


def _why_not(path: Path, root: Path) -> str | None:
    """Why a file must not be published, if so."""
    target = path.resolve()
    if not path.name.isprintable():
        return "its name has characters that names should not have"
    if is_secret_name(path.name) or is_secret_name(target.name):
        return "its name says that it holds credentials"
    if path.is_symlink():
        if not target.is_relative_to(root):
            return "it is a link that leads out of the project"
        folders = target.relative_to(root).parents[:-1]
        if any(is_secret_folder(root / folder) for folder in folders):
            return "it is a link into a folder of credentials"
    if not target.is_file():
        return "it is no regular file, or a link to none"
    return None


def _staged(path: Path, inner: str) -> StagedFile:
    try:
        found = path.stat()
        content = path if found.st_size > _LARGEST_READ_BYTES else path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error
    size = len(content) if isinstance(content, bytes) else found.st_size
    return StagedFile(inner, content, size, executable=bool(found.st_mode & 0o100))


def _unreadable(path: object, error: OSError) -> ProjectError:
    return ProjectError(
        f"{path} cannot be read: {error.strerror}; make it readable, or leave it out with --exclude"
    )


def _refuse_credentials(files: Sequence[StagedFile]) -> None:
    places = [
        f"{file.path}:{finding.line} holds what looks like {finding.kind}"
        for file in files
        if isinstance(file.content, bytes) and b"\0" not in file.content[:8192]
        for finding in find_credentials(file.content.decode("utf-8", "replace"))
    ]
    if places:
        more = len(places) - _SHOWN_FINDINGS
        shown = [*places[:_SHOWN_FINDINGS], *([f"and {more} more"] if more > 0 else [])]
        raise ProjectError(
            "nothing was published: " + "; ".join(shown) + ". Take it out (a Space gets it by "
            "--secret NAME), or, if it is none, name the file in the list of --exclude FILE"
        )
