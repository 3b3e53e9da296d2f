"""`NDArray`: arrays as fields of models."""

# ruff: noqa: F821  # the names of dtypes are no names of anything

import copy
import json
import math
import pickle
import subprocess
import sys
import textwrap
import tracemalloc
from pathlib import Path
from typing import Annotated, Any, Optional

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from openenv.client.codec import fields_of
from openenv.env.models import Action, Observation, State, pack, pack_state, unpack, validate
from openenv.env.ndarray import NDArray
from openenv.env.spec import EnvSpec
from openenv.protocol.errors import ConfigurationError
from openenv.protocol.msgpack import decode_msgpack, encode_msgpack
from openenv.protocol.values import encode
from openenv.server.info import json_schema
from tests.env.named import named

Array = npt.NDArray[Any]


def adapter(dtype: Any, *shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(NDArray.__class_getitem__((dtype, *shape)))


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 3), np.float32),
        np.zeros((2, 6), np.float32)[:, ::2],
        np.zeros((0, 3), np.float32),
    ],
    ids=["plain", "strided", "empty"],
)
def test_an_array_that_fits_is_taken_as_it_is(array: Array) -> None:
    assert adapter("float32", (None, 3)).validate_python(array) is array


@pytest.mark.parametrize(
    ("dtype", "given", "kept"),
    [
        ("uint8", [[0, 255]], [[0, 255]]),
        ("uint8", [1.0, 2.0], [1, 2]),
        ("int64", [2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
        ("uint64", [2**64 - 1], [2**64 - 1]),
        ("uint8", (1, (2)), [1, 2]),
        ("bool", [True, False], [True, False]),
        ("float32", [1, 2.5], [1.0, 2.5]),
        ("float32", [0.1], [float(np.float32(0.1))]),
        ("float32", [2**60], [2.0**60]),
        ("float64", [2**53, -(2**53)], [2.0**53, -(2.0**53)]),
        ("float16", ["NaN", "Infinity", ["-Infinity"][0], 1], [np.nan, np.inf, -np.inf, 1.0]),
        ("complex64", [1, 2.5, 1j, "1+2j"], [1, 2.5, 1j, 1 + 2j]),
        ("float64", 3, 3.0),
        ("float64", np.float32(0.5), 0.5),
        ("uint8", np.array([1, 2], ">i4"), [1, 2]),
        ("float32", np.array([1, 2], ">f4"), [1.0, 2.0]),
        ("float64", np.array([1, 2], np.float16), [1.0, 2.0]),
        ("int32", [[np.int64(3)], np.array([4])], [[3], [4]]),
        ("float32", [[np.float32(0.5), 2], (np.float16(1), 1)], [[0.5, 2], [1, 1]]),
        ("bool", [np.bool_(True), np.True_], [True, True]),
        ("int8", [], []),
    ],
    ids=repr,
)
def test_what_loses_nothing_is_converted(dtype: str, given: Any, kept: Any) -> None:
    array = adapter(dtype).validate_python(given)
    assert array.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(array, np.array(kept, dtype), strict=True)


@pytest.mark.parametrize(
    ("dtype", "given", "kind"),
    [
        ("uint8", [256], "array_dtype"),
        ("uint8", [-1], "array_dtype"),
        ("uint8", [1.5], "array_dtype"),
        ("uint8", [np.inf], "array_dtype"),
        ("uint8", [float("nan")], "array_dtype"),
        ("uint8", [True], "array_dtype"),
        ("uint8", [1j], "array_dtype"),
        ("int64", [2**63], "array_dtype"),
        ("int64", [2**53, 1.0], "array_dtype"),
        ("int64", [2**53 + 1, 1.0], "array_type"),
        ("float64", [2**53 + 1, 0.5], "array_type"),
        ("uint64", [2**64 - 1, -1], "array_type"),
        ("uint64", [2**64], "array_type"),
        ("int64", [-(2**63) - 1], "array_type"),
        ("uint8", [True, 2], "array_type"),
        ("bool", [np.True_, 1], "array_type"),
        ("bool", [1, 0], "array_dtype"),
        ("float32", [True], "array_dtype"),
        ("float32", [1j], "array_dtype"),
        ("float32", [1e39], "array_dtype"),
        ("float16", [70000], "array_dtype"),
        ("float32", [2**24 + 1], "array_dtype"),
        ("complex64", [1e39], "array_dtype"),
        ("float32", [None, 1.0], "array_type"),
        ("float32", [np.array([b"1"])], "array_type"),
        ("float32", np.array([object()]), "array_dtype"),
        ("float32", np.array([b"1"]), "array_dtype"),
        ("int64", np.array(["2020-01-01"], "M8[D]"), "array_dtype"),
        ("int64", np.ma.array([1, 2], mask=[True, False]), "array_dtype"),
        ("float32", ["1.5"], "array_type"),
        ("uint8", ["NaN"], "array_type"),
        ("complex64", ["one"], "array_type"),
        ("float32", [1, [2]], "array_type"),
        ("float32", "abc", "array_type"),
        ("float32", b"abcd", "array_type"),
        ("float32", None, "array_type"),
        ("float32", {"a": 1}, "array_type"),
        ("float32", {1.0}, "array_type"),
    ],
    ids=named,
)
def test_what_would_lose_something_is_refused(dtype: str, given: Any, kind: str) -> None:
    with pytest.raises(ValidationError) as caught:
        adapter(dtype).validate_python(given)
    (fault,) = caught.value.errors()
    assert fault["type"] == kind
    assert np.dtype(dtype).name in fault["msg"] or "numpy array" in fault["msg"]


@pytest.mark.parametrize(
    ("shape", "given", "made"),
    [
        ((2, 3), np.zeros((2, 3)), (2, 3)),
        ((None, 3), np.zeros((5, 3)), (5, 3)),
        ((), 1.5, ()),
        ((None, 4), [], (0, 4)),
        ((2, None, 4), [[], []], (2, 0, 4)),
        ((None,), [], (0,)),
        (None, [[[1.0]]], (1, 1, 1)),
        ((2, 3), np.zeros((3, 2)), "expected an array of shape (2, 3), got (3, 2)"),
        ((2, 3), np.zeros(6), "expected an array of shape (2, 3), got (6)"),
        ((2, 3), [], "expected an array of shape (2, 3), got (0, 3)"),
        ((None, 3), np.zeros((3, 2)), "expected an array of shape (any, 3), got (3, 2)"),
        ((None, 3), np.zeros((1, 3, 1)), "expected an array of shape (any, 3), got (1, 3, 1)"),
        ((), [1.5], "expected an array of shape (), got (1)"),
    ],
    ids=repr,
)
def test_shapes(shape: Any, given: Any, made: Any) -> None:
    field = adapter("float64", shape)
    if not isinstance(made, str):
        assert field.validate_python(given).shape == made
        return
    with pytest.raises(ValidationError) as caught:
        field.validate_python(given)
    assert [(fault["type"], fault["msg"]) for fault in caught.value.errors()] == [
        ("array_shape", made)
    ]


@pytest.mark.parametrize("dtype", ["uint8", np.uint8, np.dtype("u1"), "|u1"])
def test_ways_to_say_a_dtype(dtype: Any) -> None:
    assert NDArray(dtype, [2, None]) == NDArray("uint8", (2, None))


@pytest.mark.parametrize(
    "parameters",
    ["nonsense", "object", "U3", "longdouble", "i4,f4", "M8[s]", ("uint8", "abc"), ("uint8", (-1,))]
    + [("uint8", (1.5,)), ("uint8", 3), ("uint8", (1,), 2), ()],
    ids=repr,
)
def test_impossible_arrays_are_refused_where_they_are_written(parameters: Any) -> None:
    with pytest.raises(ConfigurationError, match="NDArray"):
        NDArray.__class_getitem__(parameters)


class Inner(BaseModel):
    """Written with pydantic alone."""

    weights: NDArray["float32", (None,)]
    raw: bytes = b""


class Everywhere(BaseModel):
    frame: NDArray["uint8", (2, 3)] = np.arange(6, dtype=np.uint8).reshape(2, 3)
    maybe: NDArray["float64", (None, 4)] | None = None
    old_style: Optional[NDArray[np.int16]] = None  # noqa: UP045  # as many write it
    many: list[NDArray["int64"]] = []
    named: dict[str, NDArray["bool"]] = {}
    inner: Inner | None = None
    odd: NDArray["complex64"] | None = None
    blob: bytes = b""
    anything: Any = None


class Act(Everywhere, Action):
    pass


class Seen(Everywhere, Observation):
    pass


class Kept(Everywhere, State):
    pass


FULL: dict[str, Any] = {
    "frame": [[1, 2, 3], [4, 5, 255]],
    "maybe": np.zeros((0, 4)),
    "old_style": [-1, 300],
    "many": [[1], [[2**60]], np.arange(4)[::2]],
    "named": {"x": [True, False]},
    "inner": {"weights": [1.5, "Infinity"], "raw": b"abc"},
    "odd": [1, 2j],
    "blob": b"\xff\x00",
}


def through_json(packed: bytes) -> Any:
    return json.loads(packed, parse_constant=pytest.fail)


@pytest.mark.parametrize("binary", [False, True], ids=["JSON", "MessagePack"])
@pytest.mark.parametrize("fields", [FULL, {}], ids=["full", "empty"])
def test_arrays_cross_in_every_place(binary: bool, fields: dict[str, Any]) -> None:
    read = decode_msgpack if binary else through_json

    seen = Seen(**fields, reward=1.0, metadata={"k": 1})
    assert validate(Seen, unpack(Seen, read(pack(seen, binary)))) == seen

    kept = Kept(**fields, step_count=3)
    assert validate(Kept, read(pack_state(kept, binary))) == kept

    act = Act(**fields, metadata={"k": 1})
    spec = EnvSpec("world", object, Act, Seen, Kept, None)  # type: ignore[arg-type]
    payload = fields_of(act)
    assert spec.parse_action(read(encode_msgpack(payload) if binary else encode(payload))) == act


def test_json_has_lists_and_messagepack_has_tensors() -> None:
    seen = Seen(**FULL)
    lists = through_json(pack(seen))["observation"]
    assert lists["frame"] == [[1, 2, 3], [4, 5, 255]]
    assert lists["maybe"] == []
    assert lists["inner"]["weights"] == [1.5, "Infinity"]
    arrays = decode_msgpack(pack(seen, binary=True))["observation"]
    for one, other in [
        (arrays["frame"], seen.frame),
        (arrays["many"][1], seen.many[1]),
        (arrays["named"]["x"], seen.named["x"]),
        (arrays["inner"]["weights"], np.array([1.5, np.inf], np.float32)),
    ]:
        np.testing.assert_array_equal(one, other, strict=True)


def test_what_is_received_is_not_copied() -> None:
    frame = pack(Seen(), binary=True)
    seen = validate(Seen, unpack(Seen, decode_msgpack(frame)))
    assert np.shares_memory(seen.frame, np.frombuffer(frame, np.uint8))


@pytest.mark.parametrize("shape", [(), (2,), (1, 2)], ids=str)
@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_no_number_is_text_in_json_in_any_model(dtype: str, shape: Any) -> None:
    class Bare(BaseModel):
        array: NDArray.__class_getitem__((dtype, shape))  # type: ignore[valid-type]

    for number in (math.nan, math.inf, -math.inf):
        bare = Bare(array=np.full(shape, number, dtype))
        assert "null" not in bare.model_dump_json()
        back = Bare.model_validate_json(bare.model_dump_json())
        np.testing.assert_array_equal(back.array, bare.array, strict=True)


def test_arrays_that_are_held_by_anything() -> None:
    seen = Seen(anything=[np.arange(3), {"x": (np.float32(1.5), np.nan)}])
    sent = decode_msgpack(pack(seen, binary=True))["observation"]["anything"]
    np.testing.assert_array_equal(sent[0], np.arange(3), strict=True)
    assert repr(sent[1]) == "{'x': [1.5, nan]}"
    assert through_json(pack(seen))["observation"]["anything"] == [[0, 1, 2], {"x": [1.5, "NaN"]}]


@settings(deadline=None)
@given(
    hnp.arrays(
        hnp.scalar_dtypes().filter(lambda dtype: dtype.kind in "biufc" and dtype.itemsize <= 8),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    ),
    st.booleans(),
)
def test_any_array_comes_back_exactly(array: Array, binary: bool) -> None:
    field = adapter(array.dtype, array.shape)
    kept = field.validate_python(array)
    sent = encode_msgpack(kept) if binary else encode(field.dump_python(kept, mode="json"))
    back = field.validate_python(decode_msgpack(sent) if binary else through_json(sent))
    assert back.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(back, array)


def test_assignment_is_validated() -> None:
    seen = Seen()
    seen.frame = [[1, 2, 3], [4, 5, 6]]
    assert (seen.frame.dtype, seen.frame.shape) == (np.uint8, (2, 3))
    with pytest.raises(ValidationError, match=r"expected an array of shape \(2, 3\), got \(1\)"):
        seen.frame = [1]


def test_long_texts_in_long_lists_take_no_room() -> None:
    parts: list[Any] = ["x" * 100_000] + [0.5] * 100_000
    tracemalloc.start()
    with pytest.raises(ValidationError, match="text is no number: 'xxx"):
        adapter("float32").validate_python(parts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000


def test_a_default_is_sent_as_it_is_as_pydantic_does_not_validate_it() -> None:
    class Lax(Observation):
        array: NDArray["float32"] = [1, 2]

    assert through_json(pack(Lax()))["observation"]["array"] == [1, 2]
    assert decode_msgpack(pack(Lax(), binary=True))["observation"]["array"] == [1, 2]


def test_faults_are_named() -> None:
    with pytest.raises(ValidationError) as caught:
        validate(Act, {"frame": [[1, 2, 3], [4, 5, 256]], "many": [[1], ["x"]]})
    assert [fault["loc"] for fault in caught.value.errors()] == [("frame",), ("many", 1)]


@pytest.mark.parametrize(
    ("change", "equal"),
    [
        ({}, True),
        ({"frame": np.zeros((2, 3), np.uint8)}, False),
        ({"maybe": np.ones((0, 4))}, True),
        ({"maybe": None}, False),
        ({"many": [[1]]}, False),
        ({"many": [[1], [[2**60]], [1, 2]]}, False),
        ({"named": {"y": [True, False]}}, False),
        ({"inner": {"weights": [1.5, 2], "raw": b"abc"}}, False),
        ({"anything": (np.zeros(1),)}, False),
        ({"metadata": {"array": np.zeros(2)}}, False),
    ],
    ids=repr,
)
@pytest.mark.parametrize("model", [Act, Seen])
def test_equality(model: type[Any], change: dict[str, Any], equal: bool) -> None:
    assert (model(**FULL) == model(**FULL | change)) is equal
    assert (model(**FULL) != model(**FULL | change)) is not equal


def test_equality_of_other_things() -> None:
    seen = Seen(anything=[np.zeros(2), np.zeros(1)])
    assert seen == Seen(anything=[np.zeros(2), np.zeros(1)])
    assert seen != Seen(anything=[np.zeros(2), np.zeros((1, 1))])
    assert seen != Seen(anything=[np.zeros(2), 0.0])
    assert seen != Kept()
    assert seen != 1
    assert (seen == 1) is False
    extra: dict[str, Any] = {"extra": np.zeros(2)}
    assert Kept(**extra) == Kept(**copy.deepcopy(extra))
    assert Kept(**extra) != Kept(**extra | {"extra": np.ones(2)})
    assert Kept(**extra) != Kept()


def test_copies_and_pickles() -> None:
    seen = Seen(**FULL)
    for twin in (copy.deepcopy(seen), seen.model_copy(deep=True), pickle.loads(pickle.dumps(seen))):
        assert twin == seen
        assert twin.frame is not seen.frame


def test_pydantics_own_methods() -> None:
    seen = Seen(**FULL)
    assert seen.model_dump()["frame"] is seen.frame
    assert seen.model_dump(mode="json")["frame"] == seen.frame.tolist()
    assert Seen.model_validate_json(seen.model_dump_json()) == seen


def test_the_json_schema() -> None:
    class Shown(Observation):
        frame: NDArray["uint8", (2, None, 3)] = Field(description="pixels")
        flags: NDArray["bool"]
        real: NDArray["float32", (4,)] | None = None
        odd: NDArray["complex64", ()]

    properties = json_schema(Shown)["properties"]
    byte = {"type": "integer", "minimum": 0, "maximum": 255}
    three = {"type": "array", "items": byte, "minItems": 3, "maxItems": 3}
    assert properties["frame"] == {
        "type": "array",
        "items": {"type": "array", "items": three},
        "minItems": 2,
        "maxItems": 2,
        "dtype": "uint8",
        "shape": [2, None, 3],
        "title": "Frame",
        "description": "pixels",
    }
    assert properties["flags"] == {
        "type": ["array", "boolean"],
        "dtype": "bool",
        "shape": None,
        "title": "Flags",
    }
    assert properties["real"]["anyOf"][0] == {
        "type": "array",
        "items": {"type": "number"},
        "minItems": 4,
        "maxItems": 4,
        "dtype": "float32",
        "shape": [4],
    }
    assert properties["odd"]["type"] == "string"


SNIPPET = """
    from __future__ import annotations

    from typing import Annotated, Any

    import numpy as np

    from openenv import Observation
    from openenv.env.ndarray import NDArray


    class Seen(Observation):
        frame: NDArray["uint8", (210, 160, 3)]
        points: NDArray[np.float32, (None, 4)]
        maybe: NDArray["float64"] | None = None
        many: list[NDArray["int64"]] = []
        known: Annotated[np.ndarray[Any, np.dtype[np.uint8]], NDArray("uint8", (3,))]


    seen = Seen(
        frame=np.ones((210, 160, 3), "uint8"), points=[[1, 2, 3, 4]], known=np.ones(3, np.uint8)
    )
    print(seen.frame.mean(), seen.points.dtype, seen.known.shape)
"""


def test_it_works_where_annotations_are_text(tmp_path: Path) -> None:
    script = tmp_path / "snippet.py"
    script.write_text(textwrap.dedent(SNIPPET))
    ran = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, timeout=15
    )
    assert (ran.stdout, ran.stderr) == ("1.0 float32 (3,)\n", "")


def test_the_spec_is_in_the_fields_metadata() -> None:
    field = Seen.model_fields["frame"]
    assert field.annotation is np.ndarray
    assert field.metadata == [NDArray("uint8", (2, 3))]
    assert Annotated[np.ndarray, NDArray("uint8", (2, 3))] == NDArray["uint8", (2, 3)]


def test_without_numpy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'openenv-core\[numpy\]'"):
        NDArray["uint8", (2, 3)]


def test_numpy_is_loaded_by_the_first_array_type() -> None:
    code = (
        "import sys; from openenv.env.ndarray import NDArray; from openenv.env import models\n"
        "assert 'numpy' not in sys.modules; NDArray['uint8']; assert 'numpy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=15)
