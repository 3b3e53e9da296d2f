"""Evaluations: what policies are worth, measured by us or with the harnesses of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.evals.comparing import Comparison as Comparison
    from openenv.evals.comparing import Side as Side
    from openenv.evals.comparing import compare as compare
    from openenv.evals.evaluation import Evaluation as Evaluation
    from openenv.evals.evaluation import NotAnEvaluation as NotAnEvaluation
    from openenv.evals.evaluation import load_evaluation as load_evaluation
    from openenv.evals.harness import EvalHarness as EvalHarness
    from openenv.evals.inspect_harness import InspectAIHarness as InspectAIHarness
    from openenv.evals.intervals import Interval as Interval
    from openenv.evals.intervals import mean_interval as mean_interval
    from openenv.evals.intervals import rate_interval as rate_interval
    from openenv.evals.models import EvalConfig as EvalConfig
    from openenv.evals.models import EvalFailed as EvalFailed
    from openenv.evals.models import EvalResult as EvalResult
    from openenv.evals.models import SampleCounts as SampleCounts
    from openenv.evals.models import Scores as Scores
    from openenv.evals.outcomes import EpisodeOutcome as EpisodeOutcome
    from openenv.evals.playing import evaluate as evaluate
    from openenv.evals.report import html_report as html_report
    from openenv.evals.scorecard import Scorecard as Scorecard

_HOMES = {
    "Comparison": "openenv.evals.comparing",
    "EpisodeOutcome": "openenv.evals.outcomes",
    "EvalConfig": "openenv.evals.models",
    "EvalFailed": "openenv.evals.models",
    "EvalHarness": "openenv.evals.harness",
    "EvalResult": "openenv.evals.models",
    "Evaluation": "openenv.evals.evaluation",
    "InspectAIHarness": "openenv.evals.inspect_harness",
    "Interval": "openenv.evals.intervals",
    "NotAnEvaluation": "openenv.evals.evaluation",
    "SampleCounts": "openenv.evals.models",
    "Scorecard": "openenv.evals.scorecard",
    "Scores": "openenv.evals.models",
    "Side": "openenv.evals.comparing",
    "compare": "openenv.evals.comparing",
    "evaluate": "openenv.evals.playing",
    "html_report": "openenv.evals.report",
    "load_evaluation": "openenv.evals.evaluation",
    "mean_interval": "openenv.evals.intervals",
    "rate_interval": "openenv.evals.intervals",
}

__all__ = list(_HOMES)
__getattr__ = lazy(__name__, _HOMES)
