"""What `openenv build` changes in its own copy of a Dockerfile."""

from __future__ import annotations

import re
from collections.abc import Iterator

WHEELS = "openenv_wheel"
"""The folder of the build context that holds this version of OpenEnv."""

_INSTALLED = "/opt/openenv"
_GIVEN = (
    f"COPY {WHEELS}/ {_INSTALLED}/\nENV PIP_FIND_LINKS={_INSTALLED} UV_FIND_LINKS={_INSTALLED}\n"
)
_FROM = re.compile(r"^[ \t]*FROM[ \t]", re.IGNORECASE)
_INSTALLER = re.compile(r"\b(pip3?|uv|poetry)\b")
_CACHE_MOUNT = re.compile(r"--mount=type=cache\S*\s*")


def with_wheels(text: str) -> str:
    """The same with the folder of wheels in each stage that installs something, for pip and uv."""
    stages = list(_stages(text))
    return "".join(
        head + _GIVEN + body if head and _INSTALLER.search(body) else head + body
        for head, body in stages
    )


def without_cache_mounts(text: str) -> str:
    """The same for a builder without `RUN --mount=type=cache`, which is only there for speed."""
    return _CACHE_MOUNT.sub("", text)


def arguments(text: str) -> set[str]:
    """The names of the build arguments that a Dockerfile takes."""
    return set(re.findall(r"^[ \t]*ARG[ \t]+(\w+)", text, re.IGNORECASE | re.MULTILINE))


def _stages(text: str) -> Iterator[tuple[str, str]]:
    """Each stage's FROM line and what follows it; what comes before the first has no FROM line."""
    head, body = "", ""
    for line in text.splitlines(keepends=True):
        if _FROM.match(line):
            yield head, body
            head, body = line, ""
        else:
            body += line
    yield head, body
