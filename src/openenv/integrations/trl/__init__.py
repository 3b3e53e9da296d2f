"""Served environments for TRL's `GRPOTrainer`.

Two ways, for any server:

- `environment_factory(URL)` for `GRPOTrainer(environment_factory=…)`: TRL plays the episodes,
  one call of a tool after another.
- `rollout_func(URL)` for `GRPOTrainer(rollout_func=…, reward_funcs=env_reward)`: OpenEnv plays
  them, all at once, with the model's turns sampled as one batch.

An episode whose reward is not known (its server went away, its verifier failed) has the reward
`None`, which TRL leaves out of a group's mean and gives no advantage. Needs the extra `trl`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.integrations.trl.environments import ToolEnvironment as ToolEnvironment
    from openenv.integrations.trl.environments import environment_factory as environment_factory
    from openenv.integrations.trl.rollouts import env_reward as env_reward
    from openenv.integrations.trl.rollouts import rollout_func as rollout_func
    from openenv.integrations.trl.turns import trainer_model_step as trainer_model_step

_HOMES = {
    "ToolEnvironment": "openenv.integrations.trl.environments",
    "env_reward": "openenv.integrations.trl.rollouts",
    "environment_factory": "openenv.integrations.trl.environments",
    "rollout_func": "openenv.integrations.trl.rollouts",
    "trainer_model_step": "openenv.integrations.trl.turns",
}

__all__ = list(_HOMES)
__getattr__ = lazy(__name__, _HOMES)
