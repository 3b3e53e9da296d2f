"""An environment's image, built of its staged files and pushed to a Docker registry."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from openenv.catalog.manifest import Manifest
from openenv.project.errors import ProjectError, UsageProblem

if TYPE_CHECKING:
    from openenv.project.push import Publication

_PUSH_S = 3600.0
_REGISTRY = re.compile(r"[a-z0-9.-]+(?::\d+)?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*")
_DENIED = re.compile(r"denied|unauthorized|authentication required|no basic auth", re.IGNORECASE)
_TOLD_CHARACTERS = 500


def image_name(registry: str, manifest: Manifest) -> str:
    """The image's name in a registry, as `registry.example.org/me/my_env`.

    Raises:
        UsageProblem: the registry's name is none.
    """
    place = registry.rstrip("/")
    if not _REGISTRY.fullmatch(place):
        raise UsageProblem(
            f"--registry {registry!r} is no registry; it takes a host and a path in small letters, "
            "without https://, as registry.example.org/me"
        )
    name = re.sub(r"[^a-z0-9]+", "_", manifest.name.lower()).strip("_")
    return f"{place}/{name or 'environment'}"


def build_image(image: str, publication: Publication) -> None:
    """Builds the image of the staged files alone: what is not published is not in it either.

    Raises:
        ProjectError: the build failed.
        NotAvailable: no container engine answers.
    """
    from openenv.project.build import BuildOptions, build

    with tempfile.TemporaryDirectory(prefix="openenv-push-") as folder:
        publication.staging.write_to(Path(folder))
        build(BuildOptions(directory=Path(folder), tag=image))


def push_image(image: str) -> None:
    """Pushes a built image.

    Raises:
        ProjectError: the registry refuses, or is not there; the text says which.
        NotAvailable: no container engine answers.
    """
    from openenv.providers.engine import Engine

    engine = Engine()
    ended = engine.call("push", image, timeout_s=_PUSH_S, check=False)
    if ended.code == 0:
        return
    engine.ping()
    said = " ".join((ended.stderr.strip() or ended.stdout.strip())[-_TOLD_CHARACTERS:].split())
    host = image.partition("/")[0]
    advice = (
        f"log in with `{engine.name} login {host}`, and check that you may write there"
        if _DENIED.search(said)
        else "check the registry's name and the network"
    )
    raise ProjectError(
        f"{image} was built, but {host} did not take it: {said}; {advice}, then run the same "
        "command again"
    )
