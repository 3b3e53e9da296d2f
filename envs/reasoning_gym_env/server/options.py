"""Which questions are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import Self

from openenv import Options

COMPOSITE = "composite"
LONGEST_NAME = 100
MOST_SETTINGS = 64
MOST_SPECS = 200


class DatasetSpec(BaseModel):
    """One dataset of a mixture.

    Attributes:
        name: the dataset.
        weight: how often it is asked, beside the others' weights.
        config: its settings.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(max_length=LONGEST_NAME)
    weight: float = Field(default=1.0, gt=0)
    config: dict[str, Any] = Field(default_factory=dict, max_length=MOST_SETTINGS)


class ReasoningGymOptions(Options, variables="REASONING_GYM_"):
    """Which questions are asked.

    Attributes:
        dataset_name: a dataset of Reasoning Gym, or `composite` for a mixture.
        dataset_config: its settings.
        dataset_specs: the datasets of a mixture.
        size: questions after which the sequence begins again.
        seed: where the sequence begins if no reset says it.
    """

    dataset_name: str = Field(default="leg_counting", max_length=LONGEST_NAME)
    dataset_config: dict[str, Any] = Field(default_factory=dict, max_length=MOST_SETTINGS)
    dataset_specs: tuple[DatasetSpec, ...] = Field(default=(), max_length=MOST_SPECS)
    size: int = Field(default=1000, ge=1, le=1 << 31)
    seed: int = Field(default=42, ge=0)

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if bool(self.dataset_specs) != (self.dataset_name == COMPOSITE):
            raise ValueError(f"dataset_specs are those of {COMPOSITE}, and it needs some")
        if self.dataset_specs and self.dataset_config:
            raise ValueError("a mixture has no dataset_config; give each of its specs a config")
        return self

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """These options with some changed; another dataset begins without settings."""
        changes = {name: value for name, value in changes.items() if value is not None}
        if "dataset_name" in changes or "dataset_specs" in changes:
            name = COMPOSITE if changes.get("dataset_specs") else self.dataset_name
            fresh = {"dataset_name": name, "dataset_config": {}, "dataset_specs": ()}
            changes = {**fresh, **changes}
        return super().updated(changes)
