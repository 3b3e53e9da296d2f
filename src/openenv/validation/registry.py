"""Check: one thing that is looked at; and where all of them are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import entry_points
from operator import attrgetter
from typing import TYPE_CHECKING

from openenv.testing.finding import Finding
from openenv.validation.policy import Level

if TYPE_CHECKING:
    from openenv.validation.subject import Subject

GROUP = "openenv.validation.graders"
"""The entry points under which other packages offer checks: a `Check`, or several in a list."""


@dataclass(frozen=True)
class Check:
    """One thing that is looked at.

    Attributes:
        id: its name, with its level in front, as `runtime.startup`.
        level: from which level on it is looked at.
        meaning: what holds if it passes, a sentence.
        mend: what to do if it does not.
        look: looks at a subject. What it raises is an error of the check, not of the subject.
        needs: the names of checks that must not have failed before.
        applies: why it has nothing to look at in a subject; `None` if it has.
    """

    id: str
    level: Level
    meaning: str
    mend: str
    look: Callable[[Subject], Finding]
    needs: tuple[str, ...] = ()
    applies: Callable[[Subject], str | None] = lambda _subject: None


def own_checks() -> list[Check]:
    """The checks of this package, in the order in which they run."""
    from openenv.validation.checks import (
        declarations,
        endpoints,
        episodes,
        files,
        hostility,
        responsiveness,
        sessions,
    )

    modules = (files, endpoints, episodes, responsiveness, sessions, hostility, declarations)
    return sorted((check for module in modules for check in module.CHECKS), key=attrgetter("level"))


def foreign_checks() -> tuple[list[Check], dict[str, str]]:
    """The checks that other packages offer, and why those that could not be loaded were not."""
    checks: list[Check] = []
    broken: dict[str, str] = {}
    for point in entry_points(group=GROUP):
        try:
            offered = point.load()
            found = list(offered) if isinstance(offered, Iterable) else [offered]
            if not all(isinstance(check, Check) for check in found):
                raise TypeError(f"it must be a Check, or a list of them, got {offered!r}")
        except Exception as error:  # noqa: BLE001  # a stranger's code
            broken[f"{point.name} ({point.value})"] = str(error) or type(error).__name__
        else:
            checks += found
    return checks, broken
