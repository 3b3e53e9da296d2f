"""Schemas as Inspect has words for them."""

from enum import Enum
from typing import Any, Literal

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed (the extra inspect)")

from pydantic import BaseModel, Field

from openenv.evals.inspect_schema import tool_params


class Side(str, Enum):
    LEFT = "left"
    RIGHT = "right"


class Point(BaseModel):
    x: int = 0
    kind: Literal["point"] = "point"


class Tree(BaseModel):
    leaves: list["Tree"] = Field(default_factory=list)


class Move(BaseModel):
    side: Side
    where: Point = Field(description="to where")
    path: list[Point] = Field(default_factory=list)
    other: Point | None = None
    speed: float = Field(1.0, ge=0, le=2)


def plain(schema: Any) -> dict[str, Any]:
    properties: dict[str, Any] = tool_params(schema).model_dump(exclude_none=True)["properties"]
    return properties


def test_references_and_constants_are_written_out() -> None:
    fields = plain(Move.model_json_schema())
    assert fields["side"]["enum"] == ["left", "right"]
    assert fields["where"]["description"] == "to where"
    point = fields["where"]["properties"]
    assert point["kind"]["enum"] == ["point"]
    assert point["x"]["type"] == "integer"
    assert fields["path"]["items"]["properties"] == point
    assert fields["other"]["anyOf"][0]["properties"] == point
    assert (fields["speed"]["minimum"], fields["speed"]["maximum"]) == (0, 2)


def test_what_is_required() -> None:
    params = tool_params(Move.model_json_schema())
    assert params.required == ["side", "where"]
    assert params.additionalProperties is False


def test_a_type_that_contains_itself_is_left_open_in_its_depth() -> None:
    text = str(plain(Tree.model_json_schema()))
    assert 2 < text.count("leaves") < 20


def test_unions_and_intersections() -> None:
    a, b = {"type": "integer"}, {"type": "string"}
    fields = plain(
        {
            "properties": {
                "one": {"oneOf": [a, b]},
                "all": {"allOf": [{"$ref": "#/$defs/A"}, {"description": "both"}]},
                "oneOf": {"enum": [{"const": 1}]},
                "lost": {"$ref": "#/$defs/Nowhere"},
                "any": True,
                "pair": {"type": "array", "prefixItems": [a, b], "items": False},
            },
            "$defs": {"A": a},
        }
    )
    assert [each["type"] for each in fields["one"]["anyOf"]] == ["integer", "string"]
    assert (fields["all"]["type"], fields["all"]["description"]) == ("integer", "both")
    assert fields["oneOf"]["enum"] == [{"const": 1}]
    assert fields["lost"] == {"description": "lost"}
    assert fields["any"] == {"description": "any"}
    assert fields["pair"]["type"] == "array"


@pytest.mark.parametrize("schema", [{}, {"properties": {}}, {"type": "object", "properties": {}}])
def test_no_arguments(schema: dict[str, Any]) -> None:
    assert plain(schema) == {}
