"""LLMClient: a language model behind an address."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from typing_extensions import Self

from openenv.llm.address import address
from openenv.llm.responses import LLMResponse, TokenUsage

_counting = threading.Lock()


class LLMClient(ABC):
    """A language model. A subclass writes `complete`, and `complete_with_tools` if it can.

    Args:
        endpoint: where its server is, `http://…` or `https://…`.
        port: the server's port; `None` when the endpoint has it, or it is the scheme's own.

    Attributes:
        usage: the tokens of all answers so far.

    Raises:
        ConfigurationError: the address is no address of a server, or has a key in it.
    """

    usage: TokenUsage = TokenUsage()

    def __init__(self, endpoint: str, port: int | None) -> None:
        self._base_url = address(endpoint, port)
        self.endpoint = endpoint
        self.port = port

    @property
    def base_url(self) -> str:
        """The server's address, without a slash at its end."""
        return self._base_url

    @abstractmethod
    async def complete(self, prompt: str, **options: Any) -> str:
        """The model's answer to a prompt.

        Args:
            prompt: what the user says.
            **options: what the server of the model takes, such as `temperature` and `max_tokens`;
                they go before those of the client.

        Returns:
            The answer's text, which may be empty.

        Raises:
            ModelFailed: there is no usable answer.
        """

    async def complete_with_tools(
        self, messages: list[dict[str, Any]], tools: Sequence[Any], **options: Any
    ) -> LLMResponse:
        """The model's next message in a conversation in which it may call tools.

        Args:
            messages: the conversation so far, in OpenAI's form.
            tools: tools as MCP describes them: dicts, or objects such as `Tool`, with `name`,
                `description` and `input_schema` (or `inputSchema`).
            **options: as of `complete`.

        Raises:
            ModelFailed: there is no usable answer.
            NotImplementedError: this client knows no tools.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot call tools")

    def __deepcopy__(self, memo: object) -> Self:
        """Itself: the copies of a rubric share its client, and what that has counted."""
        return self

    async def aclose(self) -> None:  # noqa: B027  # most hold nothing
        """Ends what the client holds. Ours hold nothing: connections end with their event loop."""

    def _count(self, usage: TokenUsage | None) -> None:
        """Adds an answer to `usage`; sessions that share a client have threads of their own."""
        with _counting:
            self.usage = self.usage + (usage or TokenUsage(requests=1))
