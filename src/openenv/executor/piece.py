"""One piece of code in the interpreter: compiled, run, and what its last expression is."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import linecache
from collections.abc import Coroutine
from dataclasses import dataclass
from types import CodeType
from typing import Any, cast

Namespace = dict[str, Any]

_PARSED = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


@dataclass(frozen=True)
class Piece:
    """Code that is compiled: its statements, and the expression at its end."""

    body: CodeType
    last: CodeType | None

    @classmethod
    def compile(cls, text: str, name: str) -> Piece:
        """Compiles; `name` is what tracebacks call it.

        Raises:
            SyntaxError, ValueError, MemoryError, RecursionError: it is no Python.
        """
        source = text.replace("\r\n", "\n").replace("\r", "\n")  # lines as Python counts them
        lines = [
            f"{line}\n" for line in source.split("\n")
        ]  # all end so: else carets are misplaced
        linecache.cache[name] = len(text), None, lines, name
        tree = cast(ast.Module, compile(text, name, "exec", _PARSED, dont_inherit=True))
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = _compiled(ast.Expression(cast(ast.Expr, tree.body.pop()).value), name, "eval")
        return cls(_compiled(tree, name, "exec"), last)

    def run(self, namespace: Namespace) -> Any:
        """The value of the expression at its end. Raises what the code does."""
        _evaluate(self.body, namespace)
        return None if self.last is None else _evaluate(self.last, namespace)


def shown(value: object) -> str | None:
    """A value as JSON, where it can be, or else as Python shows it."""
    if value is None:
        return None
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _compiled(tree: ast.Module | ast.Expression, name: str, mode: str) -> CodeType:
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return cast(CodeType, compile(tree, name, mode, flags, dont_inherit=True))


def _evaluate(code: CodeType, namespace: Namespace) -> Any:
    value = eval(code, namespace)
    if code.co_flags & inspect.CO_COROUTINE:
        return asyncio.run(cast(Coroutine[Any, Any, Any], value))
    return value
