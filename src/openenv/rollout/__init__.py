"""Many episodes at once: a pool of sessions stepped as one, and what policies play in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.rollout.batch import Batch as Batch
    from openenv.rollout.collecting.collect import collect as collect
    from openenv.rollout.collecting.collect import collect_async as collect_async
    from openenv.rollout.collecting.collected import Collected as Collected
    from openenv.rollout.collecting.run import Progress as Progress
    from openenv.rollout.collecting.run import Tracker as Tracker
    from openenv.rollout.collecting.tracking import TensorBoardTracker as TensorBoardTracker
    from openenv.rollout.collecting.tracking import WandbTracker as WandbTracker
    from openenv.rollout.metrics import PoolMetrics as PoolMetrics
    from openenv.rollout.policies.calls import PolicyFailed as PolicyFailed
    from openenv.rollout.policies.calls import PolicyHangs as PolicyHangs
    from openenv.rollout.policies.calls import PolicyTimeout as PolicyTimeout
    from openenv.rollout.policies.environment_spec import EnvironmentSpec as EnvironmentSpec
    from openenv.rollout.policies.model_policy import ModelPolicy as ModelPolicy
    from openenv.rollout.policies.names import policy_named as policy_named
    from openenv.rollout.policies.policy import Act as Act
    from openenv.rollout.policies.policy import Policy as Policy
    from openenv.rollout.policies.policy import RandomPolicy as RandomPolicy
    from openenv.rollout.policies.policy import ScriptedPolicy as ScriptedPolicy
    from openenv.rollout.pool import EnvPool as EnvPool
    from openenv.rollout.trajectories.export import grpo_groups as grpo_groups
    from openenv.rollout.trajectories.export import preference_rows as preference_rows
    from openenv.rollout.trajectories.export import sft_rows as sft_rows
    from openenv.rollout.trajectories.export import to_dataset as to_dataset
    from openenv.rollout.trajectories.replaying import Difference as Difference
    from openenv.rollout.trajectories.replaying import replay as replay
    from openenv.rollout.trajectories.store import BrokenFile as BrokenFile
    from openenv.rollout.trajectories.store import TrajectoryWriter as TrajectoryWriter
    from openenv.rollout.trajectories.store import load_trajectories as load_trajectories
    from openenv.rollout.trajectories.trajectory import Beginning as Beginning
    from openenv.rollout.trajectories.trajectory import NotATrajectory as NotATrajectory
    from openenv.rollout.trajectories.trajectory import Trajectory as Trajectory
    from openenv.rollout.trajectories.trajectory import Transition as Transition

_HOMES = {
    "Act": "openenv.rollout.policies.policy",
    "Batch": "openenv.rollout.batch",
    "Beginning": "openenv.rollout.trajectories.trajectory",
    "BrokenFile": "openenv.rollout.trajectories.store",
    "Collected": "openenv.rollout.collecting.collected",
    "Difference": "openenv.rollout.trajectories.replaying",
    "EnvPool": "openenv.rollout.pool",
    "EnvironmentSpec": "openenv.rollout.policies.environment_spec",
    "ModelPolicy": "openenv.rollout.policies.model_policy",
    "NotATrajectory": "openenv.rollout.trajectories.trajectory",
    "Policy": "openenv.rollout.policies.policy",
    "PolicyFailed": "openenv.rollout.policies.calls",
    "PolicyHangs": "openenv.rollout.policies.calls",
    "PolicyTimeout": "openenv.rollout.policies.calls",
    "PoolMetrics": "openenv.rollout.metrics",
    "Progress": "openenv.rollout.collecting.run",
    "RandomPolicy": "openenv.rollout.policies.policy",
    "ScriptedPolicy": "openenv.rollout.policies.policy",
    "TensorBoardTracker": "openenv.rollout.collecting.tracking",
    "Tracker": "openenv.rollout.collecting.run",
    "Trajectory": "openenv.rollout.trajectories.trajectory",
    "TrajectoryWriter": "openenv.rollout.trajectories.store",
    "Transition": "openenv.rollout.trajectories.trajectory",
    "WandbTracker": "openenv.rollout.collecting.tracking",
    "collect": "openenv.rollout.collecting.collect",
    "collect_async": "openenv.rollout.collecting.collect",
    "grpo_groups": "openenv.rollout.trajectories.export",
    "load_trajectories": "openenv.rollout.trajectories.store",
    "policy_named": "openenv.rollout.policies.names",
    "preference_rows": "openenv.rollout.trajectories.export",
    "replay": "openenv.rollout.trajectories.replaying",
    "sft_rows": "openenv.rollout.trajectories.export",
    "to_dataset": "openenv.rollout.trajectories.export",
}

__all__ = [name for name in _HOMES if not name.startswith("_")]
__getattr__ = lazy(__name__, _HOMES)
