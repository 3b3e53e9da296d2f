"""Answers that a scorer would run as a program.

Some of Reasoning Gym's scorers give the answer to `eval`, or to SymPy, which does the same. A model
that finds that out is paid whatever it likes. So these read values alone, or formulas alone.
"""

from __future__ import annotations

import re
import sys
from ast import literal_eval
from typing import Any

VALUES = ("binary_matrix", "n_queens", "spiral_matrix", "string_insertion")
FORMULAS = frozenset(
    {
        "countdown",
        "intermediate_integration",
        "polynomial_multiplication",
        "puzzle24",
        "simple_integration",
    }
)
FUNCTIONS = frozenset(
    {"Abs", "Integral", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "cot"}
    | {"csc", "exp", "ln", "log", "pi", "sec", "sin", "sinh", "sqrt", "tan", "tanh"}
)

_FORMULA = re.compile(r"[\w\s.+\-*/^(),=]*", re.ASCII)
_ATTRIBUTE = re.compile(r"\.\s*[A-Za-z_]")
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
_NAME = re.compile(r"[A-Za-z_]+")


def disarm(datasets: dict[str, tuple[Any, Any]]) -> None:
    """Lets the scorers that evaluate a list read lists alone.

    Args:
        datasets: Reasoning Gym's datasets by name, each a class and that of its settings.
    """
    for name in VALUES:
        module = sys.modules[datasets[name][0].__module__]
        vars(module)["eval"] = literal_eval


def fault(dataset_name: str, answer: str) -> str | None:
    """Why an answer is no formula, where a dataset wants one."""
    if dataset_name not in FORMULAS:
        return None
    if not _FORMULA.fullmatch(answer) or _ATTRIBUTE.search(answer):
        return "a formula has numbers, names, parentheses and + - * / ^ alone"
    for name in _NAME.findall(_NUMBER.sub(" ", answer)):
        if name == "_" or (len(name) > 1 and name not in FUNCTIONS):
            return f"{name[:40]!r} is no name in a formula"
    return None
