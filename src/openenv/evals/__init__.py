"""Evaluations: what a model is worth, measured with the harnesses of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.evals.harness import EvalHarness as EvalHarness
    from openenv.evals.inspect_harness import InspectAIHarness as InspectAIHarness
    from openenv.evals.models import EvalConfig as EvalConfig
    from openenv.evals.models import EvalFailed as EvalFailed
    from openenv.evals.models import EvalResult as EvalResult
    from openenv.evals.models import SampleCounts as SampleCounts
    from openenv.evals.models import Scores as Scores

_HOMES = {
    "EvalConfig": "openenv.evals.models",
    "EvalFailed": "openenv.evals.models",
    "EvalHarness": "openenv.evals.harness",
    "EvalResult": "openenv.evals.models",
    "InspectAIHarness": "openenv.evals.inspect_harness",
    "SampleCounts": "openenv.evals.models",
    "Scores": "openenv.evals.models",
}

__all__ = list(_HOMES)
__getattr__ = lazy(__name__, _HOMES)
