"""VectorEnv: a pool of sessions as a Gymnasium vector environment."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import Space, spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from openenv.gym.interface import Interface, Mapped
from openenv.protocol.errors import ConfigurationError
from openenv.rollout.batch import Batch
from openenv.rollout.pool import EnvPool

Flags = NDArray[np.bool_]
Numbers = NDArray[np.float64]


class VectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """An `EnvPool` as a `gymnasium.vector.VectorEnv`.

        pool = EnvPool("http://localhost:8000", 16, autoreset="same_step")
        envs = VectorEnv(pool)
        obs, infos = envs.reset(seed=0)
        obs, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

    Spaces, and what goes to the infos, are as those of `GymEnv`. `metadata["autoreset_mode"]`
    says what follows an episode's end, which is the pool's to settle.

    A slot whose call failed is truncated, has a reward of 0 and zeros for an observation, and
    `infos["fault"]` says why. It is reset by the next `step` (with same-step autoreset by the same
    one; with autoreset disabled by the caller, as any other that ended). The first fault of each
    kind is also a `RuntimeWarning`.

    A reward that a verifier failed to compute is NaN, and `infos["reward_error"]` says why.

    Args:
        pool: which is closed with it.
        observation: a space, and a function from the client's observation to a value of it.
        action: a space, and a function from a value of it to what the client's `step` takes.

    Raises:
        ConfigurationError: there is no space for the observation or for the action, or it is no
            pool that was given.
        ConnectFailed: no server answered.
    """

    def __init__(
        self,
        pool: EnvPool[Any, Any],
        *,
        observation: Mapped | None = None,
        action: Mapped | None = None,
    ) -> None:
        if not isinstance(pool, EnvPool):
            raise ConfigurationError(
                f"VectorEnv takes an EnvPool, got a {type(pool).__name__}: "
                "VectorEnv(EnvPool(url, 8))"
            )
        self._pool = pool.sync()
        described_by = pool.client(pool.urls[0], headers=pool.headers)
        self._interface = Interface(described_by, observation, action)
        self.num_envs = pool.size
        self.single_observation_space = self._interface.observation_space
        self.single_action_space = self._interface.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._mode = AutoresetMode[pool.autoreset.upper()]
        self.metadata = {**self._interface.card.get("metadata", {}), "autoreset_mode": self._mode}
        self._zeros = _zeros(self.single_observation_space)
        self._values: list[Any] = [self._zeros] * self.num_envs
        self._options: dict[str, Any] = {}
        self._over = np.ones(self.num_envs, np.bool_)
        self._faulted = np.zeros(self.num_envs, np.bool_)
        self._warned: set[type[BaseException]] = set()

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins episodes, in all environments or in those of a mask.

        Args:
            seed: an int, to which each environment adds its index, or one (or None) for each.
            options: keywords for each environment's `reset`; `reset_mask`, a bool array of shape
                `(num_envs,)`, says which to reset, the others keep their observations.

        Raises:
            OpenEnvError: as the pool's `reset`.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        given = dict(options or {})
        which = self._masked(given.pop("reset_mask", None))
        if isinstance(seed, Sequence | np.ndarray):
            if len(seed) != self.num_envs:
                raise ConfigurationError(
                    f"seed must be one for each of {self.num_envs} environments, got {len(seed)}"
                )
            seed = [seed[index] for index in which]
        self._options, self._over[which] = given, False
        infos: dict[str, Any] = {}
        batch = self._pool.reset(seed, slots=which, **given)
        self._take(batch, infos)
        self._warn([batch])
        return self._observations(), infos

    def step(self, actions: Any) -> tuple[Any, Numbers, Flags, Flags, dict[str, Any]]:
        """Takes an action in each environment; where one begins an episode, it is ignored.

        Raises:
            ConfigurationError: an action is not of the action space, or there is not one for each
                environment; or autoreset is disabled, and one whose episode has ended was not
                reset. No action was sent.
            OpenEnvError: as the pool's `step`.
        """
        payloads = self._payloads(actions)
        self._refuse_if_over()
        infos: dict[str, Any] = {}
        due, ready = (np.flatnonzero(flags).tolist() for flags in (self._faulted, ~self._faulted))
        batches = [self._pool.reset(slots=due, **self._options)] if due else []
        if ready:
            batches.append(self._pool.step([payloads[slot] for slot in ready], slots=ready))
        for batch in batches:
            self._take(batch, infos, steps=True)
        failed = np.flatnonzero(self._faulted).tolist()
        same_step = self._mode is AutoresetMode.SAME_STEP
        again = [self._pool.reset(slots=failed, **self._options)] if failed and same_step else []
        for batch in again:
            self._take(batch, infos)
        rewards, terminated, truncated = self._outcome(batches)
        self._over = terminated | truncated
        self._warn([*batches, *again])
        return self._observations(), rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the pool."""
        self._pool.close()

    def _payloads(self, actions: Any) -> list[Any]:
        """What is sent for a batch of actions."""
        _refuse_unpaired(self.single_action_space, actions, self.num_envs)
        payloads: list[Any] = []
        try:
            for action in iterate(self.action_space, actions):
                payloads.append(self._interface.payload(action))
        except ConfigurationError as error:
            raise ConfigurationError(f"slot {len(payloads)}: {error}") from error
        return payloads

    def _warn(self, batches: Iterable[Batch[Any]]) -> None:
        """Tells of each kind of fault, once: training that goes on would hide it."""
        for batch in batches:
            for slot, error in zip(batch.slots.tolist(), batch.errors, strict=True):
                if error is not None and type(error) not in self._warned:
                    self._warned.add(type(error))
                    warnings.warn(
                        f"environment {slot} failed, its episode is truncated: "
                        f"{type(error).__name__}: {error}; infos['fault'] has each further one",
                        RuntimeWarning,
                        stacklevel=3,
                    )

    def _take(self, batch: Batch[Any], infos: dict[str, Any], *, steps: bool = False) -> None:
        """Keeps a batch's observations, and adds what else it says to the infos."""
        rows = zip(batch.slots.tolist(), batch.results, batch.final, batch.errors, strict=True)
        for slot, result, final, error in rows:
            if steps and self._mode is AutoresetMode.SAME_STEP and (final or not result):
                obs, info = self._interface.observed(final) if final else (self._zeros, {})
                self._add_info(infos, {"final_obs": obs, "final_info": info}, slot)
            self._faulted[slot] = result is None
            self._values[slot], info = (
                (self._zeros, {"fault": f"{type(error).__name__}: {error}"})
                if result is None
                else self._interface.observed(result)
            )
            self._add_info(infos, info, slot)

    def _observations(self) -> Any:
        space = self.single_observation_space
        out: Any = create_empty_array(space, self.num_envs)
        return concatenate(space, self._values, out)

    def _outcome(self, batches: Iterable[Batch[Any]]) -> tuple[Numbers, Flags, Flags]:
        """Rewards, terminations and truncations, each in its slot's place.

        A reward that a verifier failed to compute is NaN.
        """
        rewards = np.zeros(self.num_envs)
        terminated, truncated = np.zeros((2, self.num_envs), np.bool_)
        for batch in batches:
            scored = [error is None for error in batch.reward_errors]
            rewards[batch.slots] = np.where(np.isnan(batch.rewards) & scored, 0.0, batch.rewards)
            terminated[batch.slots] = batch.terminated
            truncated[batch.slots] = batch.truncated | ~(batch.valid | batch.terminated)
        return rewards, terminated, truncated

    def _masked(self, mask: Any) -> list[int]:
        """The environments of a mask; all if there is none."""
        if mask is None:
            return list(range(self.num_envs))
        flags = np.asarray(mask)
        if flags.shape != (self.num_envs,) or flags.dtype != np.bool_ or not flags.any():
            raise ConfigurationError(
                f"reset_mask must be a bool array of shape ({self.num_envs},) with a True in it, "
                f"got {mask!r}"
            )
        slots: list[int] = np.flatnonzero(flags).tolist()
        return slots

    def _refuse_if_over(self) -> None:
        if self._mode is AutoresetMode.DISABLED and self._over.any():
            raise ConfigurationError(
                f"the episodes of environments {np.flatnonzero(self._over).tolist()} are over, and "
                'autoreset is disabled: reset(options={"reset_mask": mask}) begins others'
            )


def _zeros(space: Space[Any]) -> Any:
    """What stands for an observation that there is none of."""
    return next(iter(iterate(batch_space(space, 1), create_empty_array(space, 1))))


def _refuse_unpaired(space: Space[Any], actions: Any, size: int) -> None:
    """Refuses what is not one action for each slot, in every part of the space.

    Raises:
        ConfigurationError: there are more, or fewer.
    """
    try:
        wrong = {len(batch) for batch in _parts(space, actions)} - {size}
    except (TypeError, ValueError, LookupError) as error:
        raise ConfigurationError(
            f"actions must be one for each of {size} slots, as action_space.sample() gives them, "
            f"got {actions!r}: {error!r}"
        ) from error
    if wrong:
        raise ConfigurationError(f"actions must be one for each of {size} slots, got {min(wrong)}")


def _parts(space: Space[Any], actions: Any) -> Iterator[Any]:
    """The batches that a batch is made of, down to those whose first axis is the slots."""
    if isinstance(space, spaces.Dict):
        for key, part in space.items():
            yield from _parts(part, actions[key])
    elif isinstance(space, spaces.Tuple):
        for part, values in zip(space, actions, strict=True):
            yield from _parts(part, values)
    else:
        yield actions
