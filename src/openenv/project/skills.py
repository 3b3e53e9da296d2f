"""A skill that teaches a coding agent this command line, put where agents look for skills."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from openenv import __version__
from openenv.project.errors import ProjectError, UsageProblem

NAME = "openenv-cli"
AGENTS = ("claude", "codex", "cursor", "opencode")
_SHARED = Path(".agents/skills")
_FOLDERS = {agent: Path(f".{agent}/skills") for agent in AGENTS}
_FOLDERS_AT_HOME = {**_FOLDERS, "opencode": Path(".config/opencode/skills")}


@dataclass(frozen=True)
class Installed:
    """Where the skill is now.

    Attributes:
        path: the file.
        links: what the agents' own folders have of it.
    """

    path: Path
    links: tuple[Path, ...]


def render(commands: Mapping[str, str], exit_codes: Mapping[str, int]) -> str:
    """The skill's text.

    Args:
        commands: each command's name and what it does.
        exit_codes: what each code stands for.
    """
    template = files("openenv.project").joinpath("skill/SKILL.md").read_text(encoding="utf-8")
    rows = [f"| `openenv {name}` | {summary} |" for name, summary in commands.items()]
    return template.format(
        version=__version__,
        commands="\n".join(["| command | what it does |", "| --- | --- |", *rows]),
        exit_codes=", ".join(f"{code} {name}" for name, code in exit_codes.items()),
    )


def install(
    text: str,
    *,
    agents: Sequence[str] = (),
    root: Path | None = None,
    dest: Path | None = None,
    force: bool = False,
) -> Installed:
    """Writes the skill, and links the agents' folders to it.

    Args:
        text: the skill.
        agents: those whose own folders are to have it.
        root: below which the folders are; by default the working directory. At home they have
            other names.
        dest: a folder of skills to write it into instead.
        force: replace what is there.

    Raises:
        UsageProblem: `dest` was given with agents.
        ProjectError: something of that name is there already, or a folder cannot be written.
    """
    if dest is not None and agents:
        raise UsageProblem("--dest takes the place of the agents' folders; leave one out")
    root = root or Path.cwd()
    folders = _FOLDERS_AT_HOME if root == Path.home() else _FOLDERS
    file = (dest or root / _SHARED) / NAME / "SKILL.md"
    links = [root / folders[agent] / NAME for agent in agents]
    try:
        _refuse_to_replace(file, text, links, force)
        _write(file, text)
        for link in links:
            _link(link, file.parent, text)
    except OSError as error:
        raise ProjectError(
            f"{error.filename or file} cannot be written: {error.strerror}; give another folder "
            "with --dest"
        ) from error
    return Installed(file, tuple(links))


def _refuse_to_replace(file: Path, text: str, links: Sequence[Path], force: bool) -> None:
    """Another skill stays; so does this one, unless an agent's folder lacks it."""
    if force:
        return
    same = file.is_file() and file.read_text(encoding="utf-8", errors="replace") == text
    missing = [link for link in links if not os.path.lexists(link)]
    if same and missing and len(missing) == len(links):
        return
    for place in (file, *links):
        if os.path.lexists(place):
            raise ProjectError(f"{place} is there already; --force replaces it")


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")


def _link(link: Path, target: Path, text: str) -> None:
    """Links an agent's folder to the skill; a folder that is there, or no links, gets a copy."""
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_symlink() or link.is_file():
        link.unlink()
    if link.is_dir():
        _write(link / "SKILL.md", text)
        return
    try:
        link.symlink_to(os.path.relpath(target, link.parent.resolve()), target_is_directory=True)
    except (OSError, NotImplementedError):
        _write(link / "SKILL.md", text)
