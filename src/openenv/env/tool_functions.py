"""Tools as functions: what code calls that an agent has written."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any

from openenv.env.incidents import incident
from openenv.env.models import Observation, is_observation
from openenv.env.own_loop import OwnLoop
from openenv.env.tool_models import CallToolObservation, Tool, ToolErrorType
from openenv.env.toolbox import Toolbox, ToolSource
from openenv.env.tools import FunctionTool, ToolContext, ToolFailure, ToolMode, tools_of

_RAISED: Mapping[ToolErrorType, type[Exception]] = {
    ToolErrorType.INVALID_ARGS: TypeError,
    ToolErrorType.TOOL_NOT_FOUND: NameError,
    ToolErrorType.TIMEOUT: TimeoutError,
}
"""What a function raises in place of these, as any function of Python would."""
_EMPTY = inspect.Parameter.empty
_TYPES: Mapping[Any, type] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "number": float,
    "object": dict,
    "string": str,
}
_LIFTED = frozenset(Observation.model_fields)


class ToolFunction:
    """A tool as a function that waits for its result.

    Its arguments are given by position or by name, and validated and converted as an agent's are.
    It returns what the tool does: an `Observation` without its reward and `done`, a tool of a
    FastMCP server its `data`. It raises what the tool does; in production only a `ToolFailure` is
    told as it is.

    Args:
        tool: what the agent is told of it.
        call: makes the call, with the arguments by name; may give something to await.
        mode: for whom it is.
    """

    def __init__(self, tool: Tool, call: Callable[[dict[str, Any]], Any], mode: ToolMode) -> None:
        self.__name__ = self.__qualname__ = tool.name
        self.__doc__ = _docstring(tool)
        self.__signature__ = _signature(tool.input_schema)
        self._parameters = tuple(self.__signature__.parameters)
        self._call = call
        self._mode = mode

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Calls the tool."""
        arguments = self._named(args, kwargs)
        try:
            return _plain(self.__name__, _settled(self._call(arguments)))
        except ToolFailure as error:
            kind = _RAISED.get(error.error_type)
            if kind is None:
                raise
            raise kind(str(error)) from error
        except Exception as error:
            if self._mode == "simulation":
                raise
            raise RuntimeError(incident(error, f"tool {self.__name__!r}")[1]) from None

    def _named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        known = self._parameters
        if len(args) > len(known):
            raise TypeError(
                f"{self.__name__}() takes at most {len(known)} arguments ({', '.join(known)}), "
                f"got {len(args)}"
            )
        twice = [name for name in known[: len(args)] if name in kwargs]
        if twice:
            raise TypeError(f"{self.__name__}() got two values of {', '.join(twice)}")
        return {**dict(zip(known, args)), **kwargs}  # noqa: B905  # the rest may have defaults


def tool_functions(environment: Any, mode: ToolMode = "simulation") -> dict[str, ToolFunction]:
    """An environment's tools as functions, by name.

    Args:
        environment: whose they are.
        mode: for whom: tools of the other mode are left out.

    Raises:
        ConfigurationError: a tool has a name that none may have, or one that is there already.
    """
    made: type = type(environment)
    own = {t.name: t for t in tools_of(made) if t.mode in (None, mode)}
    listed = _settled(Toolbox(environment, mode).list_tools())
    return {
        tool.name: ToolFunction(tool, _caller(environment, tool.name, own.get(tool.name)), mode)
        for tool in listed
    }


def _signature(schema: Mapping[str, Any]) -> inspect.Signature:
    required = frozenset(schema.get("required", ()))
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=_EMPTY if name in required else told.get("default", ...),
                annotation=_hint(told),
            )
            for name, told in _required_first(schema.get("properties", {}), required)
        ]
    )


def _hint(told: Mapping[str, Any]) -> Any:
    """What stands for a parameter's type: one of Python's, or one of a model's name."""
    model = str(told.get("$ref", "")).rpartition("/")[2]
    if model:
        return type(model, (), {"__module__": "builtins"})
    return _TYPES.get(told.get("type"), _EMPTY)


def _docstring(tool: Tool) -> str:
    properties: Mapping[str, Mapping[str, Any]] = tool.input_schema.get("properties", {})
    told = [f"    {n}: {p['description']}" for n, p in properties.items() if "description" in p]
    return "\n".join([tool.description, *(["", "Args:", *told] if told else [])])


def _required_first(
    properties: Mapping[str, Any], required: frozenset[str]
) -> list[tuple[str, Any]]:
    return sorted(properties.items(), key=lambda named: named[0] not in required)


def _caller(
    environment: Any, name: str, own: FunctionTool | None
) -> Callable[[dict[str, Any]], Any]:
    if own is not None:
        return lambda arguments: own.bind(environment, arguments, ToolContext())()
    source: ToolSource = environment
    return partial(source.call_tool, name)


def _settled(value: Any) -> Any:
    """A value, awaited if need be, wherever this thread is."""
    if not inspect.isawaitable(value):
        return value
    loop = OwnLoop("openenv-tool")
    try:
        return loop.run(_awaited(value))
    finally:
        loop.close()


async def _awaited(pending: Awaitable[Any]) -> Any:
    return await pending


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Iterator) or inspect.isasyncgen(value):
        raise ToolFailure(f"tool {name!r} gives a generator, of which no result can be sent")
    if isinstance(value, CallToolObservation):
        return None if value.result is None else value.result["data"]
    return value.model_dump(exclude=set(_LIFTED)) if is_observation(value) else value
