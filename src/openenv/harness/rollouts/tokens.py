"""The tokens of a rollout as one sequence, as a trainer of policies wants them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from openenv.harness.rollouts.results import HarnessRolloutResult, ModelStepResult
from openenv.protocol.errors import ProtocolError


def plain(values: Any) -> list[Any]:
    """A list of what may be an array or a tensor."""
    tolist = getattr(values, "tolist", None)
    return list(values if tolist is None else tolist())


def tokens(values: Any) -> list[int]:
    """Tokens as a plain list.

    Raises:
        ProtocolError: they are no whole numbers in one row.
    """
    listed = plain(values)
    if not all(type(token) is int for token in listed):
        raise ProtocolError(
            f"tokens must be whole numbers in one row, got {str(listed)[:60]}; of a batch, give "
            "one row"
        )
    return listed


@dataclass
class TokenSequence:
    """An episode's tokens: a prompt, and all that followed it.

    Attributes:
        prompt_ids: shape `(prompt,)`.
        completion_ids: what the model sampled and, between its turns, what it was told: shape
            `(completion,)`.
        logprobs: of each completion token, 0 for those that the model did not sample; empty if
            they are not known.
        env_mask: 1 for each token that the model sampled, 0 for the others: shape
            `(completion,)`.
    """

    prompt_ids: list[int] = field(default_factory=list)
    completion_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    env_mask: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, rollout: HarnessRolloutResult) -> TokenSequence:
        """The tokens of a rollout.

        Each turn's prompt begins with all the tokens before it; what it has beyond them is what
        the model was told in between. If it does not (the conversation was tokenised anew, and
        came out differently), prompts and completions are joined each by themselves, with a
        warning: the model never saw that sequence.
        """
        if len(rollout.turns) > 1:
            chained = _chained(rollout.turns)
            if chained is not None:
                return chained
            warnings.warn(
                "the prompt of a turn does not begin with the tokens of the turns before it, so "
                "prompts and completions are joined each by themselves, which is not what the "
                "model saw: give each turn's whole prompt, or train on one turn (max_turns=1)",
                RuntimeWarning,
                stacklevel=2,
            )
        return cls(
            list(rollout.prompt_ids),
            list(rollout.completion_ids),
            list(rollout.logprobs),
            [1] * len(rollout.completion_ids),
        )


def _chained(turns: list[ModelStepResult]) -> TokenSequence | None:
    """The turns as one sequence, if each prompt goes on from the one before."""
    first = turns[0]
    whole = list(first.prompt_ids)
    chain = TokenSequence(prompt_ids=list(whole))
    for turn in turns:
        told = turn.prompt_ids[len(whole) :]
        if turn.prompt_ids[: len(whole)] != whole:
            return None
        chain.completion_ids += [*told, *turn.completion_ids]
        chain.env_mask += [*[0] * len(told), *[1] * len(turn.completion_ids)]
        chain.logprobs += [*[0.0] * len(told), *turn.logprobs]
        whole += [*told, *turn.completion_ids]
    if not all(len(turn.logprobs) == len(turn.completion_ids) for turn in turns):
        chain.logprobs = []
    return chain
