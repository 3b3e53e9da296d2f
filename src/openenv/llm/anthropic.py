"""AnthropicClient: Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from openenv.llm.responses import LLMResponse, TokenUsage, ToolCall
from openenv.llm.sdk import SdkClient
from openenv.llm.tools import anthropic_messages, anthropic_tools
from openenv.protocol.extras import needs

_ENDINGS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}


class AnthropicClient(SdkClient):
    """A model whose server speaks Anthropic's Messages; conversations are in OpenAI's form.

    Its arguments are those of `SdkClient`.
    """

    def _sdk(self) -> ModuleType:
        with needs("openenv-core[anthropic]"):
            import anthropic
        return anthropic

    def _connected(self, connections: Any) -> Any:
        return self._sdk().AsyncAnthropic(
            api_key=self._api_key,
            base_url=self.base_url,
            max_retries=0,
            timeout=None,
            http_client=connections,
        )

    def _request(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[Any], options: dict[str, Any]
    ) -> dict[str, Any]:
        system, turns = anthropic_messages(messages)
        body = dict(options.pop("extra_body", None) or {})
        temperature = options.pop("temperature", self.temperature)
        if temperature is not None:  # not among the keywords of every version of the SDK
            body["temperature"] = temperature
        if "stop" in options:
            stop = options.pop("stop")
            options["stop_sequences"] = [stop] if isinstance(stop, str) else stop
        return {
            "model": self.model,
            "messages": turns,
            "max_tokens": options.pop("max_tokens", self.max_tokens),
            **({"system": system} if system else {}),
            **({"tools": anthropic_tools(tools)} if tools else {}),
            **({"extra_body": body} if body else {}),
            **options,
        }

    async def _send(self, connected: Any, request: dict[str, Any]) -> Any:
        return await connected.messages.create(**request)

    def _read(self, answer: Any) -> LLMResponse:
        return LLMResponse(
            "".join(block.text for block in answer.content if block.type == "text"),
            [
                ToolCall.written(block.id, block.name, block.input)
                for block in answer.content
                if block.type == "tool_use"
            ],
            _usage(answer.usage),
            _ENDINGS.get(answer.stop_reason, answer.stop_reason),
        )


def _usage(told: Any) -> TokenUsage | None:
    if told is None:
        return None
    cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
    read = sum(getattr(told, name, None) or 0 for name in ("input_tokens", *cached))
    return TokenUsage(read, told.output_tokens or 0, 1)
