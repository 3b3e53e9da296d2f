"""The two files that a Space reads itself: its Dockerfile, and the front matter of its README."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from openenv.catalog.manifest import Manifest
from openenv.project.errors import ProjectError

_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\r?\n(?P<lines>.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE
)
_HERE_DOCUMENT = re.compile(r"<<-?[\"']?(?P<word>\w+)")
_INTERFACE = "ENV ENABLE_WEB_INTERFACE=true"


def dockerfile(text: str, *, base_image: str | None, interface: bool) -> str:
    """A Dockerfile on another base image, with the web interface switched on or left alone.

    Raises:
        ProjectError: it has no `FROM`.
    """
    lines = text.splitlines()
    starts = list(_instructions(lines))
    if not any(word == "FROM" for _, word in starts):
        raise ProjectError("the Dockerfile has no FROM; add one, as FROM python:3.11-slim")
    if base_image is not None:
        _rebase(lines, starts, base_image)
    if interface and _INTERFACE not in (line.strip() for line in lines):
        lines.insert(_end_of_setup(starts, len(lines)), _INTERFACE)
    return "\n".join(lines) + "\n"


def _instructions(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Each instruction's first line and word.

    A line after a backslash continues the one before, and a here-document ends with its own word.
    """
    continues, ends = False, None
    for number, line in enumerate(lines):
        bare = line.strip()
        if ends is not None:
            ends = None if bare == ends else ends
            continue
        if not bare or bare.startswith("#"):
            continue
        if not continues:
            yield number, bare.split()[0].upper()
        continues = bare.endswith("\\")
        ends = found["word"] if (found := _HERE_DOCUMENT.search(bare)) else None


def _rebase(lines: list[str], starts: list[tuple[int, str]], base_image: str) -> None:
    """The default of `ARG BASE_IMAGE` where the first stage is built from it, else its `FROM`."""
    first = next(number for number, word in starts if word == "FROM")
    if re.search(r"\$\{?BASE_IMAGE\b", lines[first]):
        for number, word in starts:
            if word == "ARG" and number < first and "BASE_IMAGE" in lines[number]:
                lines[number] = f"ARG BASE_IMAGE={base_image}"
                return
    lines[first] = re.sub(
        r"^(\s*FROM\s+(?:--\S+\s+)*)\S+", lambda m: m[1] + base_image, lines[first], flags=re.I
    )


def _end_of_setup(starts: list[tuple[int, str]], end: int) -> int:
    """The line of the last stage's first command, before which its variables are set."""
    last = max(number for number, word in starts if word == "FROM")
    return next((n for n, word in starts if n > last and word in ("CMD", "ENTRYPOINT")), end)


def readme(text: str, manifest: Manifest, *, interface: bool) -> str:
    """A README whose front matter makes it a Docker Space's; its own lines stay as they are.

    Raises:
        ProjectError: its front matter is no YAML, or another kind of Space's.
    """
    found = _FRONT_MATTER.match(text)
    own = found["lines"].splitlines() if found else []
    _check("\n".join(own))
    body = text[found.end() :].lstrip("\r\n") if found else text
    if not interface:
        own = [line for line in own if not line.startswith("base_path:")]
    wanted = {
        "title": manifest.name.replace("_", " ").title(),
        "sdk": "docker",
        "app_port": str(manifest.port),
        **({"base_path": "/web"} if interface else {}),
    }
    present = {line.partition(":")[0] for line in own}
    own += [f"{key}: {value}" for key, value in wanted.items() if key not in present]
    return "\n".join(["---", *own, "---", "", body])


def _check(front_matter: str) -> None:
    try:
        content = yaml.safe_load(front_matter) or {}
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", error)
        raise ProjectError(
            f"the front matter of README.md is no YAML: {problem}; correct it"
        ) from error
    if not isinstance(content, dict):
        raise ProjectError(
            f"the front matter of README.md is no YAML of `key: value` lines: {front_matter!r}"
        )
    if content.get("sdk", "docker") != "docker":
        raise ProjectError(
            f"README.md says sdk: {content['sdk']}; an environment's Space has sdk: docker"
        )
