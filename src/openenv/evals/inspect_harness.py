"""InspectAIHarness: evaluations run by Inspect AI."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, count
from typing import Any

from openenv.evals.harness import EvalHarness
from openenv.evals.models import EvalFailed, SampleCounts, Scores
from openenv.protocol.errors import ConfigurationError
from openenv.protocol.extras import needs

PASSED_ON = (
    *("model", "model_base_url", "model_args", "task_args", "max_samples", "max_connections"),
    *("temperature", "max_tokens", "epochs", "solver", "scorer"),
)
"""The parameters that `inspect_ai.eval` is given as they are, where they are not `None`."""


class InspectAIHarness(EvalHarness):
    """Runs a task of Inspect's, and flattens the metrics of its scorers into one dict.

    `eval_parameters` are `model` (required), `task` (the dataset's name by default), and the
    rest of `PASSED_ON`, as `inspect_ai.eval` takes them.

    A metric keeps its plain name. Where a later scorer has a metric of the same name, that one is
    `scorer/metric`, or, if the scorer appears with several reducers, `scorer/reducer/metric`.
    A metric of a scorer that scored no sample is `None`, where Inspect says 0.

    Args:
        log_dir: where Inspect writes its logs; Inspect's own default otherwise.
    """

    def __init__(self, *, log_dir: str | None = None) -> None:
        self.log_dir = log_dir

    def run(
        self,
        harness_version: str,
        library_versions: dict[str, str],
        dataset: str,
        eval_parameters: dict[str, Any],
    ) -> Scores:
        """Runs one task with one model, in this thread.

        Raises:
            MissingPackage: Inspect is not installed (also `ImportError`).
            ConfigurationError: no model is given, or a parameter is unknown (also `ValueError`).
            EvalFailed: Inspect refused, failed, or was cancelled (also `RuntimeError`).
        """
        with needs("openenv-core[inspect]"):
            import inspect_ai
        _check(eval_parameters)
        task = eval_parameters.get("task")
        arguments = {
            name: eval_parameters[name]
            for name in PASSED_ON
            if eval_parameters.get(name) is not None
        }
        if self.log_dir is not None:
            arguments["log_dir"] = self.log_dir
        try:
            logs = inspect_ai.eval(dataset if task is None else task, **arguments)
        except Exception as error:
            raise EvalFailed(
                f"Inspect could not run the evaluation ({type(error).__name__}: {error}); are the "
                "task, the model and eval_parameters what inspect_ai.eval takes?"
            ) from error
        return _scores(_successful(logs))


def _check(parameters: Mapping[str, Any]) -> None:
    if not parameters.get("model"):
        raise ConfigurationError(
            "eval_parameters must have 'model', such as 'openai/gpt-4o' or 'mockllm/model'"
        )
    if unknown := parameters.keys() - {"task", *PASSED_ON}:
        raise ConfigurationError(
            f"eval_parameters has {', '.join(sorted(map(repr, unknown)))}, which is none of: task, "
            f"{', '.join(PASSED_ON)}"
        )


def _successful(logs: Any) -> Any:
    """The one log of a run that went well."""
    if not logs:
        raise EvalFailed("Inspect returned no logs; are there such a task and such a model?")
    path = _path(logs[0])
    if len(logs) > 1:
        raise EvalFailed(
            f"Inspect ran {len(logs)} tasks, whose scores do not fit into one result: name one "
            f"task and one model (the first log is {path})",
            path,
        )
    if logs[0].status != "success":
        why = getattr(getattr(logs[0], "error", None), "message", None)
        raise EvalFailed(
            f"Inspect ended with status {logs[0].status!r}{f': {why}' if why else ''} "
            f"(log: {path})",
            path,
        )
    return logs[0]


def _path(log: Any) -> str | None:
    location = getattr(log, "location", None)
    return location if isinstance(location, str) and location else None


def _scores(log: Any) -> Scores:
    """The metrics of all scorers by name, with the counts of what they rest on."""
    if log.results is None:
        return Scores({}, _path(log))
    metrics: dict[str, Any] = {}
    unscored: dict[str, int] = {}
    for scorer in log.results.scores:
        for name, metric in scorer.metrics.items():
            metrics[_free(metrics, name, scorer)] = _value(metric, scorer)
        if missing := _whole(scorer, "unscored_samples"):
            unscored[_free(unscored, str(scorer.name), scorer)] = missing
    samples = SampleCounts(
        total=_whole(log.results, "total_samples"),
        completed=_whole(log.results, "completed_samples"),
        unscored=unscored,
    )
    return Scores(metrics, _path(log), samples)


def _value(metric: Any, scorer: Any) -> Any:
    return None if _whole(scorer, "scored_samples") == 0 else metric.value


def _free(taken: Mapping[str, Any], name: str, scorer: Any) -> str:
    """The first name that is free for something of a scorer's."""
    whose = f"{scorer.name}/{name}"
    names = (name, whose, f"{scorer.name}/{getattr(scorer, 'reducer', None)}/{name}")
    numbered = (f"{whose}#{number}" for number in count(2))
    return next(each for each in chain(names, numbered) if each not in taken)


def _whole(counted: Any, name: str) -> int | None:
    """A count, which older versions of Inspect leave out."""
    value = getattr(counted, name, None)
    return value if isinstance(value, int) else None
