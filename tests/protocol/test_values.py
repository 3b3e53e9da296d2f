"""How Python values become JSON."""

import dataclasses
import datetime
import decimal
import enum
import json
import math
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from openenv.protocol.errors import EnvironmentFailed
from openenv.protocol.values import encode


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: float
    y: float


class Plain(BaseModel):
    """A model that is none of ours, with pydantic's own defaults."""

    value: float = 0.0
    note: str | None = None
    inner: list["Plain"] = []


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        ("ü", "ü"),
        (2**70, 2**70),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        ([math.nan, 1.0, None], ["NaN", 1.0, None]),
        (b"\x00\xff", "AP8="),
        ((1, 2), [1, 2]),
        ({3}, [3]),
        ({1: "a", None: "b"}, {"1": "a", "None": "b"}),
        (Colour.RED, "red"),
        (Point(1.0, math.nan), {"x": 1.0, "y": "NaN"}),
        (datetime.datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (decimal.Decimal("0.1"), "0.1"),
        (Path("/a/b"), "/a/b"),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.float64("nan"), "NaN"),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]], dtype=np.uint8), [[1, 2], [3, 4]]),
        (np.array(5), 5),
        (np.array([]), []),
        (np.array([1.0, np.nan]), [1.0, "NaN"]),
        ({"a": [np.float32(1)]}, {"a": [1.0]}),
    ],
    ids=repr,
)
def test_wire_forms(value: object, wire: object) -> None:
    assert json.loads(encode(value), parse_constant=pytest.fail) == wire


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_plain_model_keeps_what_json_has_no_number_for(bad: float) -> None:
    text = {math.inf: "Infinity", -math.inf: "-Infinity"}.get(bad, "NaN")
    plain = Plain(value=bad, inner=[Plain(value=bad)])
    inner: dict[str, Any] = {"value": text, "note": None, "inner": []}
    expected = {"m": {"value": text, "note": None, "inner": [inner]}, "n": None}
    assert json.loads(encode({"m": plain, "n": None})) == expected


class Unpicturable:
    pass


@pytest.mark.parametrize(
    ("value", "path", "type_name"),
    [
        (Unpicturable(), "Unpicturable", "Unpicturable"),
        ({"a": [1, {"b": Unpicturable()}]}, "dict['a'][1]['b']", "Unpicturable"),
        ({"f": lambda: None}, "dict['f']", "function"),
        ({"text": "\udcff"}, "dict['text']", "str"),
        ({"array": np.array([object()])}, "dict['array']", "ndarray"),
        ({"type": np.ndarray}, "dict['type']", "type"),
    ],
    ids=["itself", "deep", "function", "surrogate", "objects", "class"],
)
def test_what_cannot_be_sent_is_named(value: object, path: str, type_name: str) -> None:
    with pytest.raises(EnvironmentFailed) as caught:
        encode(value)
    error = caught.value
    assert (error.details["path"], error.details["value_type"]) == (path, type_name)
    assert error.message.startswith(f"{path} cannot be sent")
    encode(error.to_data())


def test_a_loop_of_values_is_an_error_and_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(EnvironmentFailed):
        encode(loop)


def test_a_value_whose_own_conversion_fails_is_named() -> None:
    class Bad:
        def tolist(self) -> object:
            raise OSError("gone")

    with pytest.raises(EnvironmentFailed, match=r"\['bad'\]"):
        encode({"bad": Bad()})
