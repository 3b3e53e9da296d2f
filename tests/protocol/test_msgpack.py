"""How Python values become MessagePack, and back."""

import datetime
import decimal
import json
import math
import subprocess
import sys
import tracemalloc
import uuid
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from msgspec.msgpack import Ext

from openenv.protocol.errors import EnvironmentFailed, InvalidRequest
from openenv.protocol.msgpack import decode_msgpack, encode_msgpack, is_plain, plain
from openenv.protocol.values import encode
from tests.protocol.test_values import Colour, Plain, Point, Unpicturable

Array = npt.NDArray[Any]

patiently = settings(deadline=None)
DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def there_and_back(value: object) -> Any:
    return decode_msgpack(encode_msgpack(value))


class Label(str):
    """A text of a kind of its own."""


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        ("ü", "ü"),
        (Label("a"), "a"),
        (-(2**63), -(2**63)),
        (2**64 - 1, 2**64 - 1),
        (2**64, "18446744073709551616"),
        ([-(2**63) - 1, {"a": (2**70, 1)}], ["-9223372036854775809", {"a": [str(2**70), 1]}]),
        (math.nan, math.nan),
        (math.inf, math.inf),
        ([-math.inf, 1.0, None, "NaN"], [-math.inf, 1.0, None, "NaN"]),
        (b"\x00\xff", b"\x00\xff"),
        ([b"", bytearray(b"\xff")], [b"", b"\xff"]),
        ((1, 2), [1, 2]),
        ({3}, [3]),
        ({1: "a", None: b"b"}, {"1": "a", "None": b"b"}),
        ({"a": {2.5: math.nan}}, {"a": {"2.5": math.nan}}),
        (Colour.RED, "red"),
        (Point(1.0, math.nan), {"x": 1.0, "y": math.nan}),
        (datetime.datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),
        (datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc), "2026-01-02T00:00:00Z"),
        (datetime.timedelta(hours=25), "P1DT1H"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (decimal.Decimal("0.1"), "0.1"),
        (decimal.Decimal("NaN"), "NaN"),
        (Path("/a/b"), "/a/b"),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.float64("nan"), math.nan),
        ([np.float32("-inf")], [-math.inf]),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.ma.array([1, 2], mask=[False, True]), [1, None]),
        (Plain(value=math.nan), {"value": math.nan, "note": None, "inner": []}),
        ({"m": [Plain(note="NaN")]}, {"m": [{"value": 0.0, "note": "NaN", "inner": []}]}),
    ],
    ids=repr,
)
def test_wire_forms(value: object, read: object) -> None:
    assert repr(there_and_back(value)) == repr(read)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("name", DTYPES)
def test_arrays_of_every_kind(name: str, order: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(order + name)
    back = there_and_back({"a": [array]})["a"][0]
    assert back.dtype == array.dtype.newbyteorder("<")
    np.testing.assert_array_equal(back, array, strict=False)


CUBE = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "array",
    [
        CUBE,
        np.asfortranarray(CUBE),
        CUBE.T,
        CUBE[:, ::2, ::-1],
        np.broadcast_to(np.float32(1), (2, 2)),
        np.array(5.0),
        np.zeros((0, 3), np.uint8),
        np.zeros(0),
    ],
    ids=["C", "Fortran", "transposed", "strided", "broadcast", "0-d", "empty", "none"],
)
def test_arrays_of_every_layout(array: Array) -> None:
    back = there_and_back(array)
    assert (back.shape, back.dtype) == (array.shape, array.dtype)
    assert back.flags.c_contiguous
    np.testing.assert_array_equal(back, array)


def test_the_bytes_of_a_tensor() -> None:
    sent = msgspec.msgpack.decode(encode_msgpack(np.array([[1, 258]], ">u2")))
    assert isinstance(sent, Ext)
    assert sent.code == 78
    assert msgspec.msgpack.decode(sent.data) == ["<u2", [1, 2], b"\x01\x00\x02\x01"]


def test_a_tensor_is_decoded_without_a_copy() -> None:
    frame = encode_msgpack({"a": CUBE})
    array = decode_msgpack(frame)["a"]
    assert np.shares_memory(array, np.frombuffer(frame, np.uint8))
    assert not array.flags.writeable
    del frame
    np.testing.assert_array_equal(array, CUBE)


@patiently
@given(
    hnp.arrays(
        hnp.scalar_dtypes().filter(lambda dtype: dtype.kind in "biufc" and dtype.itemsize <= 8),
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5),
    )
)
def test_any_array_comes_back(array: Array) -> None:
    back = there_and_back([array])[0]
    assert back.dtype == array.dtype.newbyteorder("<")
    assert back.shape == array.shape
    assert back.tobytes() == array.astype(back.dtype).tobytes()


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
)
trees = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30
)


@patiently
@given(trees)
def test_plain_values_come_back_as_they_are(value: object) -> None:
    assert is_plain(value)
    assert plain(value) is value
    back = there_and_back(value)
    assert back == value
    assert repr(back) == repr(value)


@patiently
@given(trees)
def test_json_and_messagepack_say_the_same(value: object) -> None:
    assert json.loads(encode(there_and_back(value))) == json.loads(encode(value))


keys = st.none() | st.booleans() | st.integers() | st.text() | st.dates()
odd_leaves = (
    scalars
    | st.decimals()
    | st.datetimes(timezones=st.none() | st.just(datetime.timezone.utc))
    | st.times()
    | st.timedeltas(max_value=datetime.timedelta(days=9999))
    | st.uuids()
    | st.sampled_from([*Colour, Path("/a"), Plain(value=1.5), Point(0.5, 2.0), {1.5}, 1 + 2j])
)


@patiently
@given(
    st.recursive(
        odd_leaves,
        lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(keys, inner),
        max_leaves=20,
    )
)
def test_whatever_has_a_json_form_has_the_same_one(value: object) -> None:
    read = there_and_back(value)
    assert is_plain(read)
    assert json.loads(encode(read)) == json.loads(encode(value))


def test_encoded_parts_are_spliced_in() -> None:
    inner = msgspec.Raw(encode_msgpack({"a": [1]}))
    assert there_and_back({"id": 1, "data": inner}) == {"id": 1, "data": {"a": [1]}}


@pytest.mark.parametrize(
    ("value", "path", "type_name"),
    [
        (Unpicturable(), "Unpicturable", "Unpicturable"),
        ({"a": [1, {"b": Unpicturable()}]}, "dict['a'][1]['b']", "Unpicturable"),
        ({"text": "\udcff"}, "dict['text']", "str"),
        ({"array": np.array([object()])}, "dict['array']", "ndarray"),
        ({"array": np.zeros(1, np.longdouble)}, "dict['array']", "ndarray"),
        ({"type": np.ndarray}, "dict['type']", "type"),
    ],
    ids=["itself", "deep", "surrogate", "objects", "long double", "class"],
)
def test_what_cannot_be_sent_is_named(value: object, path: str, type_name: str) -> None:
    with pytest.raises(EnvironmentFailed) as caught:
        encode_msgpack(value)
    error = caught.value
    assert (error.details["path"], error.details["value_type"]) == (path, type_name)
    assert error.message.startswith(f"{path} cannot be sent")


def test_a_loop_of_values_is_an_error_and_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(EnvironmentFailed):
        encode_msgpack(loop)


def tensor(*parts: object) -> bytes:
    return msgspec.msgpack.encode(Ext(78, msgspec.msgpack.encode(parts)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x01\x01",
        b"\xa5ab",
        b"\xa1\xff",
        b"\x91" * 100_000,
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x4e",
        b"\x81\x81\x01\x01\x02",
        b"\xd4\x4e\x00",
        b"\xd4\x4d\x00",
        tensor(),
        tensor("<f4", [1]),
        tensor("<f4", [1], b"1234", 0),
        tensor("<f4", [1], b"123"),
        tensor("<f4", [2], b"1234"),
        tensor("<f4", [], b""),
        tensor("<f4", [-1], b"1234"),
        tensor("<f4", [1.0], b"1234"),
        tensor("<f4", "a", b"1234"),
        tensor("<f4", [1], "1234"),
        tensor("<f4", [2**62], b"1234"),
        tensor("<f4", [2**62, 0], b""),
        tensor("<f4", [2**64 - 1, 0], b""),
        tensor("<f4", [2**63, 2**63], b""),
        tensor("<f4", [1] * 33, b"1234"),
        tensor("<i4,<i4", [1], b"12345678"),
        tensor("|O", [1], b"12345678"),
        tensor("|V4", [1], b"1234"),
        tensor("<U1", [1], b"1234"),
        tensor("<M8[s]", [1], b"12345678"),
        tensor(">f4", [1], b"1234"),
        tensor("float32", [1], b"1234"),
        tensor("f" * 100_000, [1], b"1234"),
        tensor(4, [1], b"1234"),
        tensor("|b1", [2], b"\x01\x02"),
    ],
    ids=lambda data: repr(data[:24]),
)
def test_hostile_data_is_refused(data: bytes) -> None:
    tracemalloc.start()
    with pytest.raises(InvalidRequest) as caught:
        decode_msgpack(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000
    assert caught.value.code == "INVALID_JSON"
    assert len(caught.value.message) < 400


@patiently
@given(st.binary(max_size=200))
def test_random_data_is_read_or_refused(data: bytes) -> None:
    try:
        decode_msgpack(data)
    except InvalidRequest as error:
        assert error.message


@patiently
@given(st.data())
def test_damaged_tensors_are_read_or_refused(data: st.DataObject) -> None:
    frame = bytearray(encode_msgpack({"a": CUBE, "b": [np.ones(3, "?")]}))
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    try:
        decode_msgpack(bytes(frame[: data.draw(st.integers(0, len(frame)))]))
    except InvalidRequest as error:
        assert error.message


def test_numpy_is_loaded_only_for_a_tensor() -> None:
    code = (
        "import sys; from openenv.protocol.msgpack import decode_msgpack, encode_msgpack\n"
        "decode_msgpack(encode_msgpack({'a': [1, b'x', {2: 0.5}]}))\n"
        "assert 'numpy' not in sys.modules\n"
        f"print(decode_msgpack({encode_msgpack(np.arange(3))!r}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=15
    )
    assert run.stdout == "[0 1 2]\n"


def test_a_tensor_without_numpy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = encode_msgpack(np.arange(3))
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(InvalidRequest, match=r"pip install 'openenv-core\[numpy\]'"):
        decode_msgpack(frame)
