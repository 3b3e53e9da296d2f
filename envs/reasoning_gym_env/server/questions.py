"""Questions of a dataset, and the scores of their answers."""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from openenv import errors, needs
from reasoning_gym_env.server import guard
from reasoning_gym_env.server.options import COMPOSITE, ReasoningGymOptions
from reasoning_gym_env.server.patience import within

with needs("openenv-reasoning-gym-env[server]"):
    import numpy as np
    import reasoning_gym  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from reasoning_gym.composite import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
        DatasetSpec,
    )

guard.disarm(reasoning_gym.factory.DATASETS)

SEED_RANGE = 1 << 31
LONGEST_S = 20.0
"""How long SymPy may take to simplify an answer."""

_global_generators = threading.Lock()


@dataclass(frozen=True)
class Score:
    """What an answer is worth, from 0 to 1; and why it could not be scored, if so."""

    value: float
    error: str | None = None


class Question:
    """A question of a seed: the first that its dataset has with that seed.

    Attributes:
        text: what is asked.
        answer: an answer that is right, `None` if there is none to show.
        details: what the dataset tells of it, as JSON; with hints at the answer.
    """

    def __init__(self, options: ReasoningGymOptions, seed: int) -> None:
        """Makes up the question.

        Raises:
            InvalidRequest: there is no such dataset, or it does not take these settings.
        """
        _check_names(options)
        self._seed = seed
        try:
            with _settled(seed):
                self._dataset = _dataset(options, seed)
                self._entry: dict[str, Any] = self._dataset[0]
        except Exception as error:
            raise errors.InvalidRequest(
                f"{options.dataset_name} cannot ask with these settings: "
                f"{type(error).__name__}: {str(error)[:300]}"
            ) from error
        self.text = str(self._entry["question"])
        answer = self._entry.get("answer")
        self.answer = None if answer is None else str(answer)
        self.details: dict[str, Any] = plain(self._entry.get("metadata") or {})
        self._source = str(self.details.get("source_dataset", options.dataset_name))

    def score(self, answer: str) -> Score:
        """Scores an answer. One that the dataset's scorer fails at is worth 0."""
        if why := guard.fault(self._source, answer, self.details):
            return Score(0.0, f"the answer was not read: {why}")
        try:
            with _settled(self._seed):
                value = self._value(answer)
        except Exception as error:  # noqa: BLE001  # a hundred scorers, each with faults of its own
            why = f"the answer could not be read: {type(error).__name__}: {str(error)[:200]}"
            return Score(0.0, f"{why}; answer in the form that the question asks for")
        return Score(min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0)

    def _value(self, answer: str) -> float:
        def work() -> float:
            return float(self._dataset.score_answer(answer=answer, entry=self._entry))

        return within(LONGEST_S, work) if self._source in guard.FORMULAS else work()


def names() -> list[str]:
    """The datasets that there are."""
    return sorted(reasoning_gym.factory.DATASETS)


def plain(value: Any) -> Any:
    """A value as JSON has it: texts as keys, lists for tuples and sets, text for what is left."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(each) for each in value), key=repr)
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _dataset(options: ReasoningGymOptions, seed: int) -> Any:
    settings = {"seed": seed % SEED_RANGE, "size": options.size}
    if options.dataset_name != COMPOSITE:
        given = {**options.dataset_config, **settings}
        return reasoning_gym.create_dataset(options.dataset_name, **given)
    specs = [
        DatasetSpec(spec.name, spec.weight, dict(spec.config)) for spec in options.dataset_specs
    ]
    return reasoning_gym.create_dataset(COMPOSITE, datasets=specs, **settings)


def _check_names(options: ReasoningGymOptions) -> None:
    for name in (options.dataset_name, *(spec.name for spec in options.dataset_specs)):
        if name not in reasoning_gym.factory.DATASETS:
            close = get_close_matches(name, names(), 3) or names()
            raise errors.InvalidRequest(f"no dataset {name!r}; there is {', '.join(close)}")


@contextmanager
def _settled(seed: int) -> Iterator[None]:
    """Seeds the global generators for its block, and then gives them back as they were.

    A few datasets draw from them.
    """
    with _global_generators:
        python, numpy = random.getstate(), np.random.get_state()
        random.seed(seed)
        np.random.seed(seed % SEED_RANGE)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)
