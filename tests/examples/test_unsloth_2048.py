"""The rewards of the recipe for Unsloth; its training is run by `make integrations`."""

from collections.abc import Iterator
from contextlib import ExitStack
from random import Random
from typing import Any

import pytest

from examples.unsloth_2048.strategies import UNWRITTEN, lesson, questions, strategy_plays
from game_2048_env import extract_strategy
from game_2048_env.server.app import app
from openenv.testing.loopback import serving

RANDOM = "```python\ndef strategy(board):\n    import random\n    return random.choice('WASD')\n```"
EAGER = "```python\nimport torch\ndef strategy(board):\n    return 'W'\n```"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(app) as url:
        yield url


def said(*answers: str) -> list[Any]:
    return [[{"role": "assistant", "content": answer}] for answer in answers]


def test_a_strategy_is_paid_what_it_scores_and_equal_ones_of_a_group_alike(url: str) -> None:
    with strategy_plays(url, sessions=2) as reward:
        first, again, unwritten, refused = reward(said(RANDOM, RANDOM, "No.", EAGER), seed=[7] * 4)
        (other,) = reward(said(RANDOM), seed=[8])
    assert first is not None and first > 0
    assert (again, unwritten, refused) == (first, UNWRITTEN, UNWRITTEN)
    assert other != first


def test_what_could_not_be_played_has_no_reward(capsys: pytest.CaptureFixture[str]) -> None:
    server = ExitStack()
    with server, strategy_plays(server.enter_context(serving(app)), sessions=1) as reward:
        server.close()
        assert reward(said(RANDOM, "No."), seed=[1, 1]) == [None, UNWRITTEN]
    assert "could not be played" in capsys.readouterr().out


def test_prompts_have_seeds_of_their_own() -> None:
    rows = questions(8)
    assert len({row["seed"] for row in rows}) == 8
    assert rows == questions(8)


def test_most_answers_that_the_tiny_model_is_taught_are_strategies() -> None:
    rng = Random(0)
    taught = [extract_strategy(lesson(rng)[1]) for _ in range(100)]
    assert all(taught)
