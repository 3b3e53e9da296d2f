"""Clients of language models: OpenAI's protocol, which most servers speak, and Anthropic's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.llm.anthropic import AnthropicClient as AnthropicClient
    from openenv.llm.base import LLMClient as LLMClient
    from openenv.llm.cache import AnswerCache as AnswerCache
    from openenv.llm.create import create_llm_client as create_llm_client
    from openenv.llm.errors import ModelFailed as ModelFailed
    from openenv.llm.errors import ModelRejected as ModelRejected
    from openenv.llm.errors import ModelTimeout as ModelTimeout
    from openenv.llm.errors import ModelUnavailable as ModelUnavailable
    from openenv.llm.openai import OpenAIClient as OpenAIClient
    from openenv.llm.responses import Completion as Completion
    from openenv.llm.responses import LLMResponse as LLMResponse
    from openenv.llm.responses import TokenUsage as TokenUsage
    from openenv.llm.responses import ToolCall as ToolCall
    from openenv.llm.retries import RetryPolicy as RetryPolicy

_HOMES = {
    "AnthropicClient": "openenv.llm.anthropic",
    "AnswerCache": "openenv.llm.cache",
    "Completion": "openenv.llm.responses",
    "LLMClient": "openenv.llm.base",
    "LLMResponse": "openenv.llm.responses",
    "ModelFailed": "openenv.llm.errors",
    "ModelRejected": "openenv.llm.errors",
    "ModelTimeout": "openenv.llm.errors",
    "ModelUnavailable": "openenv.llm.errors",
    "OpenAIClient": "openenv.llm.openai",
    "RetryPolicy": "openenv.llm.retries",
    "TokenUsage": "openenv.llm.responses",
    "ToolCall": "openenv.llm.responses",
    "create_llm_client": "openenv.llm.create",
}

__all__ = [name for name in _HOMES if not name.startswith("_")]
__getattr__ = lazy(__name__, _HOMES)
