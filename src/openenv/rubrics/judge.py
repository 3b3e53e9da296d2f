"""LLMJudge: a language model gives the score."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from openenv.llm.base import LLMClient
from openenv.llm.cache import AnswerCache
from openenv.protocol.errors import ConfigurationError, OpenEnvError
from openenv.rubrics.base import Rubric
from openenv.rubrics.prompt import render
from openenv.rubrics.score_text import score_in

_UNFINISHED = {
    "length": "was cut off at max_tokens",
    "content_filter": "was withheld by a content filter",
    "refusal": "is a refusal",
}
_SETTINGS = ("model", "base_url", "system_prompt", "temperature", "max_tokens")
_SHOWN = 200
_KEPT = 2000


class NoScore(OpenEnvError, ValueError):
    """A judge answered, but not with a score."""


class LLMJudge(Rubric):
    """Has a language model score an action and what followed.

    A judge that cannot be reached, is cut off, or says no number has failed: its score is not
    valid, and carries the reason. It is never 0.0 in silence.

    Args:
        prompt_template: the prompt; `{action}` and `{observation}` are filled in, also with fields
            such as `{action.message}`. Other braces stand for themselves.
        client: the model.
        score_pattern: a regular expression that finds the score: its first match, group 1 if it
            has one. By default the score is found as `openenv.rubrics.score_text.score_in` says.
        default_score: the score of an answer in which there is none; by default, it has failed.
            It does not stand for answers that never came, or did not end.
        normalize: clamps scores to 0 … 1.
        cache: `True` keeps the judge's last answers if its client has temperature 0, `False`
            none; an `AnswerCache` is used as it is, and may be shared by the judges of many
            sessions. It is asked by all that the answer depends on: the model, its settings, and
            the whole prompt.

    Attributes:
        last_answer: what it answered last, at most 2000 characters; a score's explanation shows it.

    Raises:
        ConfigurationError: `score_pattern` is no regular expression.
    """

    EXPLAINED = ("last_answer",)
    last_answer: str | None = None

    def __init__(
        self,
        prompt_template: str,
        client: LLMClient,
        *,
        score_pattern: str | None = None,
        default_score: float | None = None,
        normalize: bool = True,
        cache: AnswerCache | bool = True,
    ) -> None:
        super().__init__()
        self.prompt_template = prompt_template
        self.default_score = default_score
        self.normalize = normalize
        self._client = client
        self._cache = _cache_for(client, cache)
        self._score_pattern = _compiled(score_pattern)

    async def forward(self, action: Any, observation: Any) -> float:
        """The judge's score.

        Raises:
            NoScore: its answer has none.
            ModelFailed: it gave no answer.
        """
        self.last_answer = None
        prompt = self._render_prompt(action, observation)
        if self._cache is None:
            return self._read(await self._answer(prompt))
        key = self._key(prompt)
        answer = await self._cache.get(key, lambda: self._answer(prompt))
        try:
            return self._read(answer)
        except Exception:
            self._cache.forget(key)
            raise

    def _read(self, answer: str) -> float:
        self.last_answer = answer[:_KEPT]
        return self._parse_score(answer)

    def state_dict(self) -> dict[str, Any]:
        """The prompt, and how its answers are read."""
        pattern = self._score_pattern
        return {
            "prompt_template": self.prompt_template,
            "score_pattern": None if pattern is None else pattern.pattern,
            "default_score": self.default_score,
            "normalize": self.normalize,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Sets what `state_dict` says; what it does not say stays."""
        self.prompt_template = state.get("prompt_template", self.prompt_template)
        if "score_pattern" in state:
            self._score_pattern = _compiled(state["score_pattern"])
        self.default_score = state.get("default_score", self.default_score)
        self.normalize = state.get("normalize", self.normalize)

    def _render_prompt(self, action: Any, observation: Any) -> str:
        """The prompt; an override may make it otherwise."""
        return render(self.prompt_template, action, observation)

    def _parse_score(self, response: str) -> float:
        """The score in an answer; an override may find it otherwise.

        Raises:
            NoScore: there is none, and no `default_score`.
        """
        found = self._found(response)
        if found is None or not math.isfinite(found):
            if self.default_score is None:
                raise NoScore(f"the judge named no clear score: {response[:_SHOWN]!r}")
            return self.default_score
        return min(1.0, max(0.0, found)) if self.normalize else found

    def _found(self, response: str) -> float | None:
        if self._score_pattern is None:
            return score_in(response)
        match = self._score_pattern.search(response)
        if match is None:
            return None
        try:
            return float(match[1] if match.re.groups else match[0])
        except (ValueError, TypeError):  # no number, or a group that matched nothing
            return None

    async def _answer(self, prompt: str) -> str:
        answer = await self._client.complete(prompt)
        if not isinstance(answer, str):
            raise NoScore(f"the judge's client gave no text, but {answer!r:.200}")
        ending = _UNFINISHED.get(getattr(answer, "finish_reason", None) or "")
        if ending is not None:
            raise NoScore(f"the judge's answer {ending}: {answer[:_SHOWN]!r}")
        return answer

    def _key(self, prompt: str) -> str:
        client = self._client
        asked = [type(client).__qualname__, *(getattr(client, name, None) for name in _SETTINGS)]
        who = asked if asked[1] else [id(client)]  # one without a model is known by itself alone
        return hashlib.sha256(json.dumps([*who, prompt], default=str).encode()).hexdigest()


def _cache_for(client: LLMClient, asked: AnswerCache | bool) -> AnswerCache | None:
    """The one that is asked for; its own only if the same prompt gets the same answer."""
    if isinstance(asked, AnswerCache):
        return asked
    return AnswerCache() if asked and getattr(client, "temperature", None) == 0 else None


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    try:
        return None if pattern is None else re.compile(pattern)
    except (re.error, TypeError) as error:
        raise ConfigurationError(
            f"score_pattern={pattern!r} is no regular expression: {error}"
        ) from error
