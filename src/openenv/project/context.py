"""What an image is built of: a copy of the project, which pins this version of OpenEnv."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from openenv.catalog.manifest import PYPROJECT, ManifestError, read_pyproject
from openenv.project import dockerfile
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.own_wheel import DISTRIBUTION, write_own_wheel

_CACHES = shutil.ignore_patterns(
    ".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", "*.egg-info", ".*_cache"
)
_DOCKERFILES = ("server/Dockerfile", "Dockerfile")
_REQUIREMENT = re.compile(r"openenv(?:[-_.]core)?(?P<extras>\s*\[[^\]]*\])?(?![\w.-])(?P<rest>.*)")
_LOCKS = ("uv.lock", "poetry.lock")


@dataclass(frozen=True)
class BuildContext:
    """A folder to build an image in.

    Attributes:
        directory: the copy of the project.
        dockerfile: its Dockerfile, beside the copy.
        arguments: the build arguments that it takes.
        notes: what differs from the project in ways that may surprise.
    """

    directory: Path
    dockerfile: Path
    arguments: frozenset[str]
    notes: tuple[str, ...]


def find_dockerfile(project: Path, chosen: Path | None) -> Path:
    """The Dockerfile of a project.

    Args:
        project: the environment's folder.
        chosen: what the user named, seen from the project or from the working directory.

    Raises:
        UsageProblem: the named one is not there.
        ProjectError: none was named, and none is where they usually are.
    """
    if chosen is not None:
        for place in (project / chosen, chosen):
            if place.is_file():
                return place.resolve()
        raise UsageProblem(f"there is no Dockerfile {str(chosen)!r}, neither in {project} nor here")
    for usual in _DOCKERFILES:
        if (project / usual).is_file():
            return (project / usual).resolve()
    raise ProjectError(
        f"{project} has neither {' nor '.join(_DOCKERFILES)}; name one with --dockerfile, or look "
        "at the one that openenv init writes"
    )


def prepare(
    source: Path, found: Path, into: Path, *, own: bool, cache_mounts: bool
) -> BuildContext:
    """Copies what an image is built of.

    Args:
        source: the folder that the Dockerfile's COPY instructions see.
        found: the Dockerfile, inside the source or elsewhere.
        into: an empty folder.
        own: whether this version of OpenEnv goes into the image, in the place of what the project
            asks of a package index.
        cache_mounts: whether the builder knows `RUN --mount=type=cache`.

    Raises:
        ProjectError: something could not be read.
        ManifestError: the project's pyproject.toml is wrong.
    """
    copy = into / "context"
    try:
        shutil.copytree(source, copy, ignore=_CACHES, symlinks=True)
    except (OSError, shutil.Error) as error:
        raise ProjectError(f"{source} cannot be copied: {error}") from error
    text = _read(found)
    ignores = found.with_name(f"{found.name}.dockerignore")
    if ignores.is_file():  # an engine takes that one instead; beside our Dockerfile there is none
        _write(copy / ".dockerignore", _read(ignores))
    notes: tuple[str, ...] = ()
    if own:
        notes = tuple(_pin(source, copy))
        text = dockerfile.with_wheels(text)
    if not cache_mounts:
        text = dockerfile.without_cache_mounts(text)
    target = into / "Dockerfile"
    _write(target, text)
    return BuildContext(copy, target, frozenset(dockerfile.arguments(text)), notes)


def _read(file: Path) -> str:
    """A file's text; bytes that are none come through unharmed."""
    return file.read_bytes().decode("utf-8", "surrogateescape")


def _write(file: Path, text: str) -> None:
    file.unlink(missing_ok=True)  # it may be a link to the project's own
    file.write_bytes(text.encode("utf-8", "surrogateescape"))


# ── this version of OpenEnv ───────────────────────────────────────────────────────────────────────


def _pin(source: Path, copy: Path) -> Iterator[str]:
    """Puts our wheel into the context, and makes every project in it ask for that."""
    wheels = copy / dockerfile.WHEELS
    wheels.mkdir(exist_ok=True)
    version = write_own_wheel(wheels).name.split("-")[1]
    pin = f"{DISTRIBUTION}{{extras}}=={version}{{marker}}"
    _let_in(copy / ".dockerignore")
    for file in _files(copy, PYPROJECT):
        try:
            _pin_pyproject(source / file.relative_to(copy), file, pin)
        except ManifestError as error:
            if file.parent == copy:
                raise
            yield f"{file.relative_to(copy)} is left as it is: {error}"
    for file in _files(copy, "requirements*.txt"):
        _write(file, "".join(f"{_pinned(line, pin)}\n" for line in _read(file).splitlines()))
    for lock in _LOCKS:
        for file in _files(copy, lock):
            file.unlink()
            yield f"{file.relative_to(copy)} stays out: it may pin another OpenEnv than {version}"


def _files(folder: Path, glob: str) -> list[Path]:
    """The files of that name, links to files among them, wherever they are."""
    return [path for path in sorted(folder.rglob(glob)) if path.is_file()]


def _let_in(dockerignore: Path) -> None:
    if dockerignore.is_file():
        _write(dockerignore, f"{_read(dockerignore)}\n!{dockerfile.WHEELS}\n")


def _pin_pyproject(file: Path, copy: Path, pin: str) -> None:
    pyproject = read_pyproject(file.parent)
    text = _read(file)
    extras = pyproject.optional_dependencies.values()
    for wanted in (*pyproject.dependencies, *(one for group in extras for one in group)):
        for quote in "\"'":
            text = text.replace(f"{quote}{wanted}{quote}", f'"{_pinned(wanted, pin)}"')
    _write(copy, text)


def _pinned(requirement: str, pin: str) -> str:
    """A requirement of OpenEnv, under either of its names, as a pin; every other one as it is."""
    found = _REQUIREMENT.fullmatch(requirement.strip())
    if found is None:
        return requirement
    _, semicolon, marker = found["rest"].partition(";")
    return pin.format(extras=(found["extras"] or "").strip(), marker=semicolon + marker)
