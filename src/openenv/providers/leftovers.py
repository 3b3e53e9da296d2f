"""What killed trainers have left in an engine, and its removal."""

from __future__ import annotations

from typing import Literal

from openenv.providers import owner
from openenv.providers.engine import Engine

_REMOVAL = {
    "container": ("rm", "--force", "--volumes"),
    "service": ("service", "rm"),
}


def reap(engine: Engine, kind: Literal["container", "service"]) -> list[str]:
    """Removes what has an owner that is dead, and nothing else.

    Returns:
        The ids of what was removed.

    Raises:
        NotAvailable: the engine does not answer.
    """
    dead = [id for id, labels in engine.owned(kind).items() if owner.is_dead(labels)]
    if dead:
        engine.call(*_REMOVAL[kind], *dead, check=False)  # another may be removing them as well
    return dead
