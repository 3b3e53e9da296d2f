"""One Space on its way, inside the test's own process."""

from pathlib import Path
from typing import Any

from openenv.project.deployment import Deployment
from openenv.project.hub import Hub, SpaceSettings
from openenv.project.push import PushOptions, prepare, repo_ids
from tests.hub.api import ACCOUNT

SPACE = f"{ACCOUNT}/tiny_env"
PASSWORD = "correct-horse-battery"
KEPT = {".gitattributes"}


def deployment(hub: Hub, project: Path, **options: Any) -> Deployment:
    """One Space on its way, looked at."""
    settings = SpaceSettings(**options.pop("settings", {}))
    asked = PushOptions(directory=project, settings=settings, **options)
    ready = prepare(asked)
    made = Deployment(
        hub,
        repo_ids(asked, ready.manifest, hub.account())[0],
        ready.staging,
        ready.settings,
        delete=asked.delete,
        create_pr=asked.create_pr,
    )
    made.look()
    return made


def perform(made: Deployment) -> dict[str, Any]:
    """All its steps, and what came of them."""
    for _, action in made.steps():
        action()
    return made.result()


def push(hub: Hub, project: Path, **options: Any) -> dict[str, Any]:
    """Publishes a project; what came of it."""
    return perform(deployment(hub, project, **options))
