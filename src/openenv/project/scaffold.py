"""`openenv init`: the files of a new environment, made whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from openenv._version import __version__
from openenv.project import requirements
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.names import EnvName

_TEMPLATES = Path(__file__).with_name("templates")
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_EMOJI = ("🎯", "🧩", "🎲", "🧪", "🗺️", "🤖", "🪁", "🧭")
_COLORS = ("blue", "green", "indigo", "pink", "purple", "red", "yellow")


def create(name: EnvName, parent: Path, *, minimal: bool = False) -> Path:
    """Makes a new environment.

    Args:
        name: its name.
        parent: the folder that it is made in; made too if need be.
        minimal: one file instead of a package.

    Returns:
        The package's folder, or the file.

    Raises:
        UsageProblem: something of that name is there already.
        ProjectError: the files could not be written; nothing is left of them.
    """
    if minimal:
        [(file, content)] = render("minimal", name).items()
        return write_new(parent / file, content)
    return write_new(parent / name.module, layout(name))


def layout(name: EnvName, dependencies: tuple[str, ...] = ()) -> dict[str, str]:
    """The files of a package that echoes, by their paths.

    Args:
        name: the environment's name.
        dependencies: what it needs beside OpenEnv, as PEP 508 writes it.
    """
    needed = (own_requirement(), *dependencies)
    return render("full", name, needed) | {requirements.PATH: requirements.text_of(needed)}


def own_requirement() -> str:
    """This version of OpenEnv, or a later one, as PEP 508 writes it."""
    major, minor, *_ = __version__.split(".")
    return f"openenv-core>={major}.{minor}"


def render(kind: str, name: EnvName, dependencies: tuple[str, ...] = ()) -> dict[str, str]:
    """A folder of templates with a name's spellings in the place of their placeholders."""
    dice = zlib.crc32(name.module.encode())  # the same card whenever it is made
    values = {
        "name": name.module,
        "Name": name.prefix,
        "title": name.title,
        "distribution": name.distribution,
        "image": name.image,
        "dependencies": ", ".join(f'"{dependency}"' for dependency in dependencies),
        "emoji": _EMOJI[dice % len(_EMOJI)],
        "color_from": _COLORS[dice // 8 % len(_COLORS)],
        "color_to": _COLORS[dice // 64 % len(_COLORS)],
    }
    return {
        path.replace("NAME", name.module): _PLACEHOLDER.sub(lambda found: values[found[1]], text)
        for path, text in _templates(_TEMPLATES / kind)
    }


def _templates(folder: Path) -> Iterator[tuple[str, str]]:
    """Each template's path and text; a hidden file's begins with `dot-`, lest tools skip it."""
    for file in sorted(folder.rglob("*.tmpl")):
        path = file.relative_to(folder).as_posix().removesuffix(".tmpl")
        yield re.sub(r"(^|/)dot-", r"\1.", path), file.read_text(encoding="utf-8")


def files_of(made: Path) -> list[str]:
    """The paths of all that was made, seen from where it was made."""
    within = (
        [made] if made.is_file() else sorted(path for path in made.rglob("*") if path.is_file())
    )
    return [path.relative_to(made.parent).as_posix() for path in within]


def write_new(target: Path, content: str | Mapping[str, str]) -> Path:
    """Writes a file, or a folder of files by their paths, that appears when it is complete.

    Raises:
        UsageProblem: there is something at that place, other than an empty folder.
        ProjectError: it could not be written.
    """
    if target.is_symlink() or target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise UsageProblem(
            f"{target} is there already and stays as it is; choose another name, or another place "
            "with --output-dir"
        )
    parent = target.parent
    made = next((folder for folder in _missing(parent)), None)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _appear(target, content)
    except BaseException as error:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        if isinstance(error, OSError):
            raise ProjectError(
                f"{target} cannot be written: {error.strerror}; choose another place with "
                "--output-dir"
            ) from error
        raise
    return target


def _missing(folder: Path) -> Iterator[Path]:
    """The folders above and including one that are not there, the outermost first."""
    return (place for place in reversed([folder, *folder.parents]) if not place.exists())


def _appear(target: Path, content: str | Mapping[str, str]) -> None:
    """Writes beside the target first, so that a failure or Ctrl-C leaves nothing half-made."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as beside:
        draft = Path(beside) / target.name
        for path, text in ({"": content} if isinstance(content, str) else content).items():
            file = draft / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())  # bytes: no system turns its line ends into others
        if target.is_dir():
            target.rmdir()  # it is empty; not every system renames onto a folder
        os.rename(draft, target)
