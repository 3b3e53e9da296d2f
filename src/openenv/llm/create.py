"""A client of a vendor's own models."""

from __future__ import annotations

import re

from openenv.llm.anthropic import AnthropicClient
from openenv.llm.base import LLMClient
from openenv.llm.openai import OpenAIClient
from openenv.protocol.errors import ConfigurationError

_REASONS = re.compile(r"(o\d|gpt-5)")


def create_llm_client(
    provider: str,
    model: str,
    api_key: str,
    *,
    system_prompt: str | None = None,
    temperature: float | None = 0.0,
    max_tokens: int = 4096,
) -> LLMClient:
    """A client of a model that its vendor serves.

    Args:
        provider: `openai` or `anthropic`.
        model: the model's name. OpenAI's reasoning models (`o…`, `gpt-5…`) are not sent a
            temperature, which they refuse.
        api_key: the vendor's key.
        system_prompt: as of the clients.
        temperature: as of the clients.
        max_tokens: as of the clients.

    Raises:
        ConfigurationError: there is no such provider.
        MissingPackage: the vendor's SDK is not installed (also ImportError).
    """
    if provider == "openai":
        return OpenAIClient(
            "https://api.openai.com",
            None,
            model,
            api_key,
            system_prompt,
            temperature,
            max_tokens,
            _REASONS.match(model) is not None,
        )
    if provider == "anthropic":
        return AnthropicClient(
            "https://api.anthropic.com",
            None,
            model,
            api_key,
            system_prompt,
            temperature,
            max_tokens,
        )
    raise ConfigurationError(f"the provider {provider!r} is unknown; give openai or anthropic")
