"""What a language model answers: text, calls of tools, and what it cost."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import Self

_SHOWN = 200


@dataclass(frozen=True)
class TokenUsage:
    """Tokens that were read and written, as the server of the model counts them.

    Attributes:
        input_tokens: tokens of the prompt, those from a cache among them.
        output_tokens: tokens of the answer, hidden reasoning among them.
        requests: answers that they are the sum of.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0

    @property
    def total_tokens(self) -> int:
        """Tokens in both directions."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.requests + other.requests,
        )


@dataclass
class ToolCall:
    """A call of a tool that a model asks for.

    Attributes:
        id: the model's name of the call; the result is sent back under it.
        name: the tool.
        args: the arguments, by name.
        fault: what is wrong with what the model wrote as arguments, in words that it can be
            answered with. Then `args` is empty, and the tool must not be called.
    """

    id: str
    name: str
    args: dict[str, Any]
    fault: str | None = None

    @classmethod
    def written(cls, id: str, name: str, arguments: Any) -> Self:
        """The call that a model wrote, whatever it wrote as its arguments.

        Args:
            id: the model's name of the call.
            name: the tool.
            arguments: JSON of an object, or the object; nothing at all is an empty one.
        """
        args = arguments or {}
        if isinstance(args, str):
            try:
                args = json.loads(args, parse_constant=_refuse)
            except (ValueError, RecursionError) as error:
                return cls(id, name, {}, f"the arguments are not JSON ({error}): {_clip(args)}")
        if not isinstance(args, dict):
            return cls(id, name, {}, f"the arguments are not a JSON object: {_clip(str(args))}")
        return cls(id, name, args)


@dataclass
class LLMResponse:
    """An answer of a language model.

    Attributes:
        content: its text; empty when it only calls tools.
        tool_calls: the calls that it asks for, in order.
        usage: what this answer cost; `None` when the server does not say.
        finish_reason: why it ends: `stop`, `length` (cut off at `max_tokens`), `tool_calls`,
            `content_filter`, `refusal`, or what else the server says.
    """

    content: str
    tool_calls: list[ToolCall] = field(default_factory=list)
    usage: TokenUsage | None = None
    finish_reason: str | None = None

    def to_message_dict(self) -> dict[str, Any]:
        """The answer as a message of the conversation, in OpenAI's form.

        Arguments that were not JSON are sent back as `{}`: servers refuse a conversation with
        others in it. The model learns of them by the call's result, see `ToolCall.fault`.
        """
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.tool_calls:
            message["tool_calls"] = [_as_message(call) for call in self.tool_calls]
        return message


class Completion(str):
    """The text of an answer, which also says why it ends and what it cost.

    Attributes:
        finish_reason: as `LLMResponse.finish_reason`.
        usage: as `LLMResponse.usage`.
    """

    finish_reason: str | None = None
    usage: TokenUsage | None = None

    @classmethod
    def of(cls, response: LLMResponse) -> Self:
        """The text of a response."""
        text = cls(response.content)
        text.finish_reason = response.finish_reason
        text.usage = response.usage
        return text


def _as_message(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.args)}
    return {"id": call.id, "type": "function", "function": function}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _clip(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
