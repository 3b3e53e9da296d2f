"""Spaces that are derived from the fields of models."""

from enum import Enum
from typing import Any, Literal

import numpy as np
import pytest
from gymnasium import Space, spaces
from pydantic import BaseModel, Field, create_model

from openenv import NDArray, Observation
from openenv.gym.derived import derived
from openenv.gym.fields import FieldsCodec
from openenv.server.info import json_schema

INF = float("inf")


class Colour(Enum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    """A part."""

    x: int = Field(ge=0, le=4)
    hue: Colour


class Line(BaseModel):
    """A part of parts."""

    ends: tuple[Point, Point]


def codec_of(annotation: Any) -> Any:
    model: Any = create_model("Model", __base__=Observation, it=(annotation, ...))
    schema = json_schema(model)
    return derived(schema["properties"]["it"], schema.get("$defs", {}))


def number(low: Any, high: Any, dtype: Any) -> Space[Any]:
    return spaces.Box(low, high, (1,), dtype)


@pytest.mark.parametrize(
    ("annotation", "space", "data", "value"),
    [
        (bool, spaces.Discrete(2), True, 1),
        (Literal["a", "b"], spaces.Discrete(2), "b", 1),
        (Literal["a"], spaces.Discrete(1), "a", 0),
        (Literal["a", "b"] | None, spaces.Discrete(3), None, 2),
        (Colour, spaces.Discrete(2), "blue", 1),
        (int, number(-INF, INF, np.int64), 7, np.array([7])),
        (float, number(-INF, INF, np.float64), 0.5, np.array([0.5])),
        (NDArray[np.float32, (2,)], spaces.Box(-INF, INF, (2,)), [1, 2], np.array([1, 2])),
        (NDArray[np.uint8, (1, 2)], spaces.Box(0, 255, (1, 2), np.uint8), [[1, 2]], [[1, 2]]),
        (tuple[int, bool], None, [3, True], (np.array([3]), 1)),
        (Point, None, {"x": 3, "hue": "red"}, {"x": 3, "hue": 0}),
        (
            Line,
            None,
            {"ends": [{"x": 3, "hue": "red"}, {"x": 4, "hue": "blue"}]},
            {"ends": ({"x": 3, "hue": 0}, {"x": 4, "hue": 1})},
        ),
    ],
    ids=str,
)
def test_a_field_is_a_space(annotation: Any, space: Any, data: Any, value: Any) -> None:
    codec = codec_of(annotation)
    assert space in (None, codec.space)
    read = codec.read(data)
    np.testing.assert_equal(read, value)
    assert codec.space.contains(read)
    np.testing.assert_equal(_listed(codec.write(read)), data)


def _listed(data: Any) -> Any:
    if isinstance(data, tuple):
        return [_listed(item) for item in data]
    if isinstance(data, dict):
        return {key: _listed(item) for key, item in data.items()}
    return data


@pytest.mark.parametrize(
    ("bounds", "space"),
    [
        ({"ge": 1, "le": 3}, spaces.Discrete(3, start=1)),
        ({"gt": 1, "lt": 5}, spaces.Discrete(3, start=2)),
        ({"ge": 1}, number(1, INF, np.int64)),
        ({"ge": -(2**63), "lt": 2**63}, number(-(2**63), 2**63 - 1, np.int64)),
    ],
    ids=str,
)
def test_a_whole_number_between_bounds_is_a_choice(bounds: Any, space: Space[Any]) -> None:
    model: Any = create_model("Model", it=(int, Field(**bounds)))
    codec = derived(json_schema(model)["properties"]["it"], {})
    assert codec is not None
    assert codec.space == space


@pytest.mark.parametrize(
    ("items", "space", "data"),
    [
        (list[float], spaces.Box(-INF, INF, (2,), np.float64), [0.5, 1.5]),
        (list[int], spaces.Box(-INF, INF, (2,), np.int64), [5, -1]),
        (list[bool], spaces.Tuple([spaces.Discrete(2)] * 2), [True, False]),
    ],
    ids=str,
)
def test_a_list_of_one_length_is_an_array_or_a_tuple(
    items: Any, space: Space[Any], data: list[Any]
) -> None:
    model: Any = create_model("Model", it=(items, Field(min_length=2, max_length=2)))
    codec = derived(json_schema(model)["properties"]["it"], {})
    assert codec is not None
    assert codec.space == space
    assert list(codec.write(codec.read(data))) == data


def test_a_text_with_a_greatest_length_is_one_of_printable_characters() -> None:
    model: Any = create_model("Model", it=(str, Field(max_length=30)))
    codec = derived(json_schema(model)["properties"]["it"], {})
    assert codec is not None
    assert codec.space.contains("some words, and a stop.")
    assert codec.read("words") == codec.write("words") == "words"


@pytest.mark.parametrize(
    "annotation",
    [
        str,
        list[int],
        dict[str, int],
        Any,
        int | None,
        int | str,
        NDArray[np.float32],
        NDArray[np.float32, (None, 2)],
        tuple[int, str],
        bytes,
    ],
    ids=str,
)
def test_what_says_no_bounds_is_no_space(annotation: Any) -> None:
    assert codec_of(annotation) is None


def test_several_fields_are_a_dict_and_one_is_itself() -> None:
    parts = {"a": codec_of(bool), "b": codec_of(Literal["x", "y"])}
    both = FieldsCodec(parts)
    assert both.space == spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Discrete(2)})
    assert both.read({"a": True, "b": "y", "c": 3}) == {"a": 1, "b": 1}
    assert both.write({"a": 0, "b": 1}) == {"a": False, "b": "y"}
    one = FieldsCodec({"a": parts["a"]})
    assert one.space == spaces.Discrete(2)
    assert one.read({"a": True}) == 1
    assert one.write(0) == {"a": False}
