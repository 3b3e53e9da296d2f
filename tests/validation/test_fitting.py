"""Values and their schemas: what fits, and what can be made up, beside what pydantic says."""

import socket
import subprocess
import sys
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter

from openenv.rollout.made_up import schema_validator
from openenv.rollout.made_up.fitting import misfits, same
from openenv.rollout.made_up.samples import NoSample, samples

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
        ({"type": []}, "its schema is none"),
        ({"$ref": "https://example.org/x"}, "refers to https://example.org/x"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "no value could be made up"),
        ({"type": "integer", "minimum": float("nan")}, "its schema is none"),
        ({"type": "string", "minLength": 10**12}, "must have 1000000000000 characters"),
        ({"type": "array", "minItems": 10**12}, "has more than 1000000 parts"),
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
    assert "cards.0: 'rank' is a required property, got {'suit': 'x'}" in told
    assert any(fault.startswith("it: 'where' is a required property, got {") for fault in told)
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
    assert not misfits({"enum": [1]}, 1.0)


ENDLESS = "^(a+)+$"
LONG = "a" * 40 + "!"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": ENDLESS}, LONG),
        ({"patternProperties": {ENDLESS: {}}, "additionalProperties": False}, {LONG: 1}),
        ({"patternProperties": {ENDLESS: {}}, "unevaluatedProperties": False}, {LONG: 1}),
        ({"properties": {"x": {"$schema": DIALECT, "pattern": ENDLESS}}}, {"x": LONG}),
        ({"contains": {"$schema": DIALECT, "items": {"pattern": ENDLESS}}}, [[LONG]]),
        ({"$schema": DIALECT, "items": {"$ref": "#"}, "pattern": ENDLESS}, [LONG]),
        ({"$ref": DIALECT}, {"pattern": ENDLESS}),
    ],
)
def test_patterns_are_not_looked_at(schema: Any, value: Any) -> None:
    assert misfits(schema, value) == []


def test_what_would_take_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_validator, "MOST_LOOKS", 10_000)
    doubling: Any = {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(60)}
    schema = {"$defs": {**doubling, "60": {}}, "$ref": "#/$defs/0"}
    assert misfits(schema, 1) == ["it: has more than 10000 parts to be looked at"]


def test_many_faults_of_many_choices_are_not_kept() -> None:
    asking = {"required": [str(number) for number in range(20_000)]}
    schema = {"$defs": {"a": asking}, "anyOf": [{"$ref": "#/$defs/a"}] * 2_000}
    assert misfits(schema, {}) == ["it: fits none of the schemas that it may have, got {}"]
    assert len(misfits(asking, {})) == 20


def test_references_lead_nowhere_but_into_the_schema() -> None:
    assert misfits({"$defs": {"a": {"$anchor": "x", "type": "null"}}, "$ref": "#x"}, None) == []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        for reference in (f"http://127.0.0.1:{port}/x", "file:///etc/hostname", "#x", "#/$defs/x"):
            told = f"it: its schema is none: it refers to {reference}: not there"
            assert misfits({"$ref": reference}, 1) == [told]
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize(
    "schema",
    [None, 5, {"type": "colour"}, {"properties": []}, {"minimum": "a"}, {"multipleOf": 0}],
)
def test_what_is_no_schema_is_a_fault(schema: Any) -> None:
    (told,) = misfits(schema, 3)
    assert told.startswith("it: its schema is none: ")


def test_numbers_that_json_has_no_form_for_are_numbers() -> None:
    schema = {"type": "number", "minimum": 1, "multipleOf": 0.5}
    for lost in ("NaN", "Infinity", "-Infinity"):
        assert misfits(schema, lost) == []
        assert misfits({"type": ["null", "number"]}, lost) == []
        assert misfits({"type": "integer"}, lost) == [
            f"it: must be of type 'integer', got {lost!r}"
        ]
    assert misfits(schema, float("inf")) == ["it: must be a multiple of 0.5, got inf"]


def test_a_fraction_may_be_a_multiple_but_for_rounding() -> None:
    assert misfits({"multipleOf": 0.1}, 0.3) == []
    assert misfits({"multipleOf": 0.1}, 0.35) == ["it: must be a multiple of 0.1, got 0.35"]
    assert misfits({"multipleOf": 3}, 10**400 + 2) == []


@pytest.mark.parametrize(
    "use",
    [
        "import openenv, openenv.testing; openenv.testing.check_environment",
        "from openenv.cli.__main__ import main; sys.argv[1:] = ['--help']; main()",
    ],
)
def test_the_library_is_loaded_where_a_value_is_looked_at(use: str) -> None:
    code = f"import sys, atexit\natexit.register(lambda: print('jsonschema' in sys.modules))\n{use}"
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=15
    )
    assert run.stdout.splitlines()[-1] == "False"
