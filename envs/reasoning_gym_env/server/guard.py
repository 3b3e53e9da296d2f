"""Answers that a scorer would run as a program, or that it pays without their being an answer.

Some of Reasoning Gym's scorers give the answer to `eval`, or to SymPy, which does the same. A model
that finds that out is paid whatever it likes. So these read values alone, or formulas alone, whose
numbers are small enough to be computed.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Mapping
from typing import Any

VALUES = ("binary_matrix", "n_queens", "spiral_matrix", "string_insertion")
ARITHMETIC = frozenset({"countdown", "puzzle24"})
FORMULAS = frozenset(
    {"intermediate_integration", "polynomial_multiplication", "simple_integration"}
)
FUNCTIONS = frozenset(
    {"Abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "cot", "csc", "exp"}
    | {"ln", "log", "pi", "sec", "sin", "sinh", "sqrt", "tan", "tanh"}
)
LOGARITHMS = ("ln", "log")
MOST_BITS = 1 << 14
"""Of all numbers in a formula together, once its powers are computed."""
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)

_ARITHMETIC = re.compile(r"[\d\s+\-*/()]*", re.ASCII)
_FORMULA = re.compile(r"[\w\s.+\-*/^(),=]*", re.ASCII)
_ATTRIBUTE = re.compile(r"\.\s*[A-Za-z_]")
_SCIENTIFIC = re.compile(r"\d[eE]")
_NUMBER = re.compile(r"\d+(?:\.\d*)?")
_NAME = re.compile(r"[A-Za-z_]+")


def disarm(datasets: dict[str, tuple[Any, Any]]) -> None:
    """Lets the scorers that evaluate a list read lists alone.

    Args:
        datasets: Reasoning Gym's datasets by name, each a class and that of its settings.
    """
    for name in VALUES:
        module = sys.modules[datasets[name][0].__module__]
        vars(module)["eval"] = ast.literal_eval


def fault(dataset_name: str, answer: str, details: Mapping[str, Any]) -> str | None:
    """Why an answer is no formula, where a dataset wants one.

    Args:
        dataset_name: the dataset that asked.
        answer: what was answered.
        details: what the dataset tells of the question.
    """
    if dataset_name in ARITHMETIC:
        return _fault_of_sum(answer) or _fault_of_numbers(dataset_name, answer, details)
    return _fault_of_formula(answer) if dataset_name in FORMULAS else None


def _fault_of_sum(answer: str) -> str | None:
    """Numbers like 24e0, and names, are none of those that the scorers count."""
    if _ARITHMETIC.fullmatch(answer) and "**" not in answer and "//" not in answer:
        return None
    return "it is made of whole numbers, parentheses and + - * / alone"


def _fault_of_numbers(dataset_name: str, answer: str, details: Mapping[str, Any]) -> str | None:
    """The scorer of `puzzle24` takes any four numbers, so that one answer fits all questions."""
    wanted = [*map(str, details["numbers"])]
    if dataset_name != "puzzle24" or sorted(_NUMBER.findall(answer)) == sorted(wanted):
        return None
    return f"it has each of {', '.join(wanted)} once, and no other number"


def _fault_of_formula(answer: str) -> str | None:
    if not _FORMULA.fullmatch(answer) or _ATTRIBUTE.search(answer) or _SCIENTIFIC.search(answer):
        return "a formula has numbers, names, parentheses and + - * / ^ alone"
    for name in _NAME.findall(_NUMBER.sub(" ", answer)):
        if name == "_" or (len(name) > 1 and name not in FUNCTIONS):
            return f"{name[:40]!r} is no name in a formula"
    try:
        bits = _bits(ast.parse(answer.strip(), mode="eval").body)
    except UNREADABLE:
        return "a formula is one expression, as Python writes it"
    return None if bits <= MOST_BITS else "its numbers or powers are too large to be computed"


def _bits(node: ast.expr) -> float:
    """How many bits the numbers in a formula may take, at most."""
    match node:
        case ast.Constant(value=int() | float() | complex() as value):
            return math.log2(abs(value) + 1) + 1
        case ast.Name():
            return 1.0
        case ast.UnaryOp(operand=operand):
            return _bits(operand)
        case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
            return _bits_of_power(base, exponent)
        case ast.BinOp(left=left, right=right):
            return _bits(left) + _bits(right)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in FUNCTIONS:
            return _bits_of_power(ast.Name("E"), argument) if name == "exp" else _bits(argument)
    raise ValueError("no part of a formula")


def _bits_of_power(base: ast.expr, exponent: ast.expr) -> float:
    """A power of a name stays one, except where it undoes a logarithm."""
    inner = _bits(exponent)
    if isinstance(base, ast.Name) and not any(map(_is_logarithm, ast.walk(exponent))):
        return 1.0 + inner
    return _bits(base) * 2 ** min(inner, MOST_BITS.bit_length())


def _is_logarithm(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in LOGARITHMS
