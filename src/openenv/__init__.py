"""OpenEnv: isolated execution environments for agentic RL, with a Gymnasium-style API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.env.environment import Environment as Environment
    from openenv.env.models import Action as Action
    from openenv.env.models import Observation as Observation

_HOMES = {
    "Action": "openenv.env.models",
    "Observation": "openenv.env.models",
    "State": "openenv.env.models",
    "Environment": "openenv.env.environment",
    "create_app": "openenv.server.app",
    "serve": "openenv.server.run",
}
__getattr__ = lazy(__name__, _HOMES)
