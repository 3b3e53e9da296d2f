"""Evaluation: several policies on the same seeds of one environment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from openenv.evals.scorecard import Scorecard
from openenv.protocol.errors import ConfigurationError, Json, OpenEnvError

FORMAT = "openenv.evaluation/1"
"""What a file of an evaluation says it is."""
_WARN_BELOW = 20


class NotAnEvaluation(OpenEnvError, ValueError):
    """A file is no evaluation, or holds several policies where one is needed."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What several policies achieved on the same seeds.

    Attributes:
        environment: `name` and `version` of what was played, as its server says.
        openenv_version: of who played.
        started_at: when, in UTC, as ISO 8601 says it.
        seeds: of the episodes of each policy; one may come several times.
        options: what each reset was given beside the seed and the episode's name.
        max_steps: how long an episode might be.
        success: what made an episode a success.
        policies: what each achieved.
    """

    environment: Json
    openenv_version: str
    started_at: str
    seeds: Sequence[int]
    options: Json = field(default_factory=dict)
    max_steps: int = 1000
    success: str = "as the environment says"
    policies: Sequence[Scorecard] = ()

    def __getitem__(self, policy: str) -> Scorecard:
        for card in self.policies:
            if card.policy == policy:
                return card
        known = ", ".join(card.policy for card in self.policies)
        raise KeyError(f"no policy {policy!r} was evaluated, but {known}")

    def warnings(self) -> list[str]:
        """What makes the figures worth less than they look."""
        return [warning for card in self.policies for warning in _warnings(card)]

    def to_dict(self) -> Json:
        """The evaluation as JSON takes it."""
        own = {name: value for name, value in vars(self).items() if name != "policies"}
        return {
            "format": FORMAT,
            **own,
            "seeds": list(self.seeds),
            "warnings": self.warnings(),
            "policies": [card.to_dict() for card in self.policies],
        }

    @classmethod
    def from_dict(cls, said: Any) -> Evaluation:
        """The evaluation that `to_dict` has written.

        Raises:
            NotAnEvaluation: it is none.
        """
        if not isinstance(said, Mapping) or said.get("format") != FORMAT:
            raise NotAnEvaluation(
                f"it does not say that its format is {FORMAT!r}; openenv eval --output writes one"
            )
        try:
            return TypeAdapter(cls).validate_python(said)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise NotAnEvaluation(f"{place}: {first['msg']}, got {first['input']!r}") from error

    def save(self, path: str | Path) -> None:
        """Writes the evaluation to a JSON file, whose folder is made.

        Raises:
            OSError: it cannot be written.
        """
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False)
        path.write_text(text + "\n", encoding="utf-8")


def load_evaluation(path: str | Path) -> Evaluation:
    """The evaluation in a file that `openenv eval --output` or `Evaluation.save` has written.

    Raises:
        FileNotFoundError: there is no such file.
        NotAnEvaluation: it holds something else.
    """
    try:
        return Evaluation.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
    except NotAnEvaluation as error:
        raise NotAnEvaluation(f"{path} is no evaluation: {error}") from error
    except ValueError as error:
        raise NotAnEvaluation(f"{path} is no evaluation, for it is no JSON: {error}") from error


def distinct(names: Sequence[str]) -> None:
    """Checks that policies can be told apart.

    Raises:
        ConfigurationError: there are none, or two have the same name.
    """
    if not names:
        raise ConfigurationError("an evaluation needs at least one policy")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigurationError(
            f"several policies are called {', '.join(twice)}; give them names of their own, "
            "ScriptedPolicy(function, name=…) say"
        )


def _warnings(card: Scorecard) -> list[str]:
    lost = card.failed + card.unrewarded
    seeds = len(card.by_seed)
    told = []
    if lost and card.scored:
        told.append(
            f"{card.policy}: {lost} of {len(card.outcomes)} episodes are in no mean; if its own "
            "actions made them fail, the mean flatters it"
        )
    elif lost:
        told.append(f"{card.policy}: no episode has a reward that counts")
    if 0 < seeds < _WARN_BELOW:
        told.append(f"{card.policy}: {seeds} seeds are few for an interval; play {_WARN_BELOW}")
    if len(card.rewards) > 1 and len(set(card.rewards)) == 1:
        told.append(f"{card.policy}: all rewards are alike, so the interval has no width")
    return told
