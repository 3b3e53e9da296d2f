"""What a tool's result comes down to, for clients, models and evaluations alike."""

from typing import Any

import pytest

from openenv.env.tool_content import plain_result, rendered

TEXT = {"type": "text", "text": "no luck"}
PICTURE = {"type": "image", "data": "aaaa"}


@pytest.mark.parametrize("value", [None, 0, "", "text", [], [1, "a"], {}, {"result": None}, False])
def test_a_value_comes_back_as_it_is(value: Any) -> None:
    assert plain_result(rendered(value)) == (value, None)
    assert plain_result(value) == (value, None)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ([TEXT], "no luck"),
        ([TEXT, TEXT], "no luck\nno luck"),
        ([PICTURE], '[{"type":"image","data":"aaaa"}]'),
        ([], "it did not say why"),
        (None, "it did not say why"),
    ],
)
@pytest.mark.parametrize("mark", ["is_error", "isError"])
def test_a_failure_has_a_reason_and_no_value(content: Any, why: str, mark: str) -> None:
    assert plain_result({"content": content, "data": 5, mark: True}) == (None, why)
