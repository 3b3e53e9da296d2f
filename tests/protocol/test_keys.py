"""Keys of MessagePack maps: what could be made to take long is refused before it is built."""

import os
import random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openenv.protocol.errors import InvalidRequest
from openenv.protocol.keys import HARMLESS_BYTES, MOST_PARTS, check_keys
from openenv.protocol.msgpack import encode_msgpack

pack = msgspec.msgpack.encode
FILLER = b"\x00" * HARMLESS_BYTES


@pytest.mark.parametrize("key", [(1, 2), (), 1, -1.5, None, True, b"a", 2**40])
@pytest.mark.parametrize("around", [lambda m: m, lambda m: ["a", {"b": [1, m]}, 2.5]])
def test_a_large_map_with_a_key_that_is_no_text_is_refused(key: object, around: Any) -> None:
    many: dict[object, object] = {f"key {index}": index for index in range(2000)}
    check_keys(pack(around(many | {"filler": FILLER})))
    with pytest.raises(InvalidRequest, match="a key that is no text"):
        check_keys(pack(around(many | {"filler": FILLER, key: 0})))


@pytest.mark.parametrize(
    "value",
    [
        {str(index): [index, index / 3, str(index), None] for index in range(5000)},
        {"a": [random.random() for _ in range(5000)], "m": {"x" * n: n for n in range(1, 300)}},
        {"a": [[random.randrange(256) for _ in range(100)] for _ in range(200)]},
        {"a": os.urandom(100_000), "b": [os.urandom(300), "ü" * 300, "a" * 70_000]},
        [[], {}, [{}], "", b"", -1, 200, 40_000, 2**31, 2**63, -200, -40_000, -(2**40), FILLER],
    ],
    ids=["map", "floats", "pixels", "bytes", "one of each"],
)
def test_text_keys_are_welcome(value: Any) -> None:
    large = {str(index): 0 for index in range(2000)}
    check_keys(pack([value, large, FILLER]))


def test_tensors_are_passed_over() -> None:
    large = {str(index): 0 for index in range(2000)}
    for size in (1, 3, 13, 200, 40_000):
        check_keys(encode_msgpack([np.full(size, 0xDF, np.uint8), large]))


def test_small_frames_and_small_maps_are_not_looked_at() -> None:
    check_keys(pack({(1, 2): 3}))
    check_keys(pack([{(1, 2): 3}, FILLER]))


def test_what_is_cut_off_is_left_to_the_decoder() -> None:
    frame = pack([{str(index): [0.5] * 20 for index in range(2000)}, FILLER])
    for length in range(HARMLESS_BYTES, len(frame), 997):
        check_keys(frame[:length])
    check_keys(b"\xdf\xff\xff\xff\xff\xa1a\xdd\xff\xff\xff\xff" + FILLER)
    check_keys(b"\xdf\xff\xff\xff\xff\xa1a\xdb\xff\xff\xff\xff" + FILLER)


def test_looking_ends() -> None:
    with pytest.raises(InvalidRequest, match=f"more than {MOST_PARTS} parts"):
        check_keys(b"\xdd\x00\x20\x00\x00" + b"\x90" * 0x200000 + b"\xdf")


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text()
        | st.binary(max_size=300),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)  # fmt: skip
def test_every_value_is_passed_to_its_end(value: Any) -> None:
    bad = {str(index): 0 for index in range(1100)} | {(): 0}
    with pytest.raises(InvalidRequest, match="a key that is no text"):
        check_keys(pack([value, bad, FILLER]))
