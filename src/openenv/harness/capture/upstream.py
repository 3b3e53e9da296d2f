"""Sampling that a trainer can use: the probabilities that the engine reports are the policy's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from openenv.protocol.errors import ConfigurationError

NEUTRAL: Mapping[str, float | int] = {
    "top_p": 1.0,
    "top_k": -1,
    "min_p": 0.0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
    "repetition_penalty": 1.0,
}
"""What leaves a distribution as the policy has it."""


def training_sampling(sampling: Mapping[str, Any] | None) -> dict[str, float | int]:
    """How an engine is to sample what is trained on.

    A policy gradient needs the probabilities of the distribution that was sampled from. The
    temperature is known to the trainer; anything else that bends the distribution (`top_p`,
    penalties, …) would make the recorded probabilities those of another policy, and is refused.

    Args:
        sampling: `temperature`, and whatever else the trainer names, which must be neutral.
            Nothing at all leaves sampling to the agent.

    Returns:
        The temperature, and every other key at its neutral value, so that no default of the
        engine's applies; empty if `sampling` is `None`.

    Raises:
        ConfigurationError: the temperature is missing or no finite number above 0, a key is
            unknown, or a value is not the neutral one.
    """
    if sampling is None:
        return {}
    if not isinstance(sampling, Mapping):
        raise ConfigurationError(f"sampling must be a mapping, got a {type(sampling).__name__}")
    unknown = sorted(str(key) for key in sampling.keys() - {"temperature", *NEUTRAL})
    if unknown:
        raise ConfigurationError(
            f"sampling for training takes temperature and {', '.join(NEUTRAL)}; got {unknown}"
        )
    temperature = _number("temperature", sampling.get("temperature"))
    if temperature <= 0:
        raise ConfigurationError(f"temperature must be above 0, got {temperature:g}")
    for name, neutral in NEUTRAL.items():
        _refuse_bent(name, sampling.get(name, neutral), neutral)
    return {"temperature": temperature, **NEUTRAL}


def _refuse_bent(name: str, value: Any, neutral: float | int) -> None:
    number = _number(name, value)
    off = name == "top_k" and number == 0  # as some engines spell "all of them"
    if number != neutral and not off:
        raise ConfigurationError(
            f"{name}={number:g} bends the distribution, and the probabilities that are recorded "
            f"would not be the policy's; train with {name}={neutral:g}"
        )


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigurationError(f"{name} must be a finite number, got {value!r}")
    return float(value)
