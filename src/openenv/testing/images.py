"""Images without a container engine: what is in them is served by processes of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from openenv import providers
from openenv.catalog.installed import find
from openenv.providers import Launch, ProcessProvider, Running

Project = str | Path


@contextmanager
def images_as_processes(
    projects: Mapping[str, Project] | None = None,
) -> Iterator[list[Running]]:
    """Within the block, clients that say no provider start a process instead of a container.

    So `EchoEnv.from_docker_image("echo-env:latest")`, deep in somebody's example, needs no Docker.
    It is for one test at a time: what it changes, all threads see.

    Args:
        projects: what `openenv serve` is given, by the image's name without registry and tag.
            An image that is not there is called after an environment that is installed.

    Yields:
        the servers that were started so far.
    """
    started: list[Running] = []

    class Images(ProcessProvider):
        def launch(self, launch: Launch) -> Running:
            image = str(launch.image).rpartition("/")[2].partition(":")[0]
            project = (projects or {}).get(image) or find(image).directory
            running = super().launch(replace(launch, image=None, project=project))
            started.append(running)
            return running

    usual = providers.LocalDockerProvider
    providers.LocalDockerProvider = Images  # type: ignore[assignment,misc]
    try:
        yield started
    finally:
        providers.LocalDockerProvider = usual  # type: ignore[misc]
