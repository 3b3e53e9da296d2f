"""A question, its answer, and what it was worth."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from openenv import Action, Observation, State

LONGEST_ANSWER = 20_000


class ReasoningGymAction(Action):
    """An answer.

    Attributes:
        answer: the answer alone, in the form that the question asks for.
    """

    answer: str = Field(max_length=LONGEST_ANSWER)


class ReasoningGymObservation(Observation):
    """The question; and once it is answered, its score.

    Attributes:
        question: what is asked.
        score: how good the answer was, from 0 to 1; `None` before it.
        correct_answer: an answer that is right; `None` before the end, and where a question has
            none to show.
        dataset_metadata: what the dataset tells of the question; `None` before the end.
        text: the question, and what followed.
    """

    question: str | None = None
    score: float | None = None
    correct_answer: str | None = None
    dataset_metadata: dict[str, Any] | None = None
    text: str = ""


class ReasoningGymState(State):
    """Which question is asked. Its answer is not in it.

    Attributes:
        dataset_name: the dataset; `composite` for a mixture.
        size: questions after which the sequence begins again.
        index: the question's place in the sequence.
        seed: what settles the question.
        finished: whether it was answered.
    """

    dataset_name: str = "leg_counting"
    size: int = 1000
    index: int = 0
    seed: int | None = None
    finished: bool = False
