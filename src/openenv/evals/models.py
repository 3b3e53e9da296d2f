"""What is evaluated, and what came of it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from openenv.protocol.errors import OpenEnvError


class EvalFailed(OpenEnvError, RuntimeError):
    """An evaluation gave no scores.

    Attributes:
        log_path: where its log is, if it left one.
    """

    def __init__(self, message: str, log_path: str | None = None) -> None:
        self.log_path = log_path
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.log_path)


class EvalConfig(BaseModel):
    """All that it takes to run an evaluation again.

    Attributes:
        harness_name: which harness.
        harness_version: of that harness.
        library_versions: of whatever else matters, by name.
        dataset: what the model is asked.
        eval_parameters: what the harness is given besides.
    """

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    harness_name: str
    harness_version: str
    library_versions: dict[str, str]
    dataset: str
    eval_parameters: dict[str, Any]


class SampleCounts(BaseModel):
    """How much of an evaluation its scores rest on. What the harness does not tell is `None`.

    Attributes:
        total: samples that were to be run, epochs counted each.
        completed: those that ended without an error.
        unscored: those that a scorer could not score, by the scorer's name. They are in none of
            its metrics.
    """

    model_config = ConfigDict(extra="forbid")

    total: int | None = None
    completed: int | None = None
    unscored: dict[str, int] = Field(default_factory=dict)


class EvalResult(BaseModel):
    """What an evaluation gave.

    Attributes:
        config: what was run.
        scores: metrics by name; `None` for one that rests on no sample.
        log_path: where the harness wrote its log, if it did.
        samples: what the scores rest on.
    """

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    config: EvalConfig
    scores: dict[str, Any]
    log_path: str | None = None
    samples: SampleCounts = Field(default_factory=SampleCounts)


class Scores(dict[str, Any]):
    """Metrics by name, and what they rest on.

    Args:
        metrics: by name.
        log_path: as of `EvalResult`.
        samples: as of `EvalResult`.
    """

    def __init__(
        self,
        metrics: dict[str, Any],
        log_path: str | None = None,
        samples: SampleCounts | None = None,
    ) -> None:
        super().__init__(metrics)
        self.log_path = log_path
        self.samples = samples or SampleCounts()
