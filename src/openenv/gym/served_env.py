"""`served`: a Gymnasium environment as an OpenEnv one."""

from __future__ import annotations

import functools
import importlib
import types
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

import gymnasium
import numpy as np

from openenv.env.environment import ActT, Environment, ObsT
from openenv.gym.cards import card_of, offered_modes, wireable
from openenv.gym.codecs import codec_of, described, restored
from openenv.gym.models import (
    RenderedState,
    SpaceAction,
    SpaceObservation,
    action_model,
    observation_model,
)
from openenv.gym.recipes import MadeClass, made_by
from openenv.protocol.errors import ConfigurationError, InvalidRequest, Json

GymnasiumEnv = gymnasium.Env[Any, Any]
Make = Callable[..., GymnasiumEnv]

HOMES = {"ALE": "ale_py"}
"""Packages that register their environments when they are imported, by their namespace."""


class ServedEnvironment(Environment[ActT, ObsT, RenderedState], metaclass=MadeClass):
    """A Gymnasium environment; `served` makes the subclass that knows which one.

    A space's value is one field, `obs` or `action`; the values of a `Dict` are fields by its keys.
    What `info` holds goes along as the observation's metadata, as far as it has a wire form.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    _make: ClassVar[Make]
    _make_kwargs: ClassVar[dict[str, Any]]
    _models: ClassVar[tuple[type[SpaceAction], type[SpaceObservation]]]

    def __init__(self) -> None:
        super().__init__()
        self._env = type(self)._make(**self._make_kwargs)
        self._state: RenderedState | None = None

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        render_mode: str | None = None,
        options: dict[str, Any] | None = None,
        **more: Any,
    ) -> ObsT:
        """Begins an episode.

        Args:
            seed: the environment's.
            episode_id: the episode's name.
            render_mode: from now on `state` has frames of this kind.
            options: the environment's own.
            **more: more of them.

        Raises:
            InvalidRequest: the environment does not render in that way.
        """
        if render_mode is not None and render_mode != self._env.render_mode:
            self._render_as(render_mode)
        obs, info = self._env.reset(seed=seed, options={**(options or {}), **more} or None)
        self._state = RenderedState(episode_id=episode_id or str(uuid.uuid4()))
        return self._observed(obs, info)

    def step(self, action: ActT) -> ObsT:
        """Takes one action. An episode that ends by its rules just at its limit is terminated."""
        value = self._models[0].codec.read(action)
        obs, reward, terminated, truncated, info = self._env.step(value)
        if self._state is not None:
            self._state.step_count += 1
        return self._observed(
            obs,
            info,
            reward=float(reward),
            done=bool(terminated or truncated),
            truncated=bool(truncated and not terminated),
        )

    @property
    def state(self) -> RenderedState:
        """Where the episode stands; its frame is rendered when it is asked for."""
        if self._state is None:
            return RenderedState()
        frame: Any = self._env.render() if self._env.render_mode else None
        if frame is not None and not isinstance(frame, str):
            frame = np.asarray(frame)
            frame = frame if frame.dtype == np.uint8 else frame.astype(np.float32)
        return self._state.model_copy(update={"frame": frame})

    def close(self) -> None:
        """Closes the environment."""
        self._env.close()

    def _observed(self, obs: Any, info: dict[str, Any], **outcome: Any) -> ObsT:
        model = self._models[1]
        made: Any = model(**model.codec.write(obs), **outcome, metadata=wireable(info))
        result: ObsT = made
        return result

    def _render_as(self, render_mode: str) -> None:
        offered = offered_modes(self._env)
        if render_mode not in offered:
            raise InvalidRequest(
                f"{type(self).__name__} does not render as {render_mode!r}; it offers "
                f"{', '.join(offered) or 'no frames at all'}"
            )
        before, self._state = self._env, None
        self._env = type(self)._make(**{**self._make_kwargs, "render_mode": render_mode})
        before.close()


def served(env: str | Make, /, **make_kwargs: Any) -> type[ServedEnvironment[Any, Any]]:
    """A Gymnasium environment as an OpenEnv one, for `serve`, `create_app`, `local` or a subclass.

        serve(served("CartPole-v1"))

    It is made once here, to see its spaces, and then once for each session.

    Args:
        env: an id as `gymnasium.make` takes it, or a function or class that makes the environment;
            for a process host one at the top level of a module.
        **make_kwargs: what to make it with, for example `render_mode="rgb_array"`.

    Raises:
        ConfigurationError: there is no such environment, it cannot be made, or it has a space of
            a kind that cannot cross the wire.
    """
    name, make, example = _first(env, make_kwargs)
    try:
        action, observation = (
            described(codec_of(space, f"the {what} space of {name}"))
            for what, space in (
                ("action", example.action_space),
                ("observation", example.observation_space),
            )
        )
        card = card_of(example)
    finally:
        example.close()
    return _environment(
        name, make, make_kwargs, {"action": action, "observation": observation}, card
    )


def _environment(
    name: str, make: Make, make_kwargs: dict[str, Any], spaces: Json, card: Json
) -> type[ServedEnvironment[Any, Any]]:
    """The class of a served environment, also in a process that never saw the environment."""
    action, observation = (
        codec_of(restored(spaces[what]), f"the {what} space of {name}")
        for what in ("action", "observation")
    )
    models: Any = action_model(name, action), observation_model(name, observation, card)
    base: Any = ServedEnvironment
    made: Any = types.new_class(
        name, (base[models],), exec_body=lambda body: body.update(__module__=__name__)
    )
    made._make, made._make_kwargs, made._models = staticmethod(make), make_kwargs, models
    return made_by(made, _environment, name, make, make_kwargs, spaces, card)  # type: ignore[no-any-return]


def _first(env: str | Make, make_kwargs: dict[str, Any]) -> tuple[str, Make, GymnasiumEnv]:
    """The name of an environment, what makes one in any process, and one that it made."""
    if not (isinstance(env, str) or callable(env)):
        raise ConfigurationError(
            f"served() takes the id of a Gymnasium environment or what makes one, got {env!r}"
        )
    try:
        if not isinstance(env, str):
            return _name(env), env, _made(env, make_kwargs)
        if home := HOMES.get(env.partition("/")[0]):
            with suppress(ImportError):  # Gymnasium says what is missing
                importlib.import_module(home)
        example = gymnasium.make(env, **make_kwargs)
        assert example.spec is not None, "gymnasium.make() gives every environment its spec"
        spec = gymnasium.spec(example.spec.id)
    except (gymnasium.error.Error, ImportError, TypeError) as error:
        raise ConfigurationError(f"the environment {env!r} cannot be made: {error}") from error
    return spec.id, functools.partial(gymnasium.make, spec), example


def _made(make: Make, make_kwargs: dict[str, Any]) -> GymnasiumEnv:
    example: Any = make(**make_kwargs)
    if not isinstance(example, gymnasium.Env):
        raise TypeError(f"it makes a {type(example).__name__}, not a gymnasium.Env")
    return example


def _name(make: Any) -> str:
    while isinstance(make, functools.partial):
        make = make.func
    return str(getattr(make, "__name__", type(make).__name__))
