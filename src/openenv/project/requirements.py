"""`server/requirements.txt`: what a Dockerfile installs first, as `pyproject.toml` says it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from openenv.catalog.manifest import read_pyproject
from openenv.project.errors import ProjectError

PATH = "server/requirements.txt"
_HEAD = "# Written by `openenv requirements`; what it says is in pyproject.toml.\n"


def text_of(requirements: Iterable[str]) -> str:
    """The file's content."""
    return _HEAD + "".join(f"{requirement}\n" for requirement in requirements)


def wanted(project: Path) -> str:
    """The content that a project's file should have: its dependencies, and those of `[server]`.

    Raises:
        ManifestError: pyproject.toml is missing or wrong.
    """
    pyproject = read_pyproject(project)
    return text_of([*pyproject.dependencies, *pyproject.optional_dependencies.get("server", ())])


def write(project: Path) -> Path:
    """Writes a project's file anew.

    Raises:
        ManifestError: pyproject.toml is missing or wrong.
        ProjectError: the file cannot be written.
    """
    path = project / PATH
    content = wanted(project)
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode())
    except OSError as error:
        raise ProjectError(f"{path} cannot be written: {error.strerror}") from error
    return path


def check(project: Path) -> None:
    """Compares a project's file with what it should be.

    Raises:
        ManifestError: pyproject.toml is missing or wrong.
        ProjectError: the file is missing, or says something else.
    """
    path = project / PATH
    expected = wanted(project)
    if not path.is_file():
        raise ProjectError(f"there is no {path}; run openenv requirements {project}")
    present = path.read_text(encoding="utf-8", errors="replace")
    if _lines(present) != _lines(expected):
        missing = sorted(_lines(expected) - _lines(present))
        surplus = sorted(_lines(present) - _lines(expected))
        raise ProjectError(
            f"{path} is stale; run openenv requirements {project}"
            + "".join(f"\n  + {line}" for line in missing)
            + "".join(f"\n  - {line}" for line in surplus)
        )


def _lines(text: str) -> set[str]:
    """The requirements, whatever their order and the comments between them."""
    lines = (line.strip() for line in text.splitlines())
    return {line for line in lines if line and not line.startswith("#")}
