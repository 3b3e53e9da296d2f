"""Many episodes at once: a pool of sessions stepped as one, and what policies play in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.rollout.batch import Batch as Batch
    from openenv.rollout.collected import Collected as Collected
    from openenv.rollout.collecting import collect as collect
    from openenv.rollout.collecting import collect_async as collect_async
    from openenv.rollout.environment_spec import EnvironmentSpec as EnvironmentSpec
    from openenv.rollout.metrics import PoolMetrics as PoolMetrics
    from openenv.rollout.policies import Act as Act
    from openenv.rollout.policies import Policy as Policy
    from openenv.rollout.policies import RandomPolicy as RandomPolicy
    from openenv.rollout.policies import ScriptedPolicy as ScriptedPolicy
    from openenv.rollout.pool import EnvPool as EnvPool
    from openenv.rollout.run import Tracker as Tracker
    from openenv.rollout.store import TrajectoryWriter as TrajectoryWriter
    from openenv.rollout.store import load_trajectories as load_trajectories
    from openenv.rollout.trajectory import Beginning as Beginning
    from openenv.rollout.trajectory import Trajectory as Trajectory
    from openenv.rollout.trajectory import Transition as Transition

_HOMES = {
    "Act": "openenv.rollout.policies",
    "Batch": "openenv.rollout.batch",
    "Beginning": "openenv.rollout.trajectory",
    "Collected": "openenv.rollout.collected",
    "EnvPool": "openenv.rollout.pool",
    "EnvironmentSpec": "openenv.rollout.environment_spec",
    "Policy": "openenv.rollout.policies",
    "PoolMetrics": "openenv.rollout.metrics",
    "RandomPolicy": "openenv.rollout.policies",
    "ScriptedPolicy": "openenv.rollout.policies",
    "Tracker": "openenv.rollout.run",
    "Trajectory": "openenv.rollout.trajectory",
    "TrajectoryWriter": "openenv.rollout.store",
    "Transition": "openenv.rollout.trajectory",
    "collect": "openenv.rollout.collecting",
    "collect_async": "openenv.rollout.collecting",
    "load_trajectories": "openenv.rollout.store",
}

__all__ = [name for name in _HOMES if not name.startswith("_")]
__getattr__ = lazy(__name__, _HOMES)
