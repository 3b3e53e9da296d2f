"""What a rollout consists of: calls of tools and their results, the model's turns, limits."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from openenv.protocol.errors import ConfigurationError, Json

if TYPE_CHECKING:
    from openenv.env.tool_models import Tool
    from openenv.llm.responses import LLMResponse

Message: TypeAlias = dict[str, Any]
"""One message of a conversation, in OpenAI's form: `role`, `content` and, where there are any,
`tool_calls` or `tool_call_id`."""


@dataclass
class ToolResult:
    """What a call of a tool gave.

    Attributes:
        data: what the model is told; anything that JSON can say.
        done: the episode has ended with this call.
        metadata: what the model is not told: `reward`, and `reward_error` where that could not
            be computed.
        error: why there is no result, in words for the model.
    """

    data: Any = None
    done: bool = False
    metadata: Json = field(default_factory=dict)
    error: str | None = None


@dataclass
class VerifyResult:
    """What a session says of an episode that has ended.

    Attributes:
        env_reward: the environment's reward of the episode; `None` where it gave none.
        done: whether the episode ended by its own rules.
        metrics: numbers and remarks about it; `reward_error` says why there is no reward where
            there should be one.
        artifacts: what else is to be kept of it.
    """

    env_reward: float | None = None
    done: bool = False
    metrics: Json = field(default_factory=dict)
    artifacts: Json = field(default_factory=dict)


@dataclass
class RolloutEvent:
    """Something that happened in a rollout.

    Attributes:
        type: `model_response`, `tool_call` or `tool_call_refused`.
        payload: what it was about.
    """

    type: str
    payload: Json = field(default_factory=dict)


@dataclass
class ToolTraceEntry:
    """One call of a tool, with its result.

    Attributes:
        tool_name: which tool.
        arguments: by name.
        result: what it gave.
    """

    tool_name: str
    arguments: Json
    result: ToolResult


@dataclass
class ModelStepResult:
    """One turn of the model.

    Attributes:
        response: what it says and which tools it calls.
        prompt_ids: the tokens that it was given, all of them: shape `(prompt,)`.
        completion_ids: the tokens that it sampled: shape `(completion,)`.
        logprobs: the logarithms of their probabilities, in nats: one for each completion token,
            or none at all.
    """

    response: LLMResponse
    prompt_ids: list[int] = field(default_factory=list)
    completion_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)


@dataclass
class HarnessRolloutResult:
    """An episode as a model or an agent played it.

    Attributes:
        messages: the conversation.
        tool_trace: the calls that reached the session, in order.
        events: what happened, in order.
        done: it ended by itself: the episode is over, or the model called no more tools.
        metrics: of a white-box rollout: `turns`, `tool_calls`, `tool_errors`, `truncated`: whether
            a limit ended it, and `stopped_by`: `environment`, `model` (it called no more tools),
            `limit`, or `error`.
        prompt_ids: the prompts' tokens of all turns, one turn after the other.
        completion_ids: the sampled tokens of all turns, likewise.
        logprobs: theirs.
        turns: the turns by themselves, of a white-box rollout.
    """

    messages: list[Message] = field(default_factory=list)
    tool_trace: list[ToolTraceEntry] = field(default_factory=list)
    events: list[RolloutEvent] = field(default_factory=list)
    done: bool = False
    metrics: Json = field(default_factory=dict)
    prompt_ids: list[int] = field(default_factory=list)
    completion_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    turns: list[ModelStepResult] = field(default_factory=list)

    @property
    def episode_ended(self) -> bool:
        """Whether a call has ended the environment's episode."""
        return any(entry.result.done for entry in self.tool_trace)


@dataclass
class HarnessRunLimits:
    """When a rollout ends that does not end by itself.

    Attributes:
        max_turns: turns of the model, from 0.
        max_tool_calls_per_turn: calls in one turn; the rest of a turn's calls are refused. `None`
            for any number.
        max_total_tool_calls: calls in all; one more ends the rollout. `None` for any number.
        sampling: what the model is asked to sample with, for example `temperature` and
            `max_tokens`.

    Raises:
        ConfigurationError: a limit is no whole number from 0.
    """

    max_turns: int = 10
    max_tool_calls_per_turn: int | None = None
    max_total_tool_calls: int | None = None
    sampling: Json = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("max_turns", "max_tool_calls_per_turn", "max_total_tool_calls"):
            limit = getattr(self, name)
            if limit is None and name != "max_turns":
                continue
            if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
                raise ConfigurationError(f"{name} must be a whole number from 0, got {limit!r}")


class ModelStep(Protocol):
    """A model's turn: what it says to a conversation, and which of the tools it calls."""

    def __call__(
        self, messages: list[Message], tools: list[Tool], sampling: Json
    ) -> ModelStepResult | Awaitable[ModelStepResult]:
        """Takes a turn.

        Args:
            messages: the conversation so far; a copy.
            tools: the tools that may be called.
            sampling: what to sample with, see `HarnessRunLimits`.
        """
