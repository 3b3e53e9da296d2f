"""Wordle's marks, and what a player's message says."""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

LENGTH = 5
GREEN, YELLOW, GREY = "G", "Y", "X"
Mark = Literal["G", "Y", "X"]

_BRACKETS = re.compile(r"\[\s*([^\[\]\s]+)\s*\]")


def marks(guess: str, secret: str) -> str:
    """A mark for each letter of a guess.

    `G` is the right letter in its place and `Y` one that belongs elsewhere. A letter is marked as
    often as the secret has it, green ones first and then from the left; the rest are `X`.
    """
    left = Counter(theirs for ours, theirs in zip(guess, secret, strict=True) if ours != theirs)
    given = ""
    for ours, theirs in zip(guess, secret, strict=True):
        if ours == theirs:
            given += GREEN
        elif left[ours]:
            left[ours] -= 1
            given += YELLOW
        else:
            given += GREY
    return given


def guess_in(message: str) -> str | None:
    """The first word in square brackets, in small letters; `None` if there is none."""
    found = _BRACKETS.search(message)
    return found[1].lower() if found else None


def completion(given: str) -> float:
    """How much of the secret a guess has found, from 0 to 1: greens whole, yellows half."""
    return (given.count(GREEN) + given.count(YELLOW) / 2) / LENGTH
