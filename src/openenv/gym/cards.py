"""What a Gymnasium environment says besides its spaces, as far as it has a wire form."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from openenv.protocol.errors import Json

_PLAIN = (bool, int, float, str, type(None))


def card_of(env: gymnasium.Env[Any, Any]) -> Json:
    """An environment's `spec` and `metadata`, for the clients' own."""
    metadata = wireable(env.metadata)
    metadata["render_modes"] = offered_modes(env)
    spec = env.spec
    if spec is None:
        return {"metadata": metadata}
    kept = ("id", "reward_threshold", "nondeterministic", "max_episode_steps")
    return {"metadata": metadata, "spec": {name: getattr(spec, name) for name in kept}}


def offered_modes(env: gymnasium.Env[Any, Any]) -> list[str]:
    """How an environment renders for somebody far away: one frame at a time, in no window."""
    modes: list[str] = env.metadata.get("render_modes") or []
    return [mode for mode in modes if mode != "human" and not mode.endswith("_list")]


def wireable(info: Any) -> Json:
    """The part of a dict that has a wire form; the rest is left out."""
    return {
        key: value
        for key, value in ((key, _wireable(value)) for key, value in dict(info).items())
        if isinstance(key, str) and value is not _LEFT_OUT
    }


_LEFT_OUT = object()


def _wireable(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind in "biuf" else _LEFT_OUT
    if isinstance(value, dict):
        return wireable(value)
    if isinstance(value, list | tuple):
        items = [_wireable(item) for item in value]
        return _LEFT_OUT if any(item is _LEFT_OUT for item in items) else items
    return _LEFT_OUT
