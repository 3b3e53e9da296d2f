"""Hidden tests: what of their text is a test, and what they want of a submission."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from coding_env.source import NAME, UNREADABLE, parsed

GIVEN = {*dir(builtins), "submission"}
"""What tests find without having asked for it."""


@dataclass(frozen=True)
class Part:
    """A piece of the tests, to be run after those before it.

    Attributes:
        code: the piece.
        counts: whether it is a test, which passes if the piece raises nothing.
    """

    code: str
    counts: bool


class HiddenTests:
    """Tests of a submission, in Python.

    Functions named `test_…` are a test each; without any, each `assert` at the top level is one;
    without any of these, the whole is one.

    Args:
        source: the tests.

    Raises:
        ValueError: they are no Python, or nested too deeply.

    Attributes:
        parts: what is to be run, in this order.
        total: how many tests there are, at least 1.
        wanted: the names that they use and do not define: the submission's.
    """

    def __init__(self, source: str) -> None:
        tree = parsed(source)
        if tree is None:
            raise ValueError("the tests are no Python that can be parsed")
        try:
            compile(tree, NAME, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            parts = _functions(source, tree) or _assertions(tree)
        except UNREADABLE as error:
            raise ValueError(f"the tests are no Python that can be run: {error}") from None
        self.parts = parts or [Part(source, counts=True)]
        self.total = sum(part.counts for part in self.parts)
        self.wanted = sorted(_used(tree) - _defined(tree) - GIVEN)


def _functions(source: str, tree: ast.Module) -> list[Part]:
    names = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    return [Part(source, counts=False), *(Part(f"{name}()", True) for name in names)] * bool(names)


def _assertions(tree: ast.Module) -> list[Part]:
    parts = [Part(ast.unparse(node), isinstance(node, ast.Assert)) for node in tree.body]
    return parts if any(part.counts for part in parts) else []


def _used(tree: ast.Module) -> set[str]:
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _defined(tree: ast.Module) -> set[str]:
    return {name for node in ast.walk(tree) if (name := _defines(node)) is not None}


def _defines(node: ast.AST) -> str | None:
    """The name that a node binds, wherever that is."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.ExceptHandler(name=name):
            return name
        case ast.alias(name=name, asname=asname):
            return asname or name.partition(".")[0]
    return None
