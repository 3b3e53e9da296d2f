"""Strategies as code: what is found in an answer, and what is let through."""

import pytest

from game_2048_env import ForbiddenImport, StrategyRefused, check_strategy, extract_strategy

GOOD = {
    "short": "def strategy(board): return 'W'",
    "any name of the board": "def strategy(grid):\n    return 'W'",
    "typed": "def strategy(board: list[list[int]]) -> str:\n    return 'W'",
    "imports inside": "def strategy(board):\n    import random\n    return random.choice('WASD')",
    "imports before": "import math\nfrom heapq import heappop\ndef strategy(b): return 1",
    "a docstring": '"""Corners."""\ndef strategy(board):\n    """Up."""\n    return "W"',
    "helpers inside": "def strategy(board):\n    def f(x):\n        return 1\n    return f(2)",
    "an odd escape": "def strategy(board):\n    return '\\d'",
    "unicode": "def strategy(бoard):\n    return 'W'  # ← \u202e",
}
REFUSED = {
    "nothing": ("", "got no function"),
    "no function": ("move = 'W'", "got no function"),
    "another name": ("def play(board): return 'W'", r"got play\(\)"),
    "two functions": (
        "def help(): return 1\ndef strategy(board): return 'W'",
        r"got help\(\), strategy\(\)",
    ),
    "twice": ("def strategy(b): return 1\n" * 2, r"got strategy\(\), strategy\(\)"),
    "no argument": ("def strategy(): return 'W'", "line 1: a strategy takes one argument"),
    "two arguments": ("\ndef strategy(a, b): return 'W'", "line 2: a strategy takes one"),
    "a default more": ("def strategy(a, b=[]): return 'W'", "takes one argument"),
    "many arguments": ("def strategy(*a): return 'W'", "takes one argument"),
    "keywords": ("def strategy(a, **b): return 'W'", "takes one argument"),
    "async": ("async def strategy(board): return 'W'", "got no function"),
    "a lambda": ("strategy = lambda board: 'W'", "got no function"),
    "a class": ("class strategy: pass", "got no function"),
    "a global": ("X = 1\ndef strategy(board): return 'W'", "line 1: beside"),
    "a call": ("def strategy(board): return 'W'\nprint(1)", "line 2: beside"),
    "a syntax error": ("def strategy(board):\n    return (", "line 2"),
    "a null byte": ("def strategy(board):\n    return '\0'", "null byte"),
    "a surrogate": ("def strategy(board):\n    return '\ud800'", "surrogates"),
    "deep nesting": ("def strategy(board): return " + "(" * 5000 + ")" * 5000, "too many|cannot"),
    "deep signs": ("def strategy(board): return " + "-" * 19_000 + "1", "cannot be read|too"),
    "long": ("def strategy(board): return 'W'" + " " * 20_000, "at most 20000 characters"),
}
FORBIDDEN = {
    "a package": "import numpy\ndef strategy(board): return 'W'",
    "inside": "def strategy(board):\n    import torch.nn as nn\n    return 'W'",
    "from": "def strategy(board):\n    from openenv import local\n    return 'W'",
    "relative": "def strategy(board):\n    from . import rules\n    return 'W'",
    "the game": "def strategy(board):\n    import game_2048_env\n    return 'W'",
    "among others": "def strategy(board):\n    import os, numpy, sys\n    return 'W'",
}


@pytest.mark.parametrize("code", GOOD.values(), ids=GOOD)
def test_a_strategy_passes(code: str) -> None:
    check_strategy(code)


@pytest.mark.parametrize(("code", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_strategy_is_refused(code: str, why: str) -> None:
    with pytest.raises(StrategyRefused, match=why) as refusal:
        check_strategy(code)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("code", FORBIDDEN.values(), ids=FORBIDDEN)
def test_imports_are_those_of_the_standard_library(code: str) -> None:
    with pytest.raises(ForbiddenImport, match=r"line \d: a strategy imports the standard library"):
        check_strategy(code)


FENCE = "```"
STRATEGY = "def strategy(board):\n    return 'W'\n"
ANSWERS = {
    "python": (f"Sure!\n{FENCE}python\n{STRATEGY}{FENCE}\nGood luck.", STRATEGY),
    "no language": (f"{FENCE}\n{STRATEGY}{FENCE}", STRATEGY),
    "capital": (f"{FENCE}Python \n{STRATEGY}{FENCE}", STRATEGY),
    "the last of several": (
        f"{FENCE}python\n{STRATEGY.replace('W', 'A')}{FENCE}\nBetter:\n"
        f"{FENCE}python\n{STRATEGY}{FENCE}\nUse it:\n{FENCE}python\nprint(strategy)\n{FENCE}",
        STRATEGY,
    ),
    "imports stay": (f"{FENCE}py\nimport random\n{STRATEGY}{FENCE}", f"import random\n{STRATEGY}"),
    "no fence": (STRATEGY, None),
    "an open fence": (f"{FENCE}python\n{STRATEGY}", None),
    "something else": (f"{FENCE}python\ndef strategies(): pass\n{FENCE}", None),
    "nothing": ("", None),
}


@pytest.mark.parametrize(("answer", "code"), ANSWERS.values(), ids=ANSWERS)
def test_a_strategy_is_found_in_an_answer(answer: str, code: str | None) -> None:
    assert extract_strategy(answer) == code


def test_long_answers_are_searched_in_no_time() -> None:
    assert extract_strategy(FENCE + "\n`" * 500_000) is None
    assert extract_strategy(f"{FENCE}python\n" * 100_000) is None
