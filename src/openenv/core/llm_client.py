"""Clients of language models."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.llm.anthropic import (
        AnthropicClient,
    )
    from openenv.llm.base import (
        LLMClient,
    )
    from openenv.llm.create import (
        create_llm_client,
    )
    from openenv.llm.openai import (
        OpenAIClient,
    )
    from openenv.llm.responses import (
        LLMResponse,
        ToolCall,
    )

__all__ = [
    "AnthropicClient",
    "LLMClient",
    "LLMResponse",
    "OpenAIClient",
    "ToolCall",
    "create_llm_client",
]

__getattr__ = lazy(
    __name__,
    {
        "AnthropicClient": "openenv.llm.anthropic",
        "LLMClient": "openenv.llm.base",
        "LLMResponse": "openenv.llm.responses",
        "OpenAIClient": "openenv.llm.openai",
        "ToolCall": "openenv.llm.responses",
        "_clean_mcp_schema": "openenv.llm.tools:clean_schema",
        "_mcp_tools_to_anthropic": "openenv.llm.tools:anthropic_tools",
        "_mcp_tools_to_openai": "openenv.llm.tools:openai_tools",
        "_openai_msgs_to_anthropic": "openenv.llm.tools:anthropic_messages",
        "create_llm_client": "openenv.llm.create",
    },
)
