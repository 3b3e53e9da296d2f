"""The spaces of Gymnasium that a FinRL server is played in.

    with FinRLEnv(base_url=url).sync() as trader:
        env = GymEnv(url, FinRLEnv, **boxes(trader.get_config()))

`openenv.gym` cannot tell them by itself, since how many stocks there are is the server's to say.
"""

from __future__ import annotations

from typing import Any

from finrl_env.models import FinRLConfig
from openenv import needs

with needs("openenv-core[gymnasium]"):
    import numpy as np
    from gymnasium import spaces


def boxes(config: FinRLConfig) -> dict[str, Any]:
    """Keywords for `openenv.gym.GymEnv` and `VectorEnv`: FinRL's spaces, both `Box`.

    Args:
        config: what `FinRLEnv.get_config` gives. An environment whose resets ask for another number
            of stocks or indicators has other spaces: change `action_space` and `state_space`.

    Returns:
        `observation`, of shape (state_space,) in float64, and `action`, of shape (action_space,) in
        float32 from -1 to 1, each with the function that leads from or to it.
    """
    states = spaces.Box(-np.inf, np.inf, (config["state_space"],), np.float64)
    actions = spaces.Box(-1.0, 1.0, (config["action_space"],), np.float32)
    return {"observation": (states, _state), "action": (actions, _action)}


def _state(observation: Any) -> Any:
    fields = observation if isinstance(observation, dict) else vars(observation)
    return np.array(fields["state"], np.float64)


def _action(action: Any) -> dict[str, list[float]]:
    return {"actions": np.asarray(action, np.float64).tolist()}
