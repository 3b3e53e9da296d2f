"""Whether an environment keeps its promises: `openenv validate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.testing.finding import Finding as Finding
    from openenv.testing.finding import Status as Status
    from openenv.validation.local import get_deployment_modes as get_deployment_modes
    from openenv.validation.local import (
        validate_multi_mode_deployment as validate_multi_mode_deployment,
    )
    from openenv.validation.policy import Level as Level
    from openenv.validation.registry import Check as Check
    from openenv.validation.report import Report as Report
    from openenv.validation.report import Result as Result
    from openenv.validation.run import validate as validate
    from openenv.validation.running import (
        validate_running_environment as validate_running_environment,
    )
    from openenv.validation.subject import Subject as Subject
    from openenv.validation.target import Target as Target

_HOMES = {
    "Check": "openenv.validation.registry",
    "Finding": "openenv.testing.finding",
    "Level": "openenv.validation.policy",
    "Report": "openenv.validation.report",
    "Result": "openenv.validation.report",
    "Status": "openenv.testing.finding",
    "Subject": "openenv.validation.subject",
    "Target": "openenv.validation.target",
    "get_deployment_modes": "openenv.validation.local",
    "validate": "openenv.validation.run",
    "validate_multi_mode_deployment": "openenv.validation.local",
    "validate_running_environment": "openenv.validation.running",
}

__all__ = list(_HOMES)
__getattr__ = lazy(__name__, _HOMES)
