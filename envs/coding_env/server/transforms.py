"""Rewards for code by how it is written: no dangerous calls, short, and free of syntax errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Literal

from coding_env.models import CodeObservation
from coding_env.source import parsed
from openenv import Transform
from openenv.env.transforms import CompositeTransform

Safety = Literal["syntax", "text"]


def _imports(module: str) -> Callable[[ast.AST], bool]:
    def holds(node: ast.AST) -> bool:
        if isinstance(node, ast.Import):
            return any(alias.name.partition(".")[0] == module for alias in node.names)
        if not isinstance(node, ast.ImportFrom) or node.level:
            return False
        return (node.module or "").partition(".")[0] == module

    return holds


def _calls(name: str) -> Callable[[ast.AST], bool]:
    def holds(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and _is_builtin(node.func, name)

    return holds


def _mentions(name: str) -> Callable[[ast.AST], bool]:
    return lambda node: _is_builtin(node, name)


def _is_builtin(node: ast.AST, name: str) -> bool:
    """Whether it is the built-in function of that name: bare, or as `builtins.name`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr == name and node.value.id in ("builtins", "__builtins__")
    return isinstance(node, ast.Name) and node.id == name


DANGERS = MappingProxyType(
    {
        r"import\s+os": _imports("os"),
        r"import\s+subprocess": _imports("subprocess"),
        r"eval\(": _calls("eval"),
        r"exec\(": _calls("exec"),
        r"__import__": _mentions("__import__"),
        r"open\(": _calls("open"),
    }
)
"""What is dangerous, the most telling first: as a pattern in text, and in a syntax tree."""


def danger(code: str, look_at: Safety = "syntax") -> str | None:
    """The pattern of the first danger in a piece of code; `None` if there is none.

    Args:
        code: what to look at.
        look_at: `"syntax"`: what the code does; code that does not parse is searched as text.
            `"text"`: what is written in it, in texts and comments too.
    """
    tree = parsed(code) if look_at == "syntax" else None
    if tree is None:
        return next((pattern for pattern in DANGERS if re.search(pattern, code)), None)
    nodes = list(ast.walk(tree))
    return next((pattern for pattern, is_it in DANGERS.items() if any(map(is_it, nodes))), None)


class CodeSafetyTransform(Transform[CodeObservation]):
    """Pays a penalty for dangerous code, and 0.0 for the rest.

    It reads `metadata["last_code"]`, and names what it found in `metadata["safety_violation"]`.
    It is a reward and no protection: that is the sandbox's.
    """

    def __init__(self, penalty: float = -1.0, look_at: Safety = "syntax") -> None:
        self.penalty = penalty
        self.look_at: Safety = look_at

    def __call__(self, observation: CodeObservation) -> CodeObservation:
        """The observation with its reward set."""
        found = danger(str(observation.metadata.get("last_code", "")), self.look_at)
        if found is None:
            observation.reward = observation.reward or 0.0
        else:
            observation.reward = self.penalty
            observation.metadata["safety_violation"] = found
        return observation


class CodeQualityTransform(Transform[CodeObservation]):
    """Adds a bonus for short code, and a penalty for code that does not parse."""

    def __init__(
        self,
        concise_bonus: float = 0.1,
        max_length_threshold: int = 100,
        syntax_penalty: float = -0.2,
    ) -> None:
        self.concise_bonus = concise_bonus
        self.max_length_threshold = max_length_threshold
        self.syntax_penalty = syntax_penalty

    def __call__(self, observation: CodeObservation) -> CodeObservation:
        """The observation with its reward changed; one without code stays as it is."""
        code = observation.metadata.get("last_code")
        if code is None:
            return observation
        reward = observation.reward or 0.0
        if len(code.strip()) <= self.max_length_threshold:
            reward += self.concise_bonus
        if parsed(code) is None:
            reward += self.syntax_penalty
        observation.reward = reward
        return observation


def create_safe_coding_transform(look_at: Safety = "syntax") -> CompositeTransform[CodeObservation]:
    """What the environment pays: -1.0 for danger, +0.1 up to 100 characters, -0.2 unparsable.

    Args:
        look_at: where danger is looked for, see `danger`.
    """
    return CompositeTransform([CodeSafetyTransform(look_at=look_at), CodeQualityTransform()])
