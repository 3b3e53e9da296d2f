"""What can be wrong with a project, or with what a command was told about it."""

from __future__ import annotations

from typing import ClassVar

from openenv.protocol.errors import ConfigurationError


class ProjectError(ConfigurationError):
    """A command could not do its work: what happened, what was received, what to do.

    Attributes:
        exit_code: what the command ends with.
    """

    exit_code: ClassVar[int] = 1


class UsageProblem(ProjectError):
    """A command was asked wrongly: a name, an option or a target."""

    exit_code: ClassVar[int] = 2
