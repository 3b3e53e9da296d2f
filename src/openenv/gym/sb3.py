"""A `VectorEnv` for Stable-Baselines3, whose vector environments have an API of their own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv  # type: ignore[import-not-found, unused-ignore]

from openenv.gym.vector import VectorEnv
from openenv.protocol.errors import ConfigurationError, Json


class SB3VecEnv(VecEnv):  # type: ignore[misc, unused-ignore]
    """A `VectorEnv` as Stable-Baselines3's algorithms take it.

        pool = EnvPool("http://localhost:8000", 8, autoreset="same_step")
        model = PPO("MlpPolicy", SB3VecEnv(VectorEnv(pool)))

    An environment whose call failed ends its episode as a time limit does, and its info says
    `fault`.

    Args:
        envs: of a pool with `autoreset="same_step"`; closed with it.

    Raises:
        ConfigurationError: the pool resets otherwise, which these algorithms do not know.
    """

    def __init__(self, envs: VectorEnv) -> None:
        if envs.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
            raise ConfigurationError(
                "Stable-Baselines3 resets an environment in the step that ends its episode: make "
                f"the pool with autoreset='same_step', got {envs.metadata['autoreset_mode']}"
            )
        self._envs = envs
        self._actions: Any = None
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> Any:
        """Begins an episode in each, with what `seed` and `set_options` have left for it."""
        options: dict[str, Any] = {}
        for given in self._options:
            options |= given
        obs, infos = self._envs.reset(seed=self._seeds, options=options)
        self.reset_infos = [_info_of(infos, index) for index in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return obs

    def step_async(self, actions: Any) -> None:
        """Keeps the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Takes a step: observations, float32 rewards, ends, and a list of infos."""
        obs, rewards, terminated, truncated, all_infos = self._envs.step(self._actions)
        infos = [_info_of(all_infos, index) for index in range(self.num_envs)]
        for index, info in enumerate(infos):
            info["TimeLimit.truncated"] = bool(truncated[index] and not terminated[index])
            if "final_obs" in info:
                info["terminal_observation"] = info.pop("final_obs")
                info.update(info.pop("final_info", {}))
        return obs, rewards.astype(np.float32), terminated | truncated, infos

    def close(self) -> None:
        """Closes the vector environment."""
        self._envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the vector environment, once for each."""
        return [getattr(self._envs, attr_name)] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the environments are elsewhere.

        Raises:
            ConfigurationError: always.
        """
        raise ConfigurationError(f"{attr_name!r} cannot be set: the environments are elsewhere")

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Refused: the environments are elsewhere.

        Raises:
            ConfigurationError: always.
        """
        raise ConfigurationError(
            f"{method_name}() cannot be called: the environments are elsewhere"
        )

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """No environment has a wrapper on this side."""
        return [False] * len(self._chosen(indices))

    def _chosen(self, indices: int | Iterable[int] | None) -> list[int]:
        return list(self._get_indices(indices))


def _info_of(infos: Json, index: int) -> Json:
    """One environment's part of the infos of all."""
    return {
        key: _info_of(values, index) if isinstance(values, dict) else values[index]
        for key, values in infos.items()
        if not key.startswith("_") and infos[f"_{key}"][index]
    }
