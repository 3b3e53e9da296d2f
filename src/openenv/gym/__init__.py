"""Gymnasium, both ways: its environments served, and served ones as its environments.

Needs the extra `gymnasium`. Nothing else of OpenEnv imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

try:
    import gymnasium as _gymnasium  # noqa: F401  # to say what is missing
except ImportError as error:
    raise ImportError(
        f"openenv.gym needs Gymnasium ({error}): pip install 'openenv-core[gymnasium]'"
    ) from error

if TYPE_CHECKING:
    from openenv.gym.env import GymEnv as GymEnv
    from openenv.gym.served_env import served as served
    from openenv.gym.vector import VectorEnv as VectorEnv

_HOMES = {
    "GymEnv": "openenv.gym.env",
    "VectorEnv": "openenv.gym.vector",
    "served": "openenv.gym.served_env",
}

__all__ = ["GymEnv", "VectorEnv", "served"]
__getattr__ = lazy(__name__, _HOMES)
