"""GymEnv: an environment behind a client, as a Gymnasium environment."""

from __future__ import annotations

import math
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from openenv.client.env_client import EnvClient
from openenv.client.generic import GenericEnvClient
from openenv.client.sync_client import SyncEnvClient
from openenv.gym.interface import AnyClient, Interface, Mapped
from openenv.protocol.errors import ConfigurationError

PLAIN: type[AnyClient] = GenericEnvClient
"""The client of an address alone."""


class GymEnv(gymnasium.Env[Any, Any]):
    """One session as a `gymnasium.Env`.

        env = GymEnv("http://localhost:8000")
        obs, info = env.reset(seed=1)
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())

    A Gymnasium environment that was `served` looks as it did: its spaces are restored exactly.
    Of any other environment, each field of the observation that says its bounds is part of a
    `Dict` space, and the rest is in `info`; one field alone is not wrapped. The fields of an
    action likewise. Numbers are arrays of shape `(1,)`, choices and bools are `Discrete`.

    Args:
        client: a server's address, or a client, which then is this environment's to close.
        client_class: the client's class, with an address. Without one the server's `/schema`
            says what there is, and hooks see plain dicts.
        render_mode: what `render()` gives; a served environment offers its own modes, without
            windows.
        observation: a space, and a function from the client's observation to a value of it, in
            place of what is told above.
        action: a space, and a function from a value of it to what the client's `step` takes.

    Raises:
        ConfigurationError: there is no space for the observation or for the action, or it does
            not render in that way.
        ConnectFailed: no server answered.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi", "depth_array"]}

    def __init__(
        self,
        client: str | AnyClient | SyncEnvClient[Any, Any, Any],
        client_class: type[AnyClient] = PLAIN,
        *,
        render_mode: str | None = None,
        observation: Mapped | None = None,
        action: Mapped | None = None,
    ) -> None:
        behind = client_class(base_url=client) if isinstance(client, str) else client
        if isinstance(behind, SyncEnvClient):
            behind = behind.async_client
        if not isinstance(behind, EnvClient):
            raise ConfigurationError(
                f"GymEnv takes a server's address or a client, got {type(behind).__name__}: "
                "GymEnv(url) or GymEnv(client), and VectorEnv(pool) for an EnvPool"
            )
        self._interface = Interface(behind, observation, action)
        self._client = behind.sync()
        self.observation_space = self._interface.observation_space
        self.action_space = self._interface.action_space
        self.metadata = {"render_modes": [], **self._interface.card.get("metadata", {})}
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ConfigurationError(
                f"{self._interface.name} does not render as {render_mode!r}; it offers "
                f"{', '.join(self.metadata['render_modes']) or 'no frames'}"
            )
        self.render_mode = render_mode
        kwargs = {"client": client, "client_class": client_class}
        self.spec = EnvSpec(
            entry_point=f"{__name__}:{type(self).__name__}",
            kwargs={**kwargs, "observation": observation, "action": action},
            **{"id": self._interface.name, **self._interface.card.get("spec", {})},
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode.

        Args:
            seed: an int from 0.
            options: keywords for the environment's `reset`.

        Raises:
            SessionError: as the client's `reset`, and whatever else that raises.
        """
        super().reset(seed=seed)
        asked = {"seed": seed, "render_mode": self.render_mode}
        given = {name: value for name, value in asked.items() if value is not None}
        return self._interface.observed(self._client.reset(**{**(options or {}), **given}))

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Takes one action; a reward that there is none of is 0.

        One that could not be computed is NaN, and `info["reward_error"]` says why.

        Raises:
            ConfigurationError: the action is not of the action space.
            SessionError: as the client's `step`, and whatever else that raises.
        """
        result = self._client.step(self._interface.payload(action))
        obs, info = self._interface.observed(result)
        truncated = result.done and result.truncated
        reward = math.nan if result.reward_error else float(result.reward or 0.0)
        return obs, reward, result.terminated, truncated, info

    def render(self) -> Any:
        """The current frame, asked for anew: an array or a text; `None` without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                f"render() without a render mode; make it as GymEnv(…, render_mode="
                f"{(self.metadata['render_modes'] or ['rgb_array'])[0]!r})"
            )
            return None
        state: Any = self._client.state()
        frame = state["frame"] if isinstance(state, dict) else state.frame
        if frame is None or isinstance(frame, str):
            return frame
        return np.asarray(frame, np.float32 if self.render_mode == "depth_array" else np.uint8)

    def close(self) -> None:
        """Closes the client: its session ends."""
        self._client.close()
