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
    from openenv.rollout.export import grpo_groups as grpo_groups
    from openenv.rollout.export import preference_rows as preference_rows
    from openenv.rollout.export import sft_rows as sft_rows
    from openenv.rollout.export import to_dataset as to_dataset
    from openenv.rollout.metrics import PoolMetrics as PoolMetrics
    from openenv.rollout.model_policy import ModelPolicy as ModelPolicy
    from openenv.rollout.policies import Act as Act
    from openenv.rollout.policies import Policy as Policy
    from openenv.rollout.policies import RandomPolicy as RandomPolicy
    from openenv.rollout.policies import ScriptedPolicy as ScriptedPolicy
    from openenv.rollout.policy_calls import PolicyFailed as PolicyFailed
    from openenv.rollout.policy_calls import PolicyHangs as PolicyHangs
    from openenv.rollout.policy_calls import PolicyTimeout as PolicyTimeout
    from openenv.rollout.policy_names import policy_named as policy_named
    from openenv.rollout.pool import EnvPool as EnvPool
    from openenv.rollout.replaying import Difference as Difference
    from openenv.rollout.replaying import replay as replay
    from openenv.rollout.run import Progress as Progress
    from openenv.rollout.run import Tracker as Tracker
    from openenv.rollout.store import BrokenFile as BrokenFile
    from openenv.rollout.store import TrajectoryWriter as TrajectoryWriter
    from openenv.rollout.store import load_trajectories as load_trajectories
    from openenv.rollout.tracking import TensorBoardTracker as TensorBoardTracker
    from openenv.rollout.tracking import WandbTracker as WandbTracker
    from openenv.rollout.trajectory import Beginning as Beginning
    from openenv.rollout.trajectory import NotATrajectory as NotATrajectory
    from openenv.rollout.trajectory import Trajectory as Trajectory
    from openenv.rollout.trajectory import Transition as Transition

_HOMES = {
    "Act": "openenv.rollout.policies",
    "Batch": "openenv.rollout.batch",
    "Beginning": "openenv.rollout.trajectory",
    "BrokenFile": "openenv.rollout.store",
    "Collected": "openenv.rollout.collected",
    "Difference": "openenv.rollout.replaying",
    "EnvPool": "openenv.rollout.pool",
    "EnvironmentSpec": "openenv.rollout.environment_spec",
    "ModelPolicy": "openenv.rollout.model_policy",
    "NotATrajectory": "openenv.rollout.trajectory",
    "Policy": "openenv.rollout.policies",
    "PolicyFailed": "openenv.rollout.policy_calls",
    "PolicyHangs": "openenv.rollout.policy_calls",
    "PolicyTimeout": "openenv.rollout.policy_calls",
    "PoolMetrics": "openenv.rollout.metrics",
    "Progress": "openenv.rollout.run",
    "RandomPolicy": "openenv.rollout.policies",
    "ScriptedPolicy": "openenv.rollout.policies",
    "TensorBoardTracker": "openenv.rollout.tracking",
    "Tracker": "openenv.rollout.run",
    "Trajectory": "openenv.rollout.trajectory",
    "TrajectoryWriter": "openenv.rollout.store",
    "Transition": "openenv.rollout.trajectory",
    "WandbTracker": "openenv.rollout.tracking",
    "collect": "openenv.rollout.collecting",
    "collect_async": "openenv.rollout.collecting",
    "grpo_groups": "openenv.rollout.export",
    "load_trajectories": "openenv.rollout.store",
    "policy_named": "openenv.rollout.policy_names",
    "preference_rows": "openenv.rollout.export",
    "replay": "openenv.rollout.replaying",
    "sft_rows": "openenv.rollout.export",
    "to_dataset": "openenv.rollout.export",
}

__all__ = [name for name in _HOMES if not name.startswith("_")]
__getattr__ = lazy(__name__, _HOMES)
