"""The examiner that a server holds for each session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from openenv import Environment, errors
from reasoning_gym_env.models import (
    ReasoningGymAction,
    ReasoningGymObservation,
    ReasoningGymState,
)
from reasoning_gym_env.server import view
from reasoning_gym_env.server.options import ReasoningGymOptions
from reasoning_gym_env.server.questions import Question, Score

ANSWERED = "the question was answered, and its score stays; reset() asks the next one"


class ReasoningGymEnvironment(
    Environment[ReasoningGymAction, ReasoningGymObservation, ReasoningGymState]
):
    """A question at each reset, and one answer, which pays its score: from 0 to 1.

    `reset(seed=s)` asks the question of seed `s`, and each reset without a seed that of the next
    one, `s + 1`, until `size` questions were asked: then it is `s` again.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the score
    OPTIONS = ReasoningGymOptions
    HOST = "sandbox"  # some of the scorers evaluate what was answered

    def __init__(
        self,
        dataset_name: str | None = None,
        dataset_config: dict[str, Any] | None = None,
        dataset_specs: Sequence[dict[str, Any]] | None = None,
        seed: int | None = None,
        size: int | None = None,
        options: ReasoningGymOptions | None = None,
    ) -> None:
        """Chooses the questions.

        Args:
            dataset_name: a dataset of Reasoning Gym.
            dataset_config: its settings.
            dataset_specs: the datasets of a mixture, each with `name`, `weight` and `config`.
            seed: where the sequence begins.
            size: questions after which it begins again.
            options: all of these, by default as the variables say; the others win over it.

        Raises:
            InvalidRequest: one of them is wrong.
        """
        super().__init__()
        given = {
            "dataset_name": dataset_name,
            "dataset_config": dataset_config,
            "dataset_specs": dataset_specs,
            "seed": seed,
            "size": size,
        }
        self._options = (options or ReasoningGymOptions.from_variables()).updated(given)
        self._first = self._options.seed
        self._next = 0
        self._question: Question | None = None
        self._answered: Score | None = None
        self._state = ReasoningGymState(
            dataset_name=self._options.dataset_name, size=self._options.size
        )

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> ReasoningGymObservation:
        """Asks a question.

        Args:
            seed: which question; without it, the next one of the sequence.
            episode_id: the episode's name; one is made up without it.
            **options: `dataset_name`, `dataset_config`, `dataset_specs` and `size`, for this and
                all later questions. Others than before begin the sequence anew.

        Raises:
            InvalidRequest: an option is unknown, wrong, or contradicts another. The question that
                was asked stays.
        """
        wanted = self._options.updated({**options, "seed": seed})
        anew = seed is not None or wanted != self._options
        first, index = (wanted.seed, 0) if anew else (self._first, self._next)
        question = Question(wanted, first + index)
        self._options, self._first, self._next = wanted, first, (index + 1) % wanted.size
        self._question, self._answered, self._said = question, None, ""
        self._state = ReasoningGymState(
            episode_id=episode_id or str(uuid4()),
            dataset_name=wanted.dataset_name,
            size=wanted.size,
            index=index,
            seed=first + index,
        )
        return self._seen(question, reward=0.0)

    def step(
        self, action: ReasoningGymAction, timeout_s: float | None = None, **kwargs: Any
    ) -> ReasoningGymObservation:
        """Scores the answer. A second one changes nothing, and is paid nothing.

        Raises:
            errors.ResetRequired: nothing was asked yet.
        """
        question = self._asked()
        if self._answered is not None:
            return self._seen(question, reward=0.0, error=ANSWERED)
        self._answered, self._said = question.score(action.answer), action.answer
        self._state.step_count += 1
        self._state.finished = True
        return self._seen(question, reward=self._answered.value, error=self._answered.error)

    @property
    def state(self) -> ReasoningGymState:
        """Which question is asked, without its answer."""
        return self._state

    def render_web(self, observation: dict[str, Any]) -> str:
        """The question, and what became of it, as HTML."""
        return view.draw(observation, self._state, self._said)

    def _asked(self) -> Question:
        if self._question is None:
            raise errors.ResetRequired("nothing was asked yet; call reset() first")
        return self._question

    def _seen(
        self, question: Question, *, reward: float, error: str | None = None
    ) -> ReasoningGymObservation:
        told: dict[str, Any] = {"seed": self._state.seed, "index": self._state.index}
        told |= {"error": error} if error else {}
        if self._answered is None:
            return ReasoningGymObservation(
                reward=reward, metadata=told, question=question.text, text=question.text
            )
        text = f"{question.text}\n\nscore {self._answered.value:g}, answer {question.answer}"
        if error:
            text = f"Refused: {error}\n{text}"
        return ReasoningGymObservation(
            done=True,
            reward=reward,
            metadata=told,
            question=question.text,
            score=self._answered.value,
            correct_answer=question.answer,
            dataset_metadata=question.details,
            text=text,
        )
