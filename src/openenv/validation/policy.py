"""Levels and policies: how much is looked at, and what may be declared."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

from openenv.project.errors import ProjectError


class PolicyProblem(ProjectError):
    """A level or a policy that there is not."""

    exit_code: ClassVar[int] = 3


class Level(IntEnum):
    """How much is looked at; each level has those below it in it.

    Attributes:
        STATIC: the files alone.
        RUNTIME: the environment is started, and played.
        SEMANTIC: it is started once more, and measured against what it declares.
    """

    STATIC = 1
    RUNTIME = 2
    SEMANTIC = 3

    @classmethod
    def named(cls, name: str) -> Level:
        """A level by its name in any case.

        Raises:
            PolicyProblem: there is none of that name.
        """
        try:
            return cls[name.upper()]
        except KeyError:
            known = ", ".join(level.name.lower() for level in cls)
            raise PolicyProblem(f"there is no level {name!r}; the levels are {known}") from None


@dataclass(frozen=True)
class Policy:
    """What may be declared.

    Attributes:
        version: its name.
        report_version: that of the report's form.
        max_oracle_tolerance: the largest `reward.oracle_tolerance`.
        min_floor_margin: the least `reward.floor_margin`.
        max_variance_tolerance: the largest `reward.variance_tolerance`.
        max_episode_timeout_s: the longest `resources.episode_timeout_s`.
    """

    version: str
    report_version: str
    max_oracle_tolerance: float = 0.1
    min_floor_margin: float = 0.1
    max_variance_tolerance: float = 0.2
    max_episode_timeout_s: float = 3600.0

    @classmethod
    def chosen(cls, version: str | None, level: Level) -> Policy:
        """A policy by its version; by default the one of a level.

        Raises:
            PolicyProblem: there is none of that version.
        """
        wanted = version or ("v1" if level is Level.STATIC else "v2")
        for policy in POLICIES:
            if policy.version == wanted:
                return policy
        known = ", ".join(policy.version for policy in POLICIES)
        raise PolicyProblem(f"there is no policy {wanted!r}; the policies are {known}")


POLICIES = (Policy("v1", "1"), Policy("v2", "2"))
