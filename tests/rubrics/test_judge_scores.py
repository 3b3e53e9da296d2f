"""The score in what a judge wrote."""

import json

import pytest

from openenv.rubrics.score_text import score_in

NUMBERS = [
    ("0.8", 0.8),
    (" 0.8\n", 0.8),
    ("**0.8**", 0.8),
    ("-0.5", -0.5),
    ("\u22120.5", -0.5),
    (".5", 0.5),
    ("0,8", 0.8),
    ("1e-1", 0.1),
    ("8", 8.0),
    ("7/10", 0.7),
    ("7 / 10", 0.7),
    ("7 out of 10", 0.7),
    ("70%", 0.7),
    ("I thought of 3 things.\n\n0.4", 0.4),
    ("0.9\n\nIt has 2 flaws, and 1 of them is bad.", 0.9),
    ("0.1\nNo, wait:\n0.2", 0.2),
]
LABELLED = [
    ("Score: 0.8", 0.8),
    ("Score (0-1): 0.8", 0.8),
    ("Score (0 to 1): 0.8", 0.8),
    ("Score [0\u20131]: 0.8", 0.8),
    ("Score between 0 and 1: 0.8", 0.8),
    ("score = .25", 0.25),
    ("**Score:** 0.8", 0.8),
    ("**Score**: **0.8**", 0.8),
    ("The score is 0.8, for 3 reasons.", 0.8),
    ("I give it a score of 0.8 out of 1", 0.8),
    ("Final rating: 7/10", 0.7),
    ("Grade: 85 %", 0.85),
    ("Score (0-10): 8", 0.8),
    ("Score (0-10): 8/10", 0.8),
    ("Score: 8", 8.0),
    ("Score: -0.5", -0.5),
    ("Score: 0.8 - 3 errors were found", 0.8),
    ("Score:\n0.8", 0.8),
    ("Style score: 0.2\nFinal score: 0.9", 0.9),
    ("In 2024 there were 12 of them. Score: 0.3. It has 5 parts.", 0.3),
    ("<think>Score: 0.1</think>Score: 0.9", 0.9),
]
JSON = [
    ('{"score": 0.8}', 0.8),
    ('```json\n{"score": 0.8, "why": "good"}\n```', 0.8),
    ('Here you are: {"Score": 0.8} as you wished (1 of 2).', 0.8),
    ('{"score": "7/10"}', 0.7),
    ('{"score": "0.8"}', 0.8),
    ('{"criteria": {"score": 0.2}, "score": 0.9}', 0.9),
    ('{"result": {"score": 0.9}, "confidence": 0.1}', 0.9),
    ('{"why": "uses {x} in 3 places", "score": 0.9}', 0.9),
    ('{"score": 0.1}\nOn reflection:\n{"score": 0.6}', 0.6),
    ('{broken {"score": 0.5}', 0.5),
    ('[{"score": 1}]', 1.0),
    ('{"rating": 3, "score": 0.25}', 0.25),
]
PROSE = [
    ("I would give this 0.75 because it answers.", 0.75),
    ("I'd call it 7/10, all in all.", 0.7),
    ("On a scale of 0.0 to 1.0, this deserves 0.3.", 0.3),
    ("Of the 3 parts, 2 are right, so 0.67.", 0.67),
]
NOTHING = [
    "",
    "  \n",
    "A fine answer.",
    "I cannot give a score from 0 to 1.",
    "Give a score between 0 and 1.",
    "Score: N/A, with a confidence of 0.9",
    '{"score": null, "confidence": 0.9}',
    '{"score": NaN}',
    '{"score": true}',
    '{"score": "good", "confidence": 0.9}',
    '{"score": 1e999}',
    '{"score": 1' + "0" * 400 + "}",
    "Score: 1e999",
    "Score: 3/0",
    "It fails 3 tests.",
    "Python 3.11 is used.",
    "I am 90% sure that it is bad.",
    "Either 0.2 or 0.8.",
    "Score: 0-1",
    "<think>It seems good. Score: 0.9",
]


@pytest.mark.parametrize(("text", "score"), [*NUMBERS, *LABELLED, *JSON, *PROSE])
def test_a_score(text: str, score: float) -> None:
    assert score_in(text) == pytest.approx(score)


@pytest.mark.parametrize("text", NOTHING)
def test_no_clear_score(text: str) -> None:
    assert score_in(text) is None


@pytest.mark.parametrize(
    "piece", ["{", '{"a":', "score ", "score (", "1", "1-", "*", " ", "<think>", "0.5 ", "score: "]
)
def test_a_long_text_is_read_to_its_end(piece: str) -> None:
    """In time that grows with it: otherwise this takes hours."""
    score_in(piece * 50_000)


def test_json_in_json_is_read_as_deep_as_python_reads() -> None:
    assert score_in(json.dumps({"a": {"b": [1, {"score": 2}], "c": {"score": 0.5}}})) == 0.5
