"""Turns of a model that are awaited, for loops that block."""

from __future__ import annotations

import inspect
import os
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import Self

from openenv.harness.rollouts.results import Message, ModelStep, ModelStepResult
from openenv.protocol.errors import Json
from openenv.rollout.background import Background
from openenv.rollout.policies.acting import described

if TYPE_CHECKING:
    from openenv.env.tool_models import Tool
    from openenv.llm.base import LLMClient

Farewell = Callable[[], Coroutine[Any, Any, None]]


async def _nothing() -> None:
    """No farewell."""


class BlockingModelStep:
    """A model's step that is a coroutine function, called as if it blocked.

    All its turns run on one event loop, in a thread of its own that begins with the first turn:
    connections that its client keeps serve every rollout, and a caller may itself be inside an
    event loop. Threads may share it. It pickles if the step does, and works after a fork.

    Args:
        step: the coroutine function.
        farewell: awaited on the same loop when it is closed.
    """

    def __init__(
        self, step: Callable[..., Awaitable[ModelStepResult]], farewell: Farewell = _nothing
    ) -> None:
        self._step = step
        self._farewell = farewell
        self._begin_anew()

    def __call__(
        self, messages: list[Message], tools: list[Tool], sampling: Json
    ) -> ModelStepResult:
        """Takes a turn; raises what the step raises."""
        if self._pid != os.getpid():
            self._begin_anew()  # the thread stayed with the parent

        async def turn() -> ModelStepResult:
            return await self._step(messages, tools, sampling)

        return self._background.run(turn())

    def close(self) -> None:
        """Ends the thread; a later turn begins another."""
        background = self._background
        self._begin_anew()
        background.close()

    def __enter__(self) -> Self:
        """The step."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes."""
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._step, self._farewell)

    def _begin_anew(self) -> None:
        self._pid = os.getpid()
        self._background = Background(self._farewell, "openenv-model-step")
        weakref.finalize(self, self._background.stop)


class _LanguageModel:
    """A turn of a language model behind a client."""

    def __init__(self, client: LLMClient, system_prompt: str | None) -> None:
        self._client = client
        self._system_prompt = system_prompt

    async def __call__(
        self, messages: list[Message], tools: list[Tool], sampling: Json
    ) -> ModelStepResult:
        if self._system_prompt is not None and not _has_system(messages):
            messages = [{"role": "system", "content": self._system_prompt}, *messages]
        options = {name: value for name, value in sampling.items() if value is not None}
        response = await self._client.complete_with_tools(messages, described(tools), **options)
        return ModelStepResult(response)


def build_model_step(
    llm_client: LLMClient, *, system_prompt: str | None = None
) -> BlockingModelStep:
    """A model's step by a client of a language model; close it when all is played.

    Args:
        llm_client: the client; `HarnessRunLimits.sampling` becomes its options.
        system_prompt: what the model is told first, unless a conversation begins with a system
            message of its own.
    """
    return BlockingModelStep(_LanguageModel(llm_client, system_prompt), llm_client.aclose)


@contextmanager
def as_blocking(model_step: ModelStep) -> Iterator[ModelStep]:
    """A model's step that blocks, whether it does of its own or is a coroutine function."""
    if not (
        inspect.iscoroutinefunction(model_step)
        or inspect.iscoroutinefunction(getattr(model_step, "__call__", None))  # noqa: B004
    ):
        yield model_step
        return
    with BlockingModelStep(cast("Callable[..., Awaitable[ModelStepResult]]", model_step)) as step:
        yield step


def _has_system(messages: list[Message]) -> bool:
    return bool(messages) and messages[0].get("role") == "system"
