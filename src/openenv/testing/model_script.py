"""What a pretended language model says, and what it was asked."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call of a tool in a reply.

    Attributes:
        name: the tool.
        arguments: the arguments; a `str` is sent as it is, well-formed or not.
        id: the call's name; one is made up by default.
    """

    name: str
    arguments: Mapping[str, Any] | str = "{}"
    id: str | None = None

    @property
    def written(self) -> str:
        """The arguments as the model writes them."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Reply:
    """An answer of the model.

    Attributes:
        text: what it says.
        calls: the tools that it calls.
        finish_reason: why it ends, in OpenAI's words; `tool_calls` if it calls any, else `stop`.
        tokens: what it cost, as (input, output); words are counted by default.
        delay_s: seconds before the first byte.
        pace_s: seconds between the pieces of a streamed answer.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    finish_reason: str | None = None
    tokens: tuple[int, int] | None = None
    delay_s: float = 0.0
    pace_s: float = 0.0

    @property
    def ending(self) -> str:
        """Why it ends."""
        return self.finish_reason or ("tool_calls" if self.calls else "stop")

    @property
    def pieces(self) -> list[str]:
        """The text in the pieces in which it is streamed: words with the space before them."""
        words = self.text.split(" ")
        return [words[0], *(f" {word}" for word in words[1:])] if self.text else []


@dataclass(frozen=True)
class Failure:
    """An error of the server, in the form of the vendor.

    Attributes:
        status: the HTTP status: 400, 401, 429, 500, 529 …
        message: what it says.
        retry_after: the header `Retry-After`: seconds or a date.
        code: OpenAI's `code`, such as `insufficient_quota`.
        delay_s: seconds before it.
    """

    status: int = 500
    message: str = "the script says no"
    retry_after: str | float | None = None
    code: str | None = None
    delay_s: float = 0.0


@dataclass(frozen=True)
class Garbage:
    """An answer with status 200 that is none.

    Attributes:
        content: its bytes.
        content_type: what it says that it is.
        delay_s: seconds before it.
    """

    content: bytes = b"<html>welcome to this proxy</html>"
    content_type: str = "application/json"
    delay_s: float = 0.0


@dataclass(frozen=True)
class HangUp:
    """The connection is cut.

    Attributes:
        amid: the reply in whose middle it is cut; before the first byte by default.
        delay_s: seconds before it.
    """

    amid: Reply | None = None
    delay_s: float = 0.0


Outcome = Reply | Failure | Garbage | HangUp


@dataclass(frozen=True)
class Received:
    """A request that the server got.

    Attributes:
        dialect: `openai` or `anthropic`.
        headers: its headers, names in lower case.
        body: its JSON, in the vendor's form.
        number: how many came before it.
    """

    dialect: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    number: int = 0

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation, in the vendor's form."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def text(self) -> str:
        """The text of the last message, or of the tools' results in it."""
        return text_of(self.messages[-1].get("content"))

    @property
    def tool_names(self) -> list[str]:
        """The tools that the model may call."""
        tools = self.body.get("tools") or []
        return [str(tool.get("name") or tool.get("function", {}).get("name")) for tool in tools]

    @property
    def streams(self) -> bool:
        """Whether the answer is wanted piece by piece."""
        return self.body.get("stream") is True

    @property
    def words(self) -> int:
        """The words of all messages."""
        said = [text_of(message.get("content")) for message in self.messages]
        return len(" ".join([text_of(self.body.get("system")), *said]).split())


Script = str | Outcome | Sequence[Any] | Callable[[Received], str | Outcome | Awaitable[Any]]
"""What the model says: always the same, one after the other, or what a function makes of a request.

A function may be async. A sequence that has ended is answered with status 400, which no client
tries again."""


def text_of(content: Any) -> str:
    """The text of a message, whichever of the forms its content has."""
    if isinstance(content, list):
        return "\n".join(text_of(part.get("text") or part.get("content")) for part in content)
    return content if isinstance(content, str) else ""


class Line:
    """What comes next in a script."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._spoken = 0

    def next(self, received: Received) -> Any:
        """The outcome of a request, or an awaitable of it; a text is a reply."""
        if callable(self._script):
            return self._script(received)
        if isinstance(self._script, (str, Reply, Failure, Garbage, HangUp)):
            return self._script
        if self._spoken == len(self._script):
            return Failure(400, f"the script has ended after {self._spoken} replies")
        self._spoken += 1
        return self._script[self._spoken - 1]
