"""The names that a piece of code finds: those of Python, its tools, and modules it may import."""

from __future__ import annotations

import builtins
import json
import sys
from collections.abc import Callable, Collection, Iterable
from types import ModuleType
from typing import Any, cast

from openenv.executor.wire import Answer

Ask = Callable[[str, bytes], Answer]
"""Calls a tool by its name, with arguments as JSON, and waits for the answer."""


def namespace(tools: Iterable[tuple[str, str]], ask: Ask) -> dict[str, Any]:
    """The names of a new `__main__`, which is then the program's."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    main.__dict__.update((name, _proxy(name, told, ask)) for name, told in tools)
    return main.__dict__


def restrict(names: dict[str, Any], imports: Collection[str]) -> None:
    """From now on, only these modules can be imported; functions that are there keep the others."""
    names["__builtins__"] = _guarded(frozenset(imports))


def _proxy(name: str, told: str, ask: Ask) -> Callable[..., Any]:
    """The tool of that name as a function, with what `help` shows of it."""

    def tool(*args: Any, **kwargs: Any) -> Any:
        try:
            arguments = json.dumps([args, kwargs], allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name}() takes what JSON can say: {error}") from None
        answer = ask(name, arguments)
        if answer.raised:
            raise _raised(answer)
        return json.loads(answer.result)

    tool.__name__ = tool.__qualname__ = name
    tool.__doc__ = told
    return tool


def _raised(answer: Answer) -> Exception:
    kind = getattr(builtins, answer.raised, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(answer.message)
        except TypeError:  # UnicodeError and the like want more
            pass
    unknown = type(answer.raised, (Exception,), {"__module__": "__main__"})
    return cast(Exception, unknown(answer.message))


def _guarded(allowed: frozenset[str]) -> ModuleType:
    """Python's own names, with an `import` that knows only some modules.

    Code in other modules has the true one: what is allowed may import what it needs.
    """
    module = ModuleType("builtins")
    module.__dict__.update(builtins.__dict__)
    true_import = builtins.__import__

    def guarded_import(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] in allowed:
            return true_import(name, *args, **kwargs)
        raise ImportError(
            f"import of {name!r} is not allowed here; allowed: {', '.join(sorted(allowed)) or '-'}",
            name=name,
        )

    vars(module)["__import__"] = guarded_import
    return module
