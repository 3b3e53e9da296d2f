"""OpenAIClient: OpenAI's protocol, which vLLM, SGLang, Ollama and most others speak too."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from openenv.llm.address import with_default_path
from openenv.llm.responses import LLMResponse, TokenUsage, ToolCall
from openenv.llm.sdk import SdkClient
from openenv.llm.tools import openai_tools
from openenv.protocol.extras import needs


class OpenAIClient(SdkClient):
    """A model whose server speaks OpenAI's Chat Completions.

    An endpoint without a path gets `/v1`. Other arguments are those of `SdkClient`.

    Args:
        use_max_completion_tokens: the model reasons: it takes `max_completion_tokens` in the
            place of `max_tokens`, and no temperature unless a call gives one.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # the published signature
        self,
        endpoint: str,
        port: int | None,
        model: str,
        api_key: str | None = None,
        system_prompt: str | None = None,
        temperature: float | None = 0.0,
        max_tokens: int = 256,
        use_max_completion_tokens: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(
            endpoint, port, model, api_key, system_prompt, temperature, max_tokens, **options
        )
        self.use_max_completion_tokens = use_max_completion_tokens

    def _sdk(self) -> ModuleType:
        with needs("openenv-core[openai]"):
            import openai
        return openai

    def _connected(self, connections: Any) -> Any:
        connected = self._sdk().AsyncOpenAI(
            api_key=self._api_key,
            base_url=with_default_path(self.base_url, "/v1"),
            max_retries=0,
            timeout=None,
            http_client=connections,
        )
        connected.organization = connected.project = None  # or they are the environment's
        return connected

    def _request(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[Any], options: dict[str, Any]
    ) -> dict[str, Any]:
        reasons = self.use_max_completion_tokens
        limit = "max_completion_tokens" if reasons else "max_tokens"
        temperature = options.pop("temperature", None if reasons else self.temperature)
        return {
            "model": self.model,
            "messages": list(messages),
            limit: options.pop("max_tokens", self.max_tokens),
            **({} if temperature is None else {"temperature": temperature}),
            **({"tools": openai_tools(tools)} if tools else {}),
            **options,
        }

    async def _send(self, connected: Any, request: dict[str, Any]) -> Any:
        return await connected.chat.completions.create(**request)

    def _read(self, answer: Any) -> LLMResponse:
        choice = answer.choices[0]
        message = choice.message
        refusal = getattr(message, "refusal", None)
        calls = [
            ToolCall.written(call.id or f"call_{n}", call.function.name, call.function.arguments)
            for n, call in enumerate(message.tool_calls or [])
        ]
        return LLMResponse(
            message.content or refusal or "",
            calls,
            _usage(answer.usage),
            "refusal" if refusal else choice.finish_reason,
        )


def _usage(told: Any) -> TokenUsage | None:
    if told is None:
        return None
    return TokenUsage(told.prompt_tokens or 0, told.completion_tokens or 0, 1)
