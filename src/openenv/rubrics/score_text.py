"""The score in a text that a language model wrote."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

_NUMBER = r"[-+\u2212]?(?:0,\d+|\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_TO = r"\s{0,3}(?:-|\u2013|to|and|\.\.)\s{0,3}"
_RANGE = rf"(?:(?:between|from|on a scale of|on a scale from)\s)?{_NUMBER}{_TO}(?P<top>{_NUMBER})"
_VALUE = (
    rf"(?P<number>{_NUMBER})(?!\.?\d)(?![-\u2013]\d|\s{{1,3}}to\s{{1,3}}\d)"
    rf"(?:\s?(?:/|out\sof)\s?(?P<whole>{_NUMBER})|\s?(?P<percent>%))?"
)
_MARKS = r"[\s*_`\"']{0,8}"
_LABEL = rf"\b(?:score|rating|grade)\b{_MARKS}(?:[(\[]?{_RANGE}[)\]]?{_MARKS})?"
_SAYS = r"(?:[:=]|\bis\b|\bof\b)[\s*_`\"':]{0,8}"

_THOUGHT = re.compile(r"<think(ing)?>.*?(</think(ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_LABELLED = re.compile(_LABEL + _SAYS + _VALUE, re.IGNORECASE)
_WITHOUT = re.compile(_LABEL + _SAYS + r"(?:n/?a|none|null|nan|unknown)\b", re.IGNORECASE)
_ALONE = re.compile(rf"[\s*_`#>]*{_VALUE}[\s*_`.]*", re.IGNORECASE)
_IN_PROSE = re.compile(rf"(?<![\w.]){_VALUE}(?!\w)", re.IGNORECASE)
_SCALE = re.compile(rf"(?<![\w.]){_RANGE}", re.IGNORECASE)
_KEYS = ("score", "rating", "grade")
_TRIES = 100


def score_in(text: str) -> float | None:
    """The score in a judge's answer; `None` if it has none, or none that is clear.

    The first of these that is there counts, and the last of its kind:

    1. a JSON object with a `score` (or rating, or grade), wherever it stands;
    2. `score: 0.8`, `score is 0.8`, `score (0-10): 8`;
    3. a number alone on a line;
    4. in prose, if there is only one of them, a number like 0.8 from 0 to 1, or one like 7/10.

    `7/10`, `7 out of 10` and `70 %` are 0.7, and so is a 7 whose label has the scale 0-10. What a
    model thought between `<think>` tags, ranges, and other numbers in prose are no scores.
    """
    said = _THOUGHT.sub("", text)
    for scores in (_of_objects(said), _labelled(said)):
        if scores:
            return scores[-1] if math.isfinite(scores[-1]) else None
    lines = [line for line in map(_ALONE.fullmatch, said.splitlines()) if line]
    found = [_value(lines[-1])] if lines else _in_prose(said)
    return found[0] if len(found) == 1 and math.isfinite(found[0]) else None


def _of_objects(text: str) -> list[float]:
    return [_number(score) for told in _objects(text) for score in _scores(told)]


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in a text, each once, whatever stands around them."""
    decoder, start = json.JSONDecoder(), text.find("{")
    for _ in range(_TRIES):
        if start < 0:
            return
        try:
            told, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield told
        start = text.find("{", end)


def _scores(told: Mapping[str, Any]) -> list[Any]:
    """What an object says of a score, else what those in it say."""
    named = {key.lower(): value for key, value in told.items()}
    own = [named[key] for key in _KEYS if key in named]
    within = (each for each in told.values() if isinstance(each, dict))
    return own[:1] or [score for each in within for score in _scores(each)]


def _number(value: Any) -> float:
    if isinstance(value, str):
        match = _ALONE.fullmatch(value)
        return _value(match) if match else math.nan
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return _finite(value) if is_number else math.nan


def _finite(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _labelled(text: str) -> list[float]:
    found = [(label.start(), _value(label, label["top"])) for label in _LABELLED.finditer(text)]
    without = [(label.start(), math.nan) for label in _WITHOUT.finditer(text)]
    return [value for _, value in sorted(found + without, key=lambda each: each[0])]


def _in_prose(text: str) -> list[float]:
    values = [
        _value(each)
        for each in _IN_PROSE.finditer(_SCALE.sub(" ", text))
        if each["whole"] or ("." in each["number"] and not each["percent"])
    ]
    return [value for value in values if 0 <= value <= 1]


def _value(found: re.Match[str], top: str | None = None) -> float:
    """A number as it is written: a part of a whole, of a hundred, or of its scale."""
    number = _float(found["number"])
    if found["percent"]:
        return number / 100
    whole = _float(found["whole"] or top or "1")
    return number / whole if whole > 0 else math.nan


def _float(written: str) -> float:
    return float(written.replace(",", ".").replace("\u2212", "-"))
