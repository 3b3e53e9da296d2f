"""Toolbox: the tools of one environment, listed and called."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol, runtime_checkable

from openenv.env.incidents import incident
from openenv.env.models import Observation, is_observation
from openenv.env.tool_content import rendered
from openenv.env.tool_models import (
    RESERVED_TOOL_NAMES,
    CallToolObservation,
    Tool,
    ToolError,
    ToolErrorType,
)
from openenv.env.tools import FunctionTool, ToolContext, ToolFailure, ToolMode, tools_of
from openenv.protocol.errors import ConfigurationError
from openenv.protocol.saying import authors_traceback, in_full, text_of

logger = logging.getLogger("openenv.tools")

Call = Callable[[], Any]
Offload = Callable[[Call], Awaitable[Any]]
"""Makes a blocking call where it keeps nobody else waiting."""
MOST_NAMED = 20
"""How many of the tools there are an error names."""


@runtime_checkable
class ToolSource(Protocol):
    """An object with tools besides those of `@tool`; an `Environment` may be one.

    Either method may be async. `call_tool` gives the result, or an `Observation` that makes the
    call a step, or raises; `ToolFailure` says of which kind the error is. Where it has a parameter
    `context`, that is the call's `ToolContext`.
    """

    def list_tools(self) -> Any:
        """The tools there are now, a list of `Tool`."""

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Calls one."""


class Toolbox:
    """The tools of one environment: those of `@tool`, then those that it lists itself.

    Args:
        environment: whose they are.
        mode: for whom. In production an exception's own text is told only of a `ToolFailure`.
        offload: makes the blocking calls; by default the calling thread does.
    """

    def __init__(
        self, environment: Any, mode: ToolMode = "simulation", offload: Offload | None = None
    ) -> None:
        self._environment = environment
        self._mode = mode
        self._offload = offload
        self._source: ToolSource | None = (
            environment if isinstance(environment, ToolSource) else None
        )
        made: type = type(environment)
        self._functions: dict[str, FunctionTool] = {
            each.name: each for each in tools_of(made) if each.mode is None or each.mode == mode
        }

    @property
    def timeouts(self) -> dict[str, float]:
        """How long calls may run, in seconds, for the tools of `@tool` that say so."""
        return {
            name: each.timeout_s
            for name, each in self._functions.items()
            if each.timeout_s is not None
        }

    def list_tools(self) -> list[Tool] | Awaitable[list[Tool]]:
        """What the agent is told of each.

        Raises:
            ConfigurationError: the environment's own list has a name that no tool may have, or
                one twice.
        """
        if self._source is None:
            return self._joined([])
        listed = self._source.list_tools()
        return self._joined_later(listed) if inspect.isawaitable(listed) else self._joined(listed)

    def call_tool(
        self, name: str, arguments: Mapping[str, Any], context: ToolContext | None = None
    ) -> CallToolObservation | Awaitable[CallToolObservation]:
        """Calls a tool. Whatever goes wrong is the observation's `error`.

        Args:
            name: which.
            arguments: by name.
            context: takes reports of its progress.
        """
        try:
            call, is_async = self._find(name, arguments, context or ToolContext())
            value = call() if is_async or self._offload is None else self._offload(call)
            if inspect.isawaitable(value):
                return self._called_later(name, value)
            return self._called(name, value)
        except Exception as error:  # noqa: BLE001  # told to the agent
            return self.failed(name, error)

    def failed(self, name: str, error: BaseException) -> CallToolObservation:
        """The observation of a call that raised."""
        kind = ToolErrorType.EXECUTION_ERROR
        if isinstance(error, ToolFailure):
            kind, message = error.error_type, text_of(error)
        elif self._mode == "production":
            _, message = incident(error, f"tool {name!r}")
        else:
            logger.warning("tool %r raised\n%s", name, authors_traceback(error).rstrip())
            message = in_full(error)
        told = ToolError(error_type=kind, message=message)
        return CallToolObservation(tool_name=name, error=told)

    def _find(
        self, name: str, arguments: Mapping[str, Any], context: ToolContext
    ) -> tuple[Call, bool]:
        """A call, and whether it is awaited."""
        function = self._functions.get(name)
        if function is not None:
            return function.bind(self._environment, arguments, context), function.is_async
        if self._source is None or name in RESERVED_TOOL_NAMES:
            known = ", ".join(sorted(self._functions)[:MOST_NAMED]) or "there are none"
            raise ToolFailure(
                f"unknown tool {name!r} (known: {known})", ToolErrorType.TOOL_NOT_FOUND
            )
        call = partial(self._source.call_tool, name, dict(arguments))
        if "context" in inspect.signature(self._source.call_tool).parameters:
            call.keywords["context"] = context
        return call, inspect.iscoroutinefunction(self._source.call_tool)

    def _called(self, name: str, value: object) -> CallToolObservation:
        if isinstance(value, Iterator) or inspect.isasyncgen(value):
            raise ToolFailure(f"tool {name!r} gives a generator, of which no result can be sent")
        if not is_observation(value):
            return CallToolObservation(tool_name=name, result=rendered(value))
        if isinstance(value, CallToolObservation):
            return value
        return CallToolObservation(
            tool_name=name,
            result=rendered(value.model_dump(exclude=set(_LIFTED))),
            reward=value.reward,
            done=value.done,
            truncated=value.truncated,
            metadata=value.metadata,
        )

    async def _called_later(self, name: str, pending: Awaitable[object]) -> CallToolObservation:
        try:
            value = await pending
            if inspect.isawaitable(value):  # a blocking function that gave something to await
                value = await value
            return self._called(name, value)
        except Exception as error:  # noqa: BLE001  # told to the agent
            return self.failed(name, error)

    def _joined(self, listed: list[Tool]) -> list[Tool]:
        tools = [*(each.description for each in self._functions.values()), *listed]
        names = [each.name for each in tools]
        for name in names:
            if name in RESERVED_TOOL_NAMES or names.count(name) > 1:
                why = "controls the episode" if name in RESERVED_TOOL_NAMES else "is there twice"
                raise ConfigurationError(f"the tool name {name!r} {why}; rename the tool")
        return tools

    async def _joined_later(self, pending: Awaitable[list[Tool]]) -> list[Tool]:
        return self._joined(await pending)


_LIFTED = frozenset(Observation.model_fields)
