"""Traces to train on: tokens, their probabilities and which of them count, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import Self

if TYPE_CHECKING:
    from openenv.harness.rollouts.sessions import TraceEntry

Token = Annotated[int, Field(strict=True, ge=0)]
Mark = Annotated[int, Field(strict=True, ge=0, le=1)]
Logarithm = Annotated[float, Field(le=0.0, allow_inf_nan=False)]


class TrainingTurn(BaseModel):
    """One call of an engine.

    Attributes:
        node_id: its name, the only one in a trace.
        prompt_token_ids: what the engine was given, at least one token: shape `(prompt,)`.
        completion_token_ids: what it sampled: shape `(completion,)`.
        per_token_logps: the logarithms of the sampled tokens' probabilities, in nats: shape
            `(completion,)`, finite and at most 0.
        loss_mask: which tokens are trained on, 1 or 0: shape `(prompt + completion,)`; 0 for the
            whole prompt.
        request: what was asked.
        response: what was answered.
        metadata: what else is known.

    Raises:
        pydantic.ValidationError: the lengths do not agree, or a value is none of these.
    """

    model_config = ConfigDict(extra="forbid")

    node_id: str = Field(min_length=1)
    prompt_token_ids: list[Token] = Field(min_length=1)
    completion_token_ids: list[Token]
    per_token_logps: list[Logarithm]
    loss_mask: list[Mark]
    request: dict[str, Any] = Field(default_factory=dict)
    response: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _agree(self) -> Self:
        prompt, completion = len(self.prompt_token_ids), len(self.completion_token_ids)
        if len(self.per_token_logps) != completion:
            raise ValueError(
                f"{completion} tokens were sampled, with {len(self.per_token_logps)} "
                "probabilities: one is needed for each"
            )
        if len(self.loss_mask) != prompt + completion:
            raise ValueError(
                f"loss_mask has {len(self.loss_mask)} marks for {prompt} tokens of the prompt and "
                f"{completion} of the completion: one is needed for each"
            )
        if any(self.loss_mask[:prompt]):
            raise ValueError("loss_mask marks tokens of the prompt, which nobody sampled")
        return self


class TrainingTrace(BaseModel):
    """An episode's calls of an engine.

    Attributes:
        schema_version: of this form.
        turns: the calls, in order.

    Raises:
        pydantic.ValidationError: a turn is not valid, or two have one name.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1] = 1
    turns: list[TrainingTurn]

    @model_validator(mode="after")
    def _differ(self) -> Self:
        names = [turn.node_id for turn in self.turns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"node_id must name one turn of a trace; several are called {twice}")
        return self

    @classmethod
    def from_entries(cls, entries: Sequence[Mapping[str, Any]]) -> Self:
        """The trace of recorded calls, each with its `node_id` in its `metadata`.

        Raises:
            KeyError: an entry lacks its name, its tokens, their probabilities or its mask.
            pydantic.ValidationError: a turn is not valid.
        """
        return cls(turns=[_turn(entry) for entry in entries])

    def to_trace_entries(self) -> list[TraceEntry]:
        """The turns as recorded calls."""
        return [
            {
                "prompt_token_ids": list(turn.prompt_token_ids),
                "completion_token_ids": list(turn.completion_token_ids),
                "per_token_logps": list(turn.per_token_logps),
                "loss_mask": list(turn.loss_mask),
                "request": dict(turn.request),
                "response": dict(turn.response),
                "metadata": {**turn.metadata, "node_id": turn.node_id},
            }
            for turn in self.turns
        ]


def _turn(entry: Mapping[str, Any]) -> TrainingTurn:
    return TrainingTurn(
        node_id=entry["metadata"]["node_id"],
        prompt_token_ids=entry["prompt_token_ids"],
        completion_token_ids=entry["completion_token_ids"],
        per_token_logps=entry["per_token_logps"],
        loss_mask=entry["loss_mask"],
        request=entry.get("request") or {},
        response=entry.get("response") or {},
        metadata=entry["metadata"],
    )
