"""Models in both encodings: they say the same, and what is sent is what is read."""

import dataclasses
import datetime
import decimal
import json
import math
import uuid
import warnings
from collections.abc import Callable
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    TypeAdapter,
    ValidationError,
    computed_field,
    field_serializer,
    field_validator,
    model_serializer,
)
from typing_extensions import TypedDict

from openenv.client.codec import fields_of
from openenv.env.models import Action, Observation, State, pack, pack_state, unpack, validate
from openenv.env.spec import EnvSpec
from openenv.protocol.errors import EnvironmentFailed
from openenv.protocol.msgpack import decode_msgpack, encode_msgpack, is_plain
from openenv.protocol.values import encode, unusual
from tests.env.named import named


class Colour(Enum):
    RED = "red"
    BLUE = 2


class Level(IntEnum):
    LOW = 1


class Deep(BaseModel):
    """Written with pydantic alone."""

    value: float = 0.0
    raw: bytes = b""
    note: str | None = None


class Rich(Deep):
    when: datetime.date = datetime.date(2026, 1, 2)


class Tree(BaseModel):
    value: float = 0.0
    kids: "list[Tree]" = []


class Typed(TypedDict):
    raw: bytes
    score: float


@dataclasses.dataclass
class Point:
    x: float
    tags: set[str]


Halved = Annotated[
    float, PlainSerializer(lambda number: f"{number / 2}", return_type=str, when_used="json")
]


class Table(BaseModel):
    """Everything that the wire has a form for."""

    none: None = None
    flag: bool = True
    small: int = -1
    huge: int = 2**70
    real: float = 0.1
    nan: float = math.nan
    up: float = math.inf
    down: float = -math.inf
    text: str = "ü\u2028\x00€🙂"
    blob: bytes = bytes(range(256))
    numbers: list[float] = [1.5, math.nan]
    names: dict[str, list[int]] = {"a": [1], "": []}
    blobs: list[bytes] = [b"", b"\xff"]
    either: int | bytes | None = b"\xfe"
    word: Literal["a", 1, None] = "a"
    pair: tuple[int, str] = (1, "b")
    numbered: dict[int, float] = {1: math.inf, -2: 0.5}
    colour: Colour = Colour.BLUE
    level: Level = Level.LOW
    when: datetime.datetime = TypeAdapter(datetime.datetime).validate_python(
        "2026-01-02T03:04:05.000006Z"
    )
    naive: datetime.datetime = datetime.datetime(2026, 1, 2)
    day: datetime.date = datetime.date(2026, 1, 2)
    time: datetime.time = datetime.time(1, 2, 3)
    span: datetime.timedelta = datetime.timedelta(days=400, seconds=1.5)
    ident: uuid.UUID = uuid.UUID(int=7)
    price: decimal.Decimal = decimal.Decimal("0.10")
    path: Path = Path("/a/b")
    words: set[str] = {"only"}
    frozen: frozenset[bytes] = frozenset({b"\xff"})
    point: Point = Field(default_factory=lambda: Point(math.nan, {"t"}))
    deep: Deep = Deep(value=math.inf, raw=b"abc")
    rich: list[Rich] = [Rich(value=0.5)]
    tree: Tree = Tree(kids=[Tree(value=1.5), Tree(kids=[Tree()])])
    typed: Typed = {"raw": b"\xff", "score": math.nan}
    secret: SecretStr = SecretStr("")
    anything: Any = None
    plain: dict[str, Any] = {"a": [1, None, {"b": "c"}]}


class TableAction(Table, Action):
    pass


class TableObservation(Table, Observation):
    pass


class TableState(Table, State):
    pass


READERS: dict[bool, Callable[[bytes], Any]] = {
    False: lambda data: json.loads(data, parse_constant=pytest.fail),
    True: decode_msgpack,
}
both = pytest.mark.parametrize("binary", [False, True], ids=["JSON", "MessagePack"])


def same(one: BaseModel, other: BaseModel) -> bool:
    """Whether two models hold the same; for once, one NaN is as good as another."""
    return type(one) is type(other) and repr(one) == repr(other)


@both
def test_all_that_the_table_names_crosses(binary: bool) -> None:
    observation = TableObservation(reward=-math.inf, done=True, metadata={"k": [1]})
    data = READERS[binary](pack(observation, binary))
    assert same(validate(TableObservation, unpack(TableObservation, data)), observation)

    state = TableState(episode_id="e", step_count=3)
    assert same(validate(TableState, READERS[binary](pack_state(state, binary))), state)

    action = TableAction(metadata={"k": 1})
    payload = fields_of(action)
    sent = encode_msgpack(payload) if binary else encode(payload)
    spec = EnvSpec("world", object, TableAction, Observation, State, None)  # type: ignore[arg-type]
    assert same(spec.parse_action(READERS[binary](sent)), action)


def test_what_stays_what_it_is_in_messagepack() -> None:
    sent = decode_msgpack(pack(TableObservation(reward=math.nan), binary=True))
    seen = sent["observation"]
    assert is_plain(sent)
    assert math.isnan(sent["reward"])
    assert (seen["up"], seen["blob"], seen["either"]) == (math.inf, bytes(range(256)), b"\xfe")
    assert (seen["blobs"], seen["deep"]["raw"], seen["typed"]["raw"]) == (
        [b"", b"\xff"],
        b"abc",
        b"\xff",
    )
    assert math.isnan(seen["point"]["x"])
    assert math.isnan(seen["numbers"][1])
    assert (seen["huge"], seen["pair"], seen["numbered"]["1"]) == (str(2**70), [1, "b"], math.inf)


class Single(Observation):
    """One field of some type, in a class of its own."""


def single(kind: Any, value: Any, **config: Any) -> Any:
    made: Any = type(
        "Made",
        (Single,),
        {"__annotations__": {"field": kind}, "__module__": __name__, "model_config": config},
    )
    return made(field=value)


@pytest.mark.parametrize(
    ("kind", "value", "sent"),
    [
        (np.ndarray, np.arange(3), np.arange(3)),
        (Any, np.arange(3), np.arange(3)),
        (list[Any], [np.float32(0.5), {1: b"\xff"}], [0.5, {"1": b"\xff"}]),
        (list, [(1, 2)], [[1, 2]]),
        (dict, {1: {2}}, {"1": [2]}),
        (tuple[bytes, ...], (b"\xff",), [b"\xff"]),
        (Deep, Deep(raw=b"\xff"), {"value": 0.0, "raw": b"\xff", "note": None}),
        (Any, Deep(raw=b"a", note="NaN"), {"value": 0.0, "raw": "a", "note": "NaN"}),
        (Halved, 3.0, "1.5"),
        (list[Halved], [math.nan], ["nan"]),
        (SecretStr, SecretStr("x"), "**********"),
        (bytes | Colour, b"\xff", b"\xff"),
        (set[bytes], {b"\xff"}, ["_w=="]),
    ],
    ids=named,
)
def test_single_fields(kind: Any, value: Any, sent: Any) -> None:
    read = decode_msgpack(pack(single(kind, value), binary=True))["observation"]["field"]
    assert is_plain(read)
    assert repr(read) == repr(sent)


@pytest.mark.parametrize(
    "value", [b"ab", {"a": b"ab"}, datetime.timedelta(hours=1), math.nan, 2**65], ids=repr
)
@pytest.mark.parametrize(
    "config",
    [
        {"ser_json_bytes": "hex", "val_json_bytes": "hex"},
        {"ser_json_bytes": "utf8", "val_json_bytes": "utf8"},
        {"ser_json_timedelta": "float"},
    ],
    ids=str,
)
@both
def test_configurations_of_the_authors_own(value: Any, config: Any, binary: bool) -> None:
    kind = dict[str, bytes] if isinstance(value, dict) else type(value)
    made = single(kind, value, **config)
    data = READERS[binary](pack(made, binary))
    assert same(validate(type(made), unpack(type(made), data)), made)
    payload = fields_of(made)
    sent = encode_msgpack(payload) if binary else encode(payload)
    assert same(validate(type(made), READERS[binary](sent)), made)


class Writing(Observation):
    """Says itself how it is written."""

    model_config = ConfigDict(serialize_by_alias=True)

    number: int = 1
    image: bytes = b"\xff"
    hidden: int = Field(default=2, exclude=True)
    named: float = Field(default=math.nan, serialization_alias="name", validation_alias="name")
    doubled: int = 3

    @field_serializer("doubled", when_used="json")
    def double(self, number: int) -> int:
        return number * 2

    @computed_field  # type: ignore[prop-decorator]
    @property
    def computed(self) -> list[bytes]:
        return [b"\xfe"]


def test_a_model_that_says_how_its_fields_are_written() -> None:
    sent = decode_msgpack(pack(Writing(), binary=True))["observation"]
    assert repr(sent) == repr(
        {
            "metadata": {},
            "number": 1,
            "image": b"\xff",
            "name": math.nan,
            "doubled": 6,
            "computed": [b"\xfe"],
        }
    )
    assert json.loads(pack(Writing()))["observation"]["doubled"] == 6


class Whole(Observation):
    number: float = math.nan

    @model_serializer
    def write(self) -> dict[str, Any]:
        return {"all": [self.number, b"\xff", {1}]}


def test_a_model_that_says_how_it_is_written() -> None:
    sent = decode_msgpack(pack(Whole(), binary=True))["observation"]
    assert repr(sent) == repr({"all": [math.nan, b"\xff", [1]]})


def test_what_was_added_to_a_state() -> None:
    extra: dict[str, Any] = {
        "inner": Deep(value=math.nan, raw=b"a"),
        "when": datetime.date(2026, 1, 2),
    }
    extra["raw"] = b"\xff"
    sent = decode_msgpack(pack_state(State(**extra), binary=True))
    assert repr(sent) == repr(
        {
            "episode_id": None,
            "step_count": 0,
            "inner": {"value": math.nan, "raw": "a", "note": None},
            "when": "2026-01-02",
            "raw": b"\xff",
        }
    )


@both
def test_a_model_that_was_made_without_all_of_its_fields(binary: bool) -> None:
    made = Tree.model_construct(kids=[])
    del made.__dict__["value"]
    assert READERS[binary](pack_state(made, binary)) == {"kids": []}


@both
def test_values_that_do_not_fit_their_fields(binary: bool) -> None:
    made = single(list[int], [1])
    made.field.extend([np.int64(2), True, "text", np.float32(0.5)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pydantic's own, in JSON
        read = READERS[binary](pack(made, binary))["observation"]["field"]
    assert read == [1, 2, True, "text", 0.5]


@both
def test_observations_of_every_shape(binary: bool) -> None:
    read = READERS[binary]
    assert read(pack(Observation(), binary)) == {
        "observation": {"metadata": {}},
        "reward": None,
        "done": False,
    }
    cut = Observation(truncated=True, reward=1, metadata={"why": "x"})
    assert read(pack(cut, binary)) == {
        "observation": {"metadata": {"why": "x"}},
        "reward": 1,
        "done": True,
        "truncated": True,
        "metadata": {"why": "x"},
    }


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (single(Any, object()), "Made.field"),
        (single(Any, {"a": [1, object()]}), "Made.field['a'][1]"),
        (single(str, "\udcff"), "Made.field"),
        (single(Deep, Deep(note="\udcff")), "Made.field.note"),
        (Observation(metadata={"k": object()}), "Observation.metadata['k']"),
    ],
    ids=["field", "deep", "surrogate", "nested", "metadata"],
)
def test_what_cannot_be_sent_is_named(made: Observation, path: str) -> None:
    with pytest.raises(EnvironmentFailed) as caught:
        pack(made, binary=True)
    assert caught.value.details["path"] == path
    with pytest.raises(EnvironmentFailed) as caught:
        pack_state(made, binary=True)
    assert caught.value.details["path"] == path


class Old(Action):
    raw: bytes = b""
    many: list[bytes] = []
    by: dict[bytes, int] = {}
    maybe: bytes | None = None
    deep: Deep | None = None
    inner: "Old | None" = None
    text: str = ""
    anything: Any = None


@pytest.mark.parametrize("raw", ["_-8=", "/+8", b"\xff\xef"], ids=["url-safe", "standard", "bytes"])
def test_bytes_are_read_as_base64_and_as_they_are(raw: Any) -> None:
    data = {"raw": raw, "many": [raw], "by": {raw: 1}, "maybe": raw, "text": "AP8="}
    read = validate(Old, {**data, "inner": dict(data), "anything": raw})
    assert (read.raw, read.many, read.by, read.maybe) == (
        b"\xff\xef",
        [b"\xff\xef"],
        {b"\xff\xef": 1},
        b"\xff\xef",
    )
    assert read.inner is not None
    assert (read.inner.raw, read.text) == (b"\xff\xef", "AP8=")
    assert read.anything == raw


def test_bytes_of_a_model_that_has_no_base64_are_read_as_it_writes_them() -> None:
    assert validate(Old, {"deep": {"raw": "AP8="}}).deep == Deep(raw=b"AP8=")
    assert validate(Old, {"deep": {"raw": b"\xff"}}).deep == Deep(raw=b"\xff")


def test_text_that_is_no_base64_is_refused_and_named() -> None:
    with pytest.raises(ValidationError) as caught:
        validate(Old, {"many": [b"\xff", "!"]})
    (fault,) = caught.value.errors()
    assert (fault["type"], fault["loc"]) == ("bytes_invalid_encoding", ("many", 1))


class Lists(Action):
    raw: bytes = b""

    @field_validator("raw", mode="before")
    @classmethod
    def read(cls, value: Any) -> Any:
        return bytes(value) if isinstance(value, list) else value


@pytest.mark.parametrize("raw", [[255, 0], "_wA=", b"\xff\x00"])
def test_a_validator_of_the_authors_own_sees_what_was_sent(raw: Any) -> None:
    assert validate(Lists, {"raw": raw}).raw == b"\xff\x00"


class Strict(Action):
    model_config = ConfigDict(strict=True)

    colour: Colour = Colour.RED
    pair: tuple[int, float] = (1, 0.5)
    when: datetime.datetime = datetime.datetime(2026, 1, 2)
    raw: bytes = b"\xff"
    anything: Any = None


@both
def test_strict_models(binary: bool) -> None:
    payload = fields_of(Strict())
    sent = READERS[binary](encode_msgpack(payload) if binary else encode(payload))
    assert validate(Strict, sent) == Strict()
    with pytest.raises(ValidationError):
        validate(Strict, sent | {"pair": ["1", 2.0]})


def test_strict_floats_take_no_text_but_infinity_itself() -> None:
    assert validate(Strict, {"pair": [1, math.inf]}).pair == (1, math.inf)
    with pytest.raises(ValidationError):
        validate(Strict, {"pair": [1, "Infinity"]})


class StrictSeen(Observation):
    model_config = ConfigDict(strict=True)

    colour: Colour = Colour.RED
    deep: Deep = Deep(raw=b"abc")
    raw: bytes = b"\xff"


@both
def test_strict_models_with_bytes_of_every_sort(binary: bool) -> None:
    seen = StrictSeen(reward=1.0)
    data = READERS[binary](pack(seen, binary))
    assert validate(StrictSeen, unpack(StrictSeen, data)) == seen


class ByText(BaseModel):
    kind: Literal["text"]
    value: str


class ByBytes(BaseModel):
    model_config = ConfigDict(val_json_bytes="base64", ser_json_bytes="base64")

    kind: Literal["bytes"]
    value: bytes


def test_unions_of_models() -> None:
    spec = EnvSpec(
        "world",
        object,  # type: ignore[arg-type]
        Annotated[ByText | ByBytes, Field(discriminator="kind")],
        Observation,
        State,
        None,  # type: ignore[arg-type]
    )
    for value in ("_w==", b"\xff"):
        assert spec.parse_action({"kind": "bytes", "value": value}).value == b"\xff"
    assert spec.parse_action({"kind": "text", "value": "_w=="}).value == "_w=="


@pytest.mark.parametrize(
    "model",
    [
        TableAction(huge=3, metadata={"a": Deep(raw=b"abc"), "b": (1, {2})}),
        single(Any, [np.arange(3), (1.5, {1: Colour.RED})]),
        single(bytes, b"ab", ser_json_bytes="hex"),
        single(Halved, 3.0),
        Writing(),
        Whole(),
        Strict(),
        Deep(value=math.nan, raw="ü".encode()),
        Rich(),
        Tree(kids=[Tree()]),
        Old(raw=b"\xff", inner=Old(many=[b"\xfe"])),
        State(a=1, b=b"\xff"),  # type: ignore[call-arg]  # any field is welcome
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("exclude", [frozenset(), frozenset({"metadata"})], ids=["all", "some"])
def test_a_clients_json_is_as_the_models_own(model: BaseModel, exclude: frozenset[str]) -> None:
    """Byte for byte what v1 clients have always sent."""
    dumped = model.model_dump(mode="json", exclude=set(exclude), fallback=unusual)
    assert encode(fields_of(model, exclude)) == encode(dumped)
