"""What code earns by how it is written."""

import ast

import pytest

from coding_env import CodeObservation
from coding_env.server.transforms import (
    DANGERS,
    CodeQualityTransform,
    CodeSafetyTransform,
    Safety,
    create_safe_coding_transform,
    danger,
)
from coding_env.source import parsed

LONG = "total = 0  # " + "x" * 100


def earned(code: str, look_at: Safety = "syntax") -> float:
    seen = CodeObservation(metadata={"last_code": code})
    reward = create_safe_coding_transform(look_at)(seen).reward
    assert reward is not None
    return round(reward, 9)


@pytest.mark.parametrize("look_at", ["syntax", "text"])
@pytest.mark.parametrize(
    ("code", "reward"),
    [
        ("print('Hello, World!')", 0.1),
        ("", 0.1),
        ("1 / 0", 0.1),
        ("x" * 100, 0.1),
        (" \n" + "x" * 100 + "\n\n", 0.1),
        ("x" * 101, 0.0),
        (LONG, 0.0),
        ("((", -0.1),
        (f"(( # {LONG}", -0.2),
        ("import os", -0.9),
        ("import  os.path as p", -0.9),
        (f"import os\n{LONG}", -1.0),
        ("import os((", -1.1),
        (f"import os((\n{LONG}", -1.2),
        ("import subprocess", -0.9),
        ("eval('1')", -0.9),
        ("exec('x = 1')", -0.9),
        ("__import__('sys')", -0.9),
        ("open('file').read()", -0.9),
    ],
)
def test_code_earns_what_it_always_has(code: str, reward: float, look_at: Safety) -> None:
    assert earned(code, look_at) == reward


@pytest.mark.parametrize(
    ("code", "by_syntax", "by_text"),
    [
        ("print('eval(1)')", None, r"eval\("),
        ("# never exec('x')", None, r"exec\("),
        ("model.eval()", None, r"eval\("),
        ("reopen(door)", None, r"open\("),
        ("import ossuary", None, r"import\s+os"),
        ("from os import path", r"import\s+os", None),
        ("import sys, os", r"import\s+os", None),
        ("eval ('1')", r"eval\(", None),
        ("builtins.exec('x = 1')", r"exec\(", r"exec\("),
        ("f'{eval(text)}'", r"eval\(", r"eval\("),
        ("from .os import path", None, None),
    ],
)
def test_the_tree_tells_what_the_text_does_not(
    code: str, by_syntax: str | None, by_text: str | None
) -> None:
    assert danger(code) == by_syntax
    assert danger(code, "text") == by_text


def test_the_first_danger_of_the_list_is_named() -> None:
    code = "open('f'); eval('x'); import subprocess"
    for look_at in ("syntax", "text"):
        seen = CodeSafetyTransform(look_at=look_at)(CodeObservation(metadata={"last_code": code}))
        assert seen.metadata["safety_violation"] == r"import\s+subprocess"
    assert list(DANGERS) == [
        r"import\s+os",
        r"import\s+subprocess",
        r"eval\(",
        r"exec\(",
        "__import__",
        r"open\(",
    ]


def test_an_observation_without_code_earns_nothing() -> None:
    assert create_safe_coding_transform()(CodeObservation()).reward == 0.0
    assert CodeQualityTransform()(CodeObservation()).reward is None


def test_the_amounts_can_be_chosen() -> None:
    seen = CodeObservation(metadata={"last_code": "import os(("})
    assert CodeSafetyTransform(penalty=-5.0)(seen).reward == -5.0
    pays = CodeQualityTransform(concise_bonus=2.0, max_length_threshold=11, syntax_penalty=-3.0)
    assert pays(seen).reward == -6.0


@pytest.mark.parametrize(
    "code",
    [
        "a\0b",
        "'\ud800'",
        "1" + "+1" * 49_000,
        "-" * 99_000 + "1",
        "(" * 99_000,
        "lambda:" * 14_000 + "1",
        "if 1:\n 1\n" + "elif 1:\n 1\n" * 9_000,
        "9" * 99_000,
        "f'{" * 33_000,
    ],
    ids=lambda code: repr(code[:8]),
)
def test_no_code_is_too_much_for_the_parser(code: str) -> None:
    assert earned(code) <= 0.0 or isinstance(parsed(code), ast.Module)


def test_warnings_of_the_parser_are_not_the_server_s() -> None:
    assert earned(r"'\d'") == 0.1
    assert earned("1 is 1") == 0.1
