"""Strategies as code: finding one in a model's answer, and what it may be made of.

A strategy is one function, `def strategy(board):`, that gets the tiles as a list of rows and
returns a move. Its helpers are inside of it, and it imports the standard library alone.
"""

from __future__ import annotations

import ast
import re
import sys
import threading
import warnings
from collections.abc import Iterator

MAX_CODE = 20_000
"""The longest code that is taken, in characters."""
_FENCED = re.compile(r"```[ \t]*(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_PARSING = threading.Lock()
_HEADER = "def strategy(board):"


class StrategyRefused(ValueError):
    """Code is no strategy. Nothing of it was run."""


class ForbiddenImport(StrategyRefused):
    """A strategy imports more than the standard library."""


def extract_strategy(text: str) -> str | None:
    """The code in a model's answer: the last fenced block that holds a strategy.

    Args:
        text: an answer, in which the code stands between lines of three backticks.

    Returns:
        the block's text, or `None` if no block has a line that begins with `def strategy`.
    """
    blocks = [
        block for block in _FENCED.findall(text) if re.search(r"^def strategy\b", block, re.M)
    ]
    return blocks[-1].strip() + "\n" if blocks else None


def check_strategy(code: str) -> None:
    """Lets code pass that is one function `strategy` of one argument.

    Beside it there may be imports and a docstring, and nothing else.

    Raises:
        StrategyRefused: it is something else; the text says what, and where.
        ForbiddenImport: it imports something from outside of the standard library.
    """
    tree = _parsed(code)
    _require_one_function(tree)
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom) and not _is_text(
            node
        ):
            raise StrategyRefused(
                f"line {node.lineno}: beside `{_HEADER}` there may be imports alone; what it needs "
                "stands inside of it"
            )
    for name, line in _imports(tree):
        if name.partition(".")[0] not in sys.stdlib_module_names:
            raise ForbiddenImport(
                f"line {line}: a strategy imports the standard library alone, got {name[:60]!r}"
            )


def _parsed(code: str) -> ast.Module:
    if len(code) > MAX_CODE:
        raise StrategyRefused(f"a strategy has at most {MAX_CODE} characters, got {len(code)}")
    try:
        # An odd escape in a text is nothing to warn the server of; filters are the whole process's.
        with _PARSING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code, "strategy.py")
    except SyntaxError as error:
        raise StrategyRefused(f"line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise StrategyRefused(f"it cannot be read as Python: {error}") from None


def _require_one_function(tree: ast.Module) -> None:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if [function.name for function in functions] != ["strategy"]:
        names = ", ".join(f"{function.name[:60]}()" for function in functions[:5])
        raise StrategyRefused(
            f"a strategy is one function, `{_HEADER}`, with its helpers inside of it; got "
            f"{names or 'no function'}"
        )
    given = functions[0].args
    named = len(given.posonlyargs) + len(given.args)
    if named != 1 or given.vararg or given.kwarg or given.kwonlyargs:
        raise StrategyRefused(
            f"line {functions[0].lineno}: a strategy takes one argument, `{_HEADER}`"
        )


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Each module that is imported anywhere, and the line; a relative one begins with a dot."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node.lineno
