"""What is often written wrongly of a tool, told when its class is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from openenv.protocol.errors import ConfigurationError

_ITSELF = frozenset({"self", "cls", "this", "me"})


def check_decorated(decorated: object, unknown: Iterable[str], known: Iterable[str]) -> None:
    """Refuses what `@tool` cannot be above, and options that it does not have.

    Args:
        decorated: what it is above; `None` if that comes later.
        unknown: the names of the options that it does not have.
        known: the names of those that it has.

    Raises:
        ConfigurationError: it says what to write.
    """
    for name in unknown:
        near = get_close_matches(name, list(known), 1, 0.5)
        guess = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
        raise ConfigurationError(f"@tool has no option {name!r}: {guess}")
    if isinstance(decorated, str):
        raise ConfigurationError(f"@tool takes no text by position: @tool(name={decorated!r})")
    getter = getter_of(decorated)
    if getter is not None:
        raise _is_property(getter)
    if decorated is not None and not callable(decorated) and not hasattr(decorated, "__func__"):
        raise ConfigurationError(f"@tool stands above a method, not above {decorated!r}")


def getter_of(attribute: object) -> Any:
    """The function of a property; `None` if an attribute is none."""
    if isinstance(attribute, property):
        return attribute.fget
    return attribute.func if isinstance(attribute, cached_property) else None


def check_method(owner: str, attribute: object) -> None:
    """Refuses what `@tool` has marked, and can be no tool.

    Args:
        owner: the class's name.
        attribute: what stands in the class.

    Raises:
        ConfigurationError: it says what to write.
    """
    getter = getter_of(attribute)
    if getter is not None:
        raise _is_property(getter)
    function = getattr(attribute, "__func__", attribute)
    if not inspect.isfunction(function):
        return
    named = f"tool {owner}.{function.__name__}"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigurationError(
            f"{named} yields, and a call gives one result: return a list, and report progress with "
            "a ToolContext"
        )
    if not isinstance(attribute, staticmethod):
        _check_itself(named, function)


def unusable(fields: Mapping[str, Any]) -> str:
    """The argument whose hint can't be described, and the hint; all of them if none is at fault."""
    for name, hint in fields.items():
        try:
            TypeAdapter(hint).json_schema()
        except PydanticUserError:
            return f"{name}: {_shown(hint)}"
    return ", ".join(f"{name}: {_shown(hint)}" for name, hint in fields.items())


def _is_property(getter: Any) -> ConfigurationError:
    name = getattr(getter, "__name__", "it")
    return ConfigurationError(
        f"@tool is of a method, and {name} is a property: leave out @property, def {name}(self)"
    )


def _check_itself(named: str, function: Callable[..., Any]) -> None:
    """Refuses a method whose first parameter is not itself."""
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and _is_itself(parameters[0]):
        return
    given = ", ".join(["self", *map(str, parameters)])
    raise ConfigurationError(
        f"{named} has no self: write def {function.__name__}({given}), or @staticmethod above @tool"
    )


def _is_itself(first: inspect.Parameter) -> bool:
    if first.kind is first.VAR_POSITIONAL:
        return True
    by_position = first.kind in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD)
    plain = first.annotation is first.empty and first.default is first.empty
    of_its_name = first.name in _ITSELF or first.name.startswith("_")
    return by_position and (first.name == "self" or (plain and of_its_name))


def _shown(hint: Any) -> str:
    """A hint as its author has written it, or nearly so."""
    plain = isinstance(hint, type) and not getattr(hint, "__args__", ())
    return hint.__name__ if plain else str(hint)
