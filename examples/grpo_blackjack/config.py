"""What `blackjack.yaml` and the command line settle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

DEFAULT_FILE = Path(__file__).with_name("blackjack.yaml")


class BadConfig(ValueError):
    """The configuration cannot be used; the text says which line and why."""


class Section(BaseModel):
    """A part of the file. It has no line but those named here."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BlackJackEnvConfig(Section):
    server_url: str | None
    sessions: int = Field(ge=1)
    blind: bool


class PolicyConfig(Section):
    model: str | None
    width: int = Field(ge=4)
    layers: int = Field(ge=1)
    heads: int = Field(ge=1)


class OptimizerConfig(Section):
    lr: float = Field(gt=0)
    weight_decay: float = Field(ge=0)


class EntropyConfig(Section):
    """The entropy bonus of the first and of the last step; in between it falls in a line."""

    first: float = Field(ge=0)
    last: float = Field(ge=0)

    def at(self, done: float) -> float:
        """The bonus once a share of the training is done, from 0 to 1."""
        return self.first + (self.last - self.first) * done


class TrainerConfig(Section):
    optimizer: OptimizerConfig
    epochs: int = Field(ge=1)
    local_batch_size: int = Field(ge=1)
    max_norm: float = Field(gt=0)
    clip: float = Field(gt=0, lt=1)
    entropy: EntropyConfig


class ReferenceConfig(Section):
    beta: float = Field(ge=0)


class EvaluationConfig(Section):
    every: int = Field(ge=1)
    games: int = Field(ge=2)


class CheckpointConfig(Section):
    every: int = Field(ge=1)


class Config(Section):
    seed: int = Field(ge=0)
    group_size: int = Field(ge=2)
    groups: int = Field(ge=1)
    steps: int = Field(ge=1)
    output: Path
    blackjack_env: BlackJackEnvConfig
    policy: PolicyConfig
    trainer: TrainerConfig
    ref_model: ReferenceConfig
    evaluation: EvaluationConfig
    checkpoint: CheckpointConfig

    @property
    def games_per_step(self) -> int:
        return self.groups * self.group_size


def read(file: Path, overrides: Sequence[str] = ()) -> Config:
    """Reads a file and what is to be different: `["trainer.optimizer.lr=3e-4", …]`."""
    lines = yaml.safe_load(file.read_text(encoding="utf-8"))
    for override in overrides:
        _set(lines, override)
    try:
        return Config.model_validate(lines)
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise BadConfig(f"{file.name}: {told}") from None


def differences(one: Config, other: Config) -> list[str]:
    """The lines that are not the same, as `steps: 8 → 16`."""
    ours, theirs = _flat(one.model_dump(mode="json")), _flat(other.model_dump(mode="json"))
    return [f"{key}: {ours[key]} → {theirs[key]}" for key in ours if ours[key] != theirs[key]]


def _set(lines: dict[str, Any], override: str) -> None:
    path, equals, value = override.partition("=")
    if not equals:
        raise BadConfig(f"expected key=value, got {override!r}")
    *sections, last = path.split(".")
    for section in sections:
        lines = lines.get(section)  # type: ignore[assignment]
        if not isinstance(lines, dict):
            raise BadConfig(f"{override!r}: there is no section {section!r}")
    lines[last] = yaml.safe_load(value)


def _flat(lines: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in lines.items():
        name = f"{prefix}{key}"
        flat |= _flat(value, f"{name}.") if isinstance(value, dict) else {name: value}
    return flat
