"""What a docstring in Google's style says of a function and of each of its arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_SECTION = re.compile(
    r"(Args|Arguments|Parameters|Attributes|Returns|Yields|Raises|Examples?|Notes?):\s*$"
)
_ARGUMENT = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")
_OF_ARGUMENTS = frozenset({"Args", "Arguments", "Parameters"})
_LAID_OUT = re.compile(r"\s|[-*+] |[>|#]|\d+[.)] |([-=~*^`])\1\1")
"""Begins what has lines of its own: code, lists, quotations, tables and headings."""
_FENCES = ("```", "~~~")
_KEPT = frozenset({"", "Returns", "Example", "Examples", "Note", "Notes"})
"""What a caller needs to know besides the arguments."""


@dataclass(frozen=True)
class Docstring:
    """A docstring, read.

    Attributes:
        text: what it says of the function, without the sections of arguments and exceptions; each
            paragraph is a line, however wide the source is.
        arguments: what it says of each argument, by name.
        attributes: what it says of each attribute of a class, by name.
    """

    text: str = ""
    arguments: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Docstring:
        """Reads the docstring of a function or a class; a missing one says nothing."""
        text: list[str] = []
        described: list[str] = []
        attributes: list[str] = []
        section = ""
        for line in (inspect.getdoc(function) or "").splitlines():
            heading = _SECTION.match(line)
            if heading is not None:
                section = heading[1]
            if section in _OF_ARGUMENTS:
                described += [] if heading is not None else [line]
            elif section == "Attributes":
                attributes += [] if heading is not None else [line]
            elif section in _KEPT:
                text.append(line)
        return cls(_unwrapped(text).strip(), _arguments(described), _arguments(attributes))


def _unwrapped(lines: list[str]) -> str:
    """A text in which each paragraph is a line; what is laid out stays so, to the next blank line.

    Args:
        lines: the text's.
    """
    whole: list[str] = []
    fenced = flows = laid_out = False
    for line in lines:
        fenced ^= line.startswith(_FENCES)
        laid_out = fenced or bool(line) and (laid_out or _LAID_OUT.match(line) is not None)
        if flows and line and not laid_out:
            whole[-1] += f" {line}"
        else:
            whole.append(line)
        flows = bool(line) and not laid_out
    return "\n".join(whole)


def _arguments(lines: list[str]) -> dict[str, str]:
    """What the lines of a section say of each argument: deeper ones go on with the last."""
    found: dict[str, list[str]] = {}
    name = ""
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    for line in lines:
        begins = _ARGUMENT.match(line[depth:])
        if begins is not None:
            name = begins[1]
            found[name] = [begins[2]]
        elif name and line.strip():
            found[name].append(line.strip())
    return {name: " ".join(said).strip() for name, said in found.items()}
