"""`@tool`: functions that an agent may call, described by their own hints and docstring."""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Annotated, Any, Literal, TypeVar, overload

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import PydanticSerializationError, from_json, to_json
from typing_extensions import NotRequired, TypedDict

from openenv.env.docstrings import Docstring
from openenv.env.tool_mistakes import check_decorated, check_method, getter_of, unusable
from openenv.env.tool_models import RESERVED_TOOL_NAMES, Tool, ToolErrorType
from openenv.protocol.errors import ConfigurationError, OpenEnvError
from openenv.protocol.saying import faults_of

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
ToolMode = Literal["simulation", "production"]
MODES = typing.get_args(ToolMode)
_MARK = "__openenv_tool__"
_typed_dict: Any = TypedDict  # made at run time, of which type checkers know nothing


class ToolFailure(OpenEnvError, RuntimeError):
    """Why a call of a tool gives no result. Raise it in a tool to tell the agent, in any mode.

    Args:
        message: what happened, for the agent.
        error_type: what kind of error it is.
    """

    def __init__(
        self, message: str, error_type: ToolErrorType = ToolErrorType.EXECUTION_ERROR
    ) -> None:
        super().__init__(message)
        self.error_type = error_type

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.error_type)


class ToolContext:
    """A running call, for the tool that wants to tell how far it is.

    A parameter with this annotation is given it, and is no argument of the agent's.

    Args:
        emit: takes each report: `progress`, `total`, `message`.
    """

    def __init__(self, emit: Callable[[dict[str, Any]], None] | None = None) -> None:
        self._emit = emit

    def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tells the caller how far the call is, if the caller listens; never waits.

        Args:
            progress: how much is done; more each time.
            total: how much there is to do, if that is known.
            message: the same for people.
        """
        if self._emit is not None and math.isfinite(progress):
            self._emit({"progress": progress, "total": total, "message": message})


@dataclass(frozen=True)
class Mark:
    """What `@tool` was given."""

    name: str | None
    description: str | None
    mode: ToolMode | None
    timeout_s: float | None


@overload
def tool(function: FunctionT, /) -> FunctionT: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    mode: ToolMode | None = None,
    timeout_s: float | None = None,
) -> Callable[[FunctionT], FunctionT]: ...


def tool(
    function: FunctionT | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    mode: ToolMode | None = None,
    timeout_s: float | None = None,
    **unknown: Any,
) -> Any:
    """Offers a method of an `Environment` to the agent. It stays an ordinary method.

    ```python
    class Shop(Environment):
        @tool
        def price(self, item: str) -> float:
            \"\"\"What an item of the catalogue costs.\"\"\"
    ```

    The agent is shown the docstring, and the arguments by their hints. What the tool returns is
    the result; an `Observation` makes the call a step, with its reward and its end of the episode.

    Args:
        function: what is decorated without arguments.
        name: what the agent calls it; the function's name by default.
        description: what the agent is told; the docstring by default.
        mode: it shows in this mode only; in both by default.
        timeout_s: the longest that a call may run, in seconds, unless the caller says otherwise;
            the server's `tool_timeout` by default.
        **unknown: refused, with the option that was meant.

    Raises:
        ConfigurationError: the name is one that controls the episode, or an argument is wrong.
    """
    check_decorated(function, unknown, ("name", "description", "mode", "timeout_s"))
    if mode is not None and mode not in MODES:
        raise ConfigurationError(f"mode must be one of {', '.join(MODES)}, or None; got {mode!r}")
    if timeout_s is not None and not 0 < timeout_s < math.inf:
        raise ConfigurationError(f"timeout_s must be more than 0 seconds, got {timeout_s!r}")
    mark = Mark(name, description, mode, timeout_s)

    def decorate(decorated: FunctionT) -> FunctionT:
        check_decorated(decorated, (), ())
        target = getattr(decorated, "__func__", decorated)
        check_name(name or str(getattr(target, "__name__", "")))
        setattr(target, _MARK, mark)
        return decorated

    return decorate if function is None else decorate(function)


def check_name(name: str) -> None:
    """Refuses a name that no tool may have.

    Raises:
        ConfigurationError: it is empty, or controls the episode.
    """
    if not name:
        raise ConfigurationError("a tool needs a name: @tool(name=...)")
    if name in RESERVED_TOOL_NAMES:
        raise ConfigurationError(
            f"no tool may be called {name!r}: {', '.join(sorted(RESERVED_TOOL_NAMES))} control the "
            "episode, which is the trainer's to do, never the agent's; choose another name"
        )


class FunctionTool:
    """A method as a tool.

    Args:
        function: the method, not bound.
        mark: what `@tool` was given.
        attribute: where an environment has it.
        own_parameters: how many of its first parameters are filled by being bound.

    Attributes:
        name: what the agent calls it.
        mode: the mode in which it shows; both if `None`.
        timeout_s: the longest that a call may run, if it says.
        is_async: it is awaited.

    Raises:
        ConfigurationError: its arguments can't be described.
    """

    def __init__(
        self, function: Callable[..., Any], mark: Mark, attribute: str, own_parameters: int
    ) -> None:
        self.name = mark.name or function.__name__
        self.mode = mark.mode
        self.timeout_s = mark.timeout_s
        self.is_async = inspect.iscoroutinefunction(function)
        self._attribute = attribute
        self._doc = Docstring.of(function)
        self._described_as = self._doc.text if mark.description is None else mark.description
        self._context: str | None = None
        self._by_position: tuple[str, ...] = ()
        parameters = list(inspect.signature(function).parameters.values())[own_parameters:]
        self._arguments = self._read(parameters, self._hints(function))

    @cached_property
    def description(self) -> Tool:
        """What the agent is told."""
        schema = self._arguments.json_schema()
        schema.pop("title", None)
        for entry in schema.setdefault("properties", {}).values():
            entry.pop("title", None)
        return Tool(name=self.name, description=self._described_as, input_schema=schema)

    def bind(
        self, environment: object, arguments: Mapping[str, Any], context: ToolContext
    ) -> Callable[[], Any]:
        """The call, with its arguments validated.

        Raises:
            ToolFailure: they do not fit; the text names each.
        """
        try:
            given: dict[str, Any] = self._arguments.validate_python(dict(arguments))
        except ValidationError as error:
            raise ToolFailure(self._misfit(error), ToolErrorType.INVALID_ARGS) from None
        method = getattr(environment, self._attribute)
        first = [given.pop(name) for name in self._by_position if name in given]
        if self._context is not None:
            given[self._context] = context
        return partial(method, *first, **given)

    def _misfit(self, error: ValidationError) -> str:
        faults = faults_of(error, "arguments")
        known = ", ".join(self.description.input_schema["properties"]) or "none"
        return f"invalid arguments for tool {self.name!r}: {faults} (its parameters: {known})"

    def _read(
        self, parameters: list[inspect.Parameter], hints: Mapping[str, Any]
    ) -> TypeAdapter[Any]:
        fields: dict[str, Any] = {}
        extra: Literal["allow", "forbid"] = "forbid"
        for parameter in parameters:
            hint = hints.get(parameter.name, Any)
            if hint in (ToolContext, ToolContext | None):
                self._context = parameter.name
            elif parameter.kind is parameter.VAR_KEYWORD:
                extra = "allow"
            elif parameter.kind is parameter.VAR_POSITIONAL:
                raise ConfigurationError(
                    f"tool {self.name!r} takes *{parameter.name}: an agent gives arguments by "
                    "name; take a list instead"
                )
            else:
                if parameter.kind is parameter.POSITIONAL_ONLY:
                    self._by_position += (parameter.name,)
                fields[parameter.name] = self._field(parameter, hint)
        return self._adapter(fields, extra)

    def _adapter(
        self, fields: dict[str, Any], extra: Literal["allow", "forbid"]
    ) -> TypeAdapter[Any]:
        arguments = _typed_dict(self.name, fields)
        arguments.__pydantic_config__ = ConfigDict(extra=extra)
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(arguments)
            adapter.json_schema()
        except PydanticUserError:
            raise ConfigurationError(
                f"the arguments of tool {self.name!r} can't be described to an agent: "
                f"{unusable(typing.get_type_hints(arguments))}; take text, numbers, lists, dicts, "
                "a model, a dataclass or an enum"
            ) from None
        return adapter

    def _hints(self, function: Callable[..., Any]) -> dict[str, Any]:
        try:
            return typing.get_type_hints(function, include_extras=True)
        except NameError as error:
            raise ConfigurationError(
                f"a hint of tool {self.name!r} can't be resolved: {error}; import what it names "
                "at the top of its module"
            ) from error

    def _field(self, parameter: inspect.Parameter, hint: Any) -> Any:
        said = self._doc.arguments.get(parameter.name)
        if parameter.default is parameter.empty:
            return Annotated[hint, Field(description=said)] if said else hint
        shown = _shown(parameter.default)
        return NotRequired[Annotated[hint, Field(description=said, json_schema_extra=shown)]]


def _shown(default: object) -> dict[str, Any] | None:
    """What a schema says of a default, where JSON can."""
    try:
        return {"default": from_json(to_json(default))}
    except (PydanticSerializationError, ValueError):
        return None


@lru_cache(maxsize=1024)
def tools_of(made: type) -> tuple[FunctionTool, ...]:
    """The tools that a class offers by `@tool`, in the order of their definition, bases first.

    A method that overrides a tool is the tool, as its base described it unless it says anew.

    Raises:
        ConfigurationError: two have one name in one mode, or one can't be described.
    """
    check_tools(made)
    found: dict[str, FunctionTool] = {}
    for attribute, mark in _marks(made).items():
        static = inspect.getattr_static(made, attribute)
        function = getattr(static, "__func__", static)
        if inspect.isfunction(function):
            own = 0 if isinstance(static, staticmethod) else 1
            found[attribute] = FunctionTool(function, mark, attribute, own)
    offered: dict[tuple[str, ToolMode], FunctionTool] = {}
    for each in found.values():
        for mode in MODES if each.mode is None else (each.mode,):
            if offered.setdefault((each.name, mode), each) is not each:
                raise ConfigurationError(
                    f"{made.__name__} has two tools called {each.name!r}; rename one, or give "
                    "each a mode of its own"
                )
    return tuple(found.values())


def has_marks(made: type) -> bool:
    """Whether a class offers tools by `@tool`; looks at no hint, so that they may come later."""
    return bool(_marks(made))


def check_tools(made: type) -> None:
    """Refuses what is no tool though `@tool` says so; looks at no hint, as they may come later.

    Raises:
        ConfigurationError: it says what to write.
    """
    marks = _marks(made)
    for attribute in {*vars(made), *marks}:
        static = inspect.getattr_static(made, attribute)
        if attribute in marks or _mark_of(getter_of(static)) is not None:
            check_method(made.__name__, static)


def _mark_of(value: object) -> Mark | None:
    mark = getattr(getattr(value, "__func__", value), _MARK, None)
    return mark if isinstance(mark, Mark) else None


def _marks(made: type) -> dict[str, Mark]:
    marks: dict[str, Mark] = {}
    for base in reversed(made.__mro__):
        for attribute, value in vars(base).items():
            mark = _mark_of(value)
            if mark is not None:
                marks[attribute] = mark
    return marks
