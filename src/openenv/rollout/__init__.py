"""Many episodes at once: a pool of sessions that is stepped as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.rollout.batch import Batch as Batch
    from openenv.rollout.metrics import PoolMetrics as PoolMetrics
    from openenv.rollout.pool import EnvPool as EnvPool

_HOMES = {
    "Batch": "openenv.rollout.batch",
    "EnvPool": "openenv.rollout.pool",
    "PoolMetrics": "openenv.rollout.metrics",
}

__all__ = [name for name in _HOMES if not name.startswith("_")]
__getattr__ = lazy(__name__, _HOMES)
