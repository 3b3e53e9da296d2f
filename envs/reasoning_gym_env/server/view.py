"""A question as a web page shows it."""

from __future__ import annotations

from typing import Any

from openenv.env.web_html import facts, page, refusal, text
from reasoning_gym_env.models import ReasoningGymState


def draw(seen: dict[str, Any], state: ReasoningGymState, said: str) -> str:
    """The question; and once it is answered, the answer, its score, and one that is right.

    Args:
        seen: an observation.
        state: which question it is.
        said: the answer that was given.
    """
    known = {
        "Dataset": state.dataset_name,
        "Question": f"{state.index + 1} of {state.size}",
        "Score": None if seen["score"] is None else f"{seen['score']:g}",
    }
    right = seen["correct_answer"]
    return page(
        facts(known),
        refusal(seen),
        text(seen["question"] or "", "Question"),
        text(said, "Your answer") if seen["done"] else None,
        None if right is None else text(right, "A right answer"),
    )
