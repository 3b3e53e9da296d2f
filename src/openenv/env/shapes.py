"""Shapes that environments share: chat messages, tokenizers, task sources, results of code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypedDict, runtime_checkable

from openenv.protocol.wire import BaseMessage

Scalar = int | float | bool


class Message(TypedDict):
    """One message of a chat."""

    role: str
    content: str


class ModelTokenizer(Protocol):
    """What a chat environment needs of a tokenizer."""

    def apply_chat_template(
        self,
        conversation: list[Message],
        tokenize: bool = True,
        return_tensors: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """The conversation as one prompt, in tokens or text."""

    def decode(self, token_ids: Any, skip_special_tokens: bool = False, **kwargs: Any) -> str:
        """The text of tokens."""


@runtime_checkable
class TaskProvider(Protocol):
    """An environment that has tasks in named splits. Each method may also be async."""

    def list_splits(self) -> Sequence[Any]:
        """The splits' names."""

    def list_tasks(self, split: str) -> Sequence[Any]:
        """All tasks of a split."""

    def num_tasks(self, split: str) -> int:
        """How many tasks a split has."""

    def get_task(self, split: str, index: int) -> Any:
        """One task; `IndexError` outside the split."""

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> Any:
        """The tasks from `start` up to `stop`."""


class CodeExecResult(BaseMessage):
    """What running a piece of code gave."""

    stdout: str
    stderr: str
    exit_code: int
