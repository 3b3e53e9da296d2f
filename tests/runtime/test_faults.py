"""What is told of the exceptions of an author's code."""

import pytest

from openenv.env.incidents import text_of


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such card"), "no such card"),
        (ValueError(), "ValueError"),
        (KeyError("card"), "KeyError: 'card'"),
        (Unprintable(), "Unprintable"),
    ],
)
def test_it_is_never_less_than_one_can_act_on(error: Exception, text: str) -> None:
    assert text_of(error) == text
