"""Frames are cut where they begin and end, however they arrive, and no byte is changed."""

from hypothesis import given
from hypothesis import strategies as st

from openenv.testing.frames import BINARY, CLOSE, CONTINUATION, PING, TEXT, Cutter, Head, Piece

SIZES = st.sampled_from([0, 1, 125, 126, 127, 1000, 65535, 65536, 70000])


def frame(opcode: int, final: bool, masked: bool, size: int) -> bytes:
    """A frame of that many zeros."""
    first, mask = (0x80 if final else 0) | opcode, 0x80 if masked else 0
    if size < 126:
        head = bytes([first, mask | size])
    elif size < 1 << 16:
        head = bytes([first, mask | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([first, mask | 127]) + size.to_bytes(8, "big")
    return head + (b"\x01\x02\x03\x04" if masked else b"") + bytes(size)


FRAMES = st.lists(
    st.tuples(
        st.sampled_from([CONTINUATION, TEXT, BINARY, CLOSE, PING]),
        st.booleans(),
        st.booleans(),
        SIZES,
    ),
    max_size=6,
)


@given(FRAMES, st.data())
def test_frames_are_found_however_they_arrive(
    kinds: list[tuple[int, bool, bool, int]], data: st.DataObject
) -> None:
    frames = [frame(*kind) for kind in kinds]
    stream = b"".join(frames)
    cutter, pieces = Cutter(), []
    while stream:
        size = data.draw(st.integers(1, min(len(stream), 100_000)))
        pieces += list(cutter.cut(stream[:size]))
        stream = stream[size:]

    assert cutter.rest == b""
    assert [piece.head for piece in pieces if piece.first] == [
        Head(opcode, final, len(whole))
        for (opcode, final, _, _), whole in zip(kinds, frames, strict=True)
    ]
    assert b"".join(piece.data for piece in pieces) == b"".join(frames)
    assert _ends(pieces) == [sum(map(len, frames[: n + 1])) for n in range(len(frames))]


def _ends(pieces: list[Piece]) -> list[int]:
    """Where the last pieces of frames end, in the stream."""
    at, ends = 0, []
    for piece in pieces:
        at += len(piece.data)
        if piece.last:
            ends.append(at)
    return ends


def test_half_a_head_waits_for_the_rest() -> None:
    cutter = Cutter()
    whole = frame(TEXT, True, True, 300)
    assert list(cutter.cut(whole[:7])) == []
    assert cutter.rest == whole[:7]
    assert [piece.data for piece in cutter.cut(whole[7:])] == [whole]


def test_a_message_ends_with_its_last_fragment() -> None:
    parts = frame(TEXT, False, False, 3) + frame(CONTINUATION, True, False, 3)
    assert [piece.ends_message for piece in Cutter().cut(parts)] == [False, True]
