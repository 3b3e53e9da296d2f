"""Action, Observation and State, as existing packages rely on them."""

import dataclasses
import json
import math
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from openenv.env.models import (
    Action,
    Observation,
    State,
    is_done,
    pack,
    pack_state,
    unpack,
    validate,
)
from openenv.env.serialization import deserialize_action, serialize_observation
from openenv.protocol.errors import EnvironmentFailed


class Move(Action):
    to: int = Field(ge=0)


class Seen(Observation):
    text: str = ""
    grid: list[list[int]] = []


def kinds(error: ValidationError) -> list[str]:
    return [fault["type"] for fault in error.errors()]


@pytest.mark.parametrize("model", [Action, Observation, Move, Seen])
def test_unknown_fields_are_refused(model: type[BaseModel]) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate({"foo": 1, "to": 1})
    assert "extra_forbidden" in kinds(caught.value)


def test_assignment_is_validated() -> None:
    observation = Observation()
    with pytest.raises(ValidationError):
        observation.done = "perhaps"  # type: ignore[assignment]  # the mistake under test
    state = State()
    with pytest.raises(ValidationError):
        state.step_count = -1


def test_a_state_keeps_what_it_is_given() -> None:
    assert State(foo=1).model_dump() == {  # type: ignore[call-arg]  # any field is welcome
        "episode_id": None,
        "step_count": 0,
        "foo": 1,
    }


@pytest.mark.parametrize(
    ("model", "fields"),
    [(Observation, {"reward": "x"}), (State, {"step_count": -1}), (Move, {"to": -1}), (Move, {})],
)
def test_bad_values_are_refused(model: type[BaseModel], fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model(**fields)


def test_defaults() -> None:
    assert Action().model_dump() == {"metadata": {}}
    assert Observation().model_dump() == {
        "done": False,
        "reward": None,
        "truncated": False,
        "metadata": {},
    }
    assert State().model_dump() == {"episode_id": None, "step_count": 0}
    assert Action().metadata is not Action().metadata


@pytest.mark.parametrize("reward", [True, 1, 1.5, None])
def test_a_reward_stays_what_it_is(reward: bool | float | None) -> None:
    kept = Observation(reward=reward).reward
    assert (kept, type(kept)) == (reward, type(reward))


def test_fields_of_any_type_are_welcome() -> None:
    class Pixels(Observation):
        image: np.ndarray[Any, Any]

    assert Pixels(image=np.zeros((2, 2))).image.shape == (2, 2)


class Numbers(Observation):
    i: int = 0
    f: float = 0.0
    b: bool = False
    many: list[float] = []


@pytest.mark.parametrize(
    ("field", "given", "kept"),
    [
        ("reward", np.float32(0.5), 0.5),
        ("reward", np.int64(2), 2),
        ("reward", np.array(0.5), 0.5),
        ("done", np.bool_(True), True),
        ("truncated", np.bool_(True), True),
        ("i", np.int64(3), 3),
        ("f", np.float32(0.5), 0.5),
        ("b", np.bool_(True), True),
        ("many", np.zeros(2), [0.0, 0.0]),
        ("many", [np.float32(1)], [1.0]),
    ],
)
def test_numbers_of_numpy_are_numbers(field: str, given: Any, kept: object) -> None:
    made = Numbers(**{field: given})
    assert getattr(made, field) == kept
    assert not isinstance(getattr(made, field), np.generic | np.ndarray)
    json.loads(pack(made))


def wire(observation: Observation) -> Any:
    return json.loads(pack(observation), parse_constant=pytest.fail)


def test_the_wire_form_of_an_observation() -> None:
    seen = Seen(text="ü", grid=[[1]], reward=0.5, done=True, metadata={"why": "x"})
    assert wire(seen) == {
        "observation": {"text": "ü", "grid": [[1]], "metadata": {"why": "x"}},
        "reward": 0.5,
        "done": True,
        "metadata": {"why": "x"},
    }


def test_empty_metadata_is_not_repeated() -> None:
    assert wire(Seen()) == {
        "observation": {"text": "", "grid": [], "metadata": {}},
        "reward": None,
        "done": False,
    }


def test_truncated_ends_an_episode_and_stands_beside_the_observation() -> None:
    cut = Seen(truncated=True)
    assert is_done(cut)
    assert (wire(cut)["done"], wire(cut)["truncated"]) == (True, True)
    assert "truncated" not in wire(cut)["observation"]
    assert "truncated" not in wire(Seen(done=True))


class Cut(Observation):
    """Has a field of its own with that name, as environments of the peer may."""

    truncated: bool = False


class Shortened(Cut):
    text: str = ""


class Trimmed(Observation):
    truncated: str = ""  # type: ignore[assignment]  # not our meaning at all


@pytest.mark.parametrize("made", [Cut(truncated=True), Shortened(truncated=True), Cut()])
def test_an_authors_own_truncated_stays_in_the_observation(made: Cut) -> None:
    assert wire(made)["observation"]["truncated"] is made.truncated


def test_an_authors_own_truncated_of_another_meaning_ends_nothing() -> None:
    trimmed = Trimmed(truncated="the text was trimmed")
    assert not is_done(trimmed)
    assert wire(trimmed)["observation"]["truncated"] == "the text was trimmed"
    assert "truncated" not in {k for k in wire(trimmed) if k != "observation"}


@pytest.mark.parametrize(
    "observation",
    [
        Seen(text="a", grid=[[1, 2]], reward=1.0, done=True, metadata={"k": [1]}),
        Seen(truncated=True),
        Seen(reward=None),
        Cut(truncated=True, reward=0.0),
    ],
    ids=["all", "truncated", "nothing", "own field"],
)
def test_there_and_back(observation: Observation) -> None:
    back = type(observation).model_validate(unpack(type(observation), wire(observation)))
    assert back.model_copy(update={"done": observation.done}) == observation
    assert back.done is is_done(observation)


@pytest.mark.parametrize(
    "data",
    [
        {"observation": {"text": "a", "metadata": {"k": 1}}, "reward": 1.0, "done": False},
        {"observation": {"text": "a"}, "reward": 1.0, "done": False, "metadata": {"k": 1}},
    ],
    ids=["nested", "beside"],
)
def test_metadata_is_read_wherever_a_server_puts_it(data: dict[str, Any]) -> None:
    assert Seen.model_validate(unpack(Seen, data)).metadata == {"k": 1}


def test_a_reply_with_nothing_in_it_is_read() -> None:
    assert Seen.model_validate(unpack(Seen, {})) == Seen()


class Colour(str, Enum):
    RED = "red"


class Inner(BaseModel):
    """Written with pydantic alone."""

    value: float
    note: str | None = None


class Rich(Observation):
    inner: Inner | None = None
    inners: dict[str, list[Inner]] = {}
    any: Any = None
    number: float = 0.0
    raw: bytes = b""
    colour: Colour = Colour.RED
    array: Any = None
    path: Path = Path("/")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_no_number_becomes_null_wherever_it_stands(bad: float) -> None:
    text = {math.inf: "Infinity", -math.inf: "-Infinity"}.get(bad, "NaN")
    rich = Rich(
        inner=Inner(value=bad),
        inners={"a": [Inner(value=bad)]},
        any={"m": Inner(value=bad), "f": bad},
        number=bad,
        array=np.array([bad, 1.0]),
        metadata={"m": Inner(value=bad), "f": bad},
        reward=bad,
    )
    inner = {"value": text, "note": None}
    sent = wire(rich)
    nested = sent["observation"]
    assert (nested["inner"], nested["inners"], nested["number"]) == (inner, {"a": [inner]}, text)
    assert (nested["any"], nested["array"]) == ({"m": inner, "f": text}, [text, 1.0])
    assert nested["metadata"] == sent["metadata"] == {"m": inner, "f": text}
    assert sent["reward"] == text
    assert (nested["colour"], nested["path"], nested["raw"]) == ("red", "/", "")
    back = validate(Rich, unpack(Rich, sent))
    assert back.inner is not None
    assert repr((back.number, back.inner.value, back.reward)) == repr((bad, bad, bad))


@dataclasses.dataclass
class Point:
    x: float


class OneAny(Observation):
    value: Any = None


class OneModel(Observation):
    value: Inner


class OneList(Observation):
    value: list[Inner] | None


class OneDataclass(Observation):
    value: Point


class OneOfOurs(Observation):
    value: OneModel


class OnlyMetadata(Observation):
    pass


@pytest.mark.parametrize(
    "observation",
    [
        OneAny(value=Inner(value=math.nan)),
        OneAny(value=[{"deep": Inner(value=math.nan)}]),
        OneModel(value=Inner(value=math.nan)),
        OneList(value=[Inner(value=math.nan)]),
        OneDataclass(value=Point(math.nan)),
        OneOfOurs(value=OneModel(value=Inner(value=math.nan))),
        OnlyMetadata(metadata={"m": Inner(value=math.nan)}),
    ],
    ids=lambda o: type(o).__name__,
)
def test_each_way_to_hold_a_model_keeps_its_numbers(observation: Observation) -> None:
    assert b'"NaN"' in pack(observation)


def test_a_state_keeps_the_numbers_of_what_was_added() -> None:
    state = State(inner=Inner(value=math.nan))  # type: ignore[call-arg]  # any field is welcome
    assert b'"NaN"' in pack_state(state)


def test_bytes_are_base64_both_ways() -> None:
    sent = wire(Rich(raw=b"\x00\xff"))
    assert sent["observation"]["raw"] == "AP8="
    assert validate(Rich, unpack(Rich, sent)).raw == b"\x00\xff"


class Counted(State):
    model_config = ConfigDict(frozen=True)
    level: float = 1.0
    inner: Inner | None = None


def test_the_wire_form_of_a_state() -> None:
    state = Counted(episode_id="e", level=math.nan, inner=Inner(value=math.inf))
    assert json.loads(pack_state(state)) == {
        "episode_id": "e",
        "step_count": 0,
        "level": "NaN",
        "inner": {"value": "Infinity", "note": None},
    }


@pytest.mark.parametrize(
    ("observation", "path"),
    [
        (Rich(any=object()), "Rich.any"),
        (Rich(any={"a": [1, object()]}), "Rich.any['a'][1]"),
        (Rich(metadata={"k": object()}), "Rich.metadata['k']"),
        (Seen(text="\udcff"), "Seen.text"),
    ],
    ids=["field", "deep", "metadata", "surrogate"],
)
def test_what_cannot_be_sent_is_named(observation: Observation, path: str) -> None:
    with pytest.raises(EnvironmentFailed) as caught:
        pack(observation)
    assert caught.value.details["path"] == path


def test_serialization_for_use_without_a_server() -> None:
    assert deserialize_action({"to": 3}, Move) == Move(to=3)
    with pytest.raises(ValidationError):
        deserialize_action({"to": "far"}, Move)
    observation = Seen(text="a", reward=1.0, metadata={"k": 1})
    assert serialize_observation(observation) == wire(observation)


def test_what_json_writes_is_read_back_by_strict_and_bytes_fields() -> None:
    class Strict(Action):
        model_config = ConfigDict(strict=True)
        raw: bytes
        colour: Colour
        pair: tuple[int, int]

    action = Strict(raw=b"\xff", colour=Colour.RED, pair=(1, 2))
    assert validate(Strict, json.loads(action.model_dump_json())) == action
    with pytest.raises(ValidationError):
        validate(Strict, {"raw": "AA==", "colour": "red", "pair": ["1", 2]})


def test_a_truncated_field_of_the_authors_own_ends_no_episode() -> None:
    class Page(Observation):
        truncated: bool = False

    page = Page(truncated=True)
    assert not is_done(page)
    wire = json.loads(pack(page))
    assert (wire["done"], wire["observation"]["truncated"]) == (False, True)
    assert "truncated" not in wire
