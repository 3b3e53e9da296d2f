"""EvalHarness: what runs an evaluation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from openenv.evals.models import EvalConfig, EvalResult, Scores


class EvalHarness(ABC):
    """Runs evaluations with some framework; a subclass says how in `run`."""

    @property
    def name(self) -> str:
        """What configurations call it: the name of its class."""
        return type(self).__name__

    @abstractmethod
    def run(
        self,
        harness_version: str,
        library_versions: dict[str, str],
        dataset: str,
        eval_parameters: dict[str, Any],
    ) -> dict[str, Any]:
        """Runs one evaluation.

        Args:
            harness_version: of the framework.
            library_versions: of whatever else matters, by name.
            dataset: what the model is asked.
            eval_parameters: what the framework is given besides.

        Returns:
            Metrics by name; as `Scores` with what they rest on.

        Raises:
            EvalFailed: there are no scores.
        """

    def run_from_config(self, config: EvalConfig) -> EvalResult:
        """Runs what a configuration says, and keeps both together.

        Raises:
            EvalFailed: there are no scores.
        """
        scores = self.run(
            config.harness_version, config.library_versions, config.dataset, config.eval_parameters
        )
        told = scores if isinstance(scores, Scores) else Scores(scores)
        return EvalResult(
            config=config, scores=dict(told), log_path=told.log_path, samples=told.samples
        )
