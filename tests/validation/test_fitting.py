"""Values and their schemas: what fits, and what can be made up, beside what pydantic says."""

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter

from openenv.testing.fitting import misfits, same
from openenv.testing.samples import NoSample, samples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, -1.5, "", "a", "NaN"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)
LEAVES = st.sampled_from(
    [
        {"type": "integer", "minimum": 0},
        {"type": "integer", "exclusiveMaximum": 2, "multipleOf": 2},
        {"type": "number", "maximum": 1},
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "string", "minLength": 1, "maxLength": 2},
        {"type": "boolean"},
        {"type": "null"},
        {"type": ["string", "integer"]},
        {"enum": ["a", 1, None, [1]]},
        {"const": True},
        {"not": {"type": "string"}},
        {},
    ]
)


def _larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    few = st.lists(inner, min_size=1, max_size=3)
    fields = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    return st.one_of(
        few.map(lambda parts: {"anyOf": parts}),
        few.map(lambda parts: {"oneOf": parts}),
        few.map(lambda parts: {"allOf": parts}),
        inner.map(lambda part: {"type": "array", "items": part, "uniqueItems": True}),
        few.map(lambda parts: {"type": "array", "prefixItems": parts, "items": False}),
        st.builds(
            lambda part: {"type": "array", "items": part, "minItems": 1, "maxItems": 2}, inner
        ),
        st.builds(
            lambda known, rest: {
                "type": "object",
                "properties": known,
                "required": sorted(known)[:1],
                "additionalProperties": rest,
            },
            fields,
            inner | st.booleans(),
        ),
        st.just({"type": "object", "minProperties": 1, "maxProperties": 2}),
    )


SCHEMAS = st.recursive(LEAVES, _larger, max_leaves=6)


@settings(max_examples=400, deadline=None)
@given(SCHEMAS, JSON)
def test_what_fits_is_what_the_reference_says_fits(schema: Any, value: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    if "NaN" in repr(value):
        return  # a number that JSON has no form for; to the reference it is a text alone
    expected = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (misfits(schema, value) == []) is expected


@settings(max_examples=300, deadline=None)
@given(SCHEMAS)
def test_what_is_made_up_fits(schema: Any) -> None:
    try:
        made = samples(schema, 4)
    except NoSample:
        return
    assert len(made) == 4
    assert all(misfits(schema, value) == [] for value in made)
    assert made == samples(schema, 4)


class Card(BaseModel):
    suit: Literal["hearts", "spades"]
    rank: int = Field(ge=1, le=13)


class Draw(BaseModel):
    kind: Literal["draw"] = "draw"
    count: int = Field(gt=0, lt=4)


class Play(BaseModel):
    kind: Literal["play"]
    cards: list[Card] = Field(min_length=1)
    where: tuple[int, str]
    how: dict[str, float] = {}
    loud: bool = False
    at: Annotated[float, Field(ge=-1, le=1)]
    said: str = Field(min_length=3, max_length=5)
    maybe: Card | None


class Tree(BaseModel):
    leaves: list["Tree"] = []


class Endless(BaseModel):
    inner: "Endless"


@pytest.mark.parametrize("model", [Card, Draw, Play, Draw | Play, Tree, list[Card], Any])
def test_samples_are_valid_to_pydantic(model: Any) -> None:
    adapter = TypeAdapter(model)
    made = samples(adapter.json_schema(), 12)
    for value in made:
        adapter.validate_json(adapter.dump_json(adapter.validate_python(value, strict=False)))
    assert made == samples(adapter.json_schema(), 12)


def test_samples_differ() -> None:
    made = samples(TypeAdapter(Play).json_schema(), 12)
    assert len({repr(value) for value in made}) > 6
    assert {card["suit"] for value in made for card in value["cards"]} == {"hearts", "spades"}
    assert {"loud" in value for value in made} == {True, False}
    assert all("how" not in value for value in made)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "string", "pattern": "^x$"}, "must match the pattern"),
        (Endless.model_json_schema(), "refers to itself without an end"),
        ({"type": "colour"}, "is of type 'colour'"),
        ({"$ref": "https://example.org/x"}, "refers to https://example.org/x"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "no value could be made up"),
    ],
)
def test_what_cannot_be_made_up_says_why(schema: Any, why: str) -> None:
    with pytest.raises(NoSample, match=why):
        samples(schema, 3)


def test_examples_are_preferred() -> None:
    schema = {"type": "string", "pattern": "^[a-h][1-8]$", "examples": ["e4", "d4"]}
    assert samples(schema, 3) == ["e4", "d4", "e4"]


def test_faults_name_their_place() -> None:
    told = misfits(
        Play.model_json_schema(), {"kind": "play", "cards": [{"suit": "x"}], "at": "NaN"}
    )
    assert "cards.0.suit: must be one of ['hearts', 'spades'], got 'x'" in told
    assert "cards.0: has no 'rank'" in told
    assert "it: has no 'where'" in told
    assert not any(fault.startswith("at:") for fault in told)


def test_what_is_nested_without_an_end_is_not_followed() -> None:
    value: Any = {}
    for _ in range(200):
        value = {"leaves": [value]}
    assert any("too deeply" in fault for fault in misfits(Tree.model_json_schema(), value))
    loop = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
    assert misfits(loop, 1) == ["it: is nested too deeply to be looked at"]


def test_a_truth_is_no_number() -> None:
    assert not same(True, 1)
    assert same(1, 1.0)
    assert same([float("nan")], [float("nan")])
    assert misfits({"type": "integer"}, True)
    assert misfits({"enum": [1]}, True)
