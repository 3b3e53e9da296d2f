"""Frames are cut as `websockets` cuts them, however the bytes were split on their way."""

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import CLIENT, SERVER, Protocol, Side

from openenv.websocket_frames import Cutter, framed

MAX_SIZE = 70_000
DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)
Seen = tuple[Opcode, bytes, bool]


class Reference:
    """All bytes through `websockets`."""

    def __init__(self, side: Side) -> None:
        self.protocol = Protocol(side, max_size=MAX_SIZE)
        self.seen: list[Seen] = []

    def feed(self, data: bytes) -> None:
        self.protocol.receive_data(data)
        for event in self.protocol.events_received():
            assert isinstance(event, Frame)
            self.seen.append((event.opcode, bytes(event.data), event.fin))

    def end(self) -> object:
        """All that can be told of a connection, but for the masks of what it would send."""
        protocol = self.protocol
        cause = protocol.parser_exc
        return (
            self.seen,
            protocol.state,
            protocol.close_rcvd,
            protocol.close_sent,
            (type(cause), str(cause)),
            [len(data) for data in protocol.data_to_send()],
        )


class Cut(Reference):
    """Whole messages through a `Cutter`, and what it leaves through `websockets`."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self.cutter = Cutter(
            masked=side is SERVER, max_size=MAX_SIZE, take=self.take, leave=self.leave
        )
        self.taken = 0

    def take(self, text: bool, payload: bytes) -> None:
        assert type(payload) is bytes
        self.taken += 1
        self.seen.append((Opcode.TEXT if text else Opcode.BINARY, payload, True))

    def leave(self, data: bytes) -> bool:
        super().feed(data)
        return self.protocol.close_rcvd is None and self.protocol.parser_exc is None

    def feed(self, data: bytes) -> None:
        self.cutter.feed(data)


def frame(side: Side, opcode: int, payload: bytes, fin: bool = True) -> bytes:
    """A frame that the given side receives."""
    return Frame(Opcode(opcode), payload, fin).serialize(mask=side is SERVER)


sizes = st.sampled_from([0, 1, 2, 124, 125, 126, 127, 200, 65535, 65536, MAX_SIZE])
payloads = st.one_of(st.binary(max_size=40), sizes.map(lambda size: b"ab" * (size // 2)))
controls = st.tuples(st.sampled_from([9, 10]), st.binary(max_size=125)).map(
    lambda given: [(*given, True)]
)
wholes = st.tuples(st.sampled_from([1, 2]), payloads).map(lambda given: [(*given, True)])


@st.composite
def fragments(draw: st.DrawFn) -> list[tuple[int, bytes, bool]]:
    """A message in pieces, with control frames between them."""
    pieces = draw(st.lists(st.binary(max_size=20), min_size=2, max_size=4))
    frames: list[tuple[int, bytes, bool]] = []
    for number, piece in enumerate(pieces):
        opcode = draw(st.sampled_from([1, 2])) if number == 0 else 0
        frames.append((opcode, piece, number == len(pieces) - 1))
        if number < len(pieces) - 1 and draw(st.booleans()):
            frames.extend(draw(controls))
    return frames


BROKEN = [
    b"\xf1\x05hello", b"\x83\x00", b"\x81\xff", b"\x80\x01x", b"\x09\x00",
    b"\x89\x7e\x00\x7e" + bytes(126),
    b"\x88\x01x", b"\x88\x02\x00\x00", b"\x88\x03\x03\xe8\xff", b"\x81\x7f" + b"\xff" * 8,
    b"\x82\x7f\x00\x00\x00\x00\x00\x01\x11\x71",
    b"\x01\x01a\x81\x01b", b"\x01\x01a\x88\x02\x03\xe8", b"\x01\x7f" + bytes(5) + b"\xff\xff\xff",
]  # fmt: skip
"""Without masks; to a server it is wrong without one."""
MASKED_BROKEN = [
    b"\xf1\x80" + bytes(4), b"\x83\x80", b"\x81\x02{}", b"\x80\x80" + bytes(4),
    b"\x89\xfe\x00\x7e" + bytes(130), b"\x09\x80" + bytes(4), b"\x88\x82" + bytes(6),
    b"\x81\xff" + b"\xff" * 8, b"\x82\xff\x00\x00\x00\x00\x00\x01\x11\x71",
    b"\x01\x81" + bytes(5) + b"\x81\x81" + bytes(5), b"\xc1\x80" + bytes(4),
]  # fmt: skip


@st.composite
def streams(draw: st.DrawFn) -> tuple[Side, bytes]:
    """The bytes of some frames, which may end in a close, a broken rule, or in the middle."""
    side = draw(st.sampled_from([SERVER, CLIENT]))
    groups = draw(st.lists(st.one_of(wholes, wholes, controls, fragments()), max_size=5))
    data = b"".join(frame(side, *each) for group in groups for each in group)
    ending = draw(st.sampled_from(["none", "close", "broken", "cut off"]))
    if ending == "close":
        data += frame(side, 8, draw(st.sampled_from([b"", b"\x03\xe8", b"\x03\xe8bye"])))
    if ending == "broken":
        data += draw(st.sampled_from(MASKED_BROKEN if side is SERVER else BROKEN))
    if ending in ("close", "broken"):
        data += frame(side, 1, b"for nobody")
    return side, data[: draw(st.integers(0, len(data)))] if ending == "cut off" else data


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in zip(places, places[1:], strict=False)]


@given(streams(), st.lists(st.integers(0, 1 << 30), max_size=12))
def test_any_stream_in_any_chunks(stream: tuple[Side, bytes], cuts: list[int]) -> None:
    side, data = stream
    reference, cut = Reference(side), Cut(side)
    for chunk in chunks(data, cuts):
        reference.feed(chunk)
        cut.feed(chunk)
        assert cut.end() == reference.end()


@pytest.mark.parametrize("side", [SERVER, CLIENT])
@pytest.mark.parametrize("ending", range(len(BROKEN)))
def test_broken_rules_byte_by_byte(side: Side, ending: int) -> None:
    """Each is noticed with the very byte that breaks the rule."""
    broken = MASKED_BROKEN if side is SERVER else BROKEN
    data = frame(side, 2, b"before") + broken[ending % len(broken)] + frame(side, 1, b"after")
    reference, cut = Reference(side), Cut(side)
    for at in range(len(data)):
        reference.feed(data[at : at + 1])
        cut.feed(data[at : at + 1])
        assert cut.end() == reference.end()
    assert reference.protocol.parser_exc is not None


@pytest.mark.parametrize("side", [SERVER, CLIENT])
@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536, MAX_SIZE])
@pytest.mark.parametrize("kind", ["text", "binary"])
def test_a_message_there_and_back(side: Side, size: int, kind: str) -> None:
    message: str | bytes = "é" + "x" * (size - 2) if size > 1 else "x" * size
    message = message if kind == "text" else str(message).encode()
    pieces = framed(message, masked=side is SERVER)
    reference, cut = Reference(side), Cut(side)
    reference.feed(b"".join(pieces))
    cut.feed(b"".join(pieces))
    assert cut.end() == reference.end()
    assert cut.taken == 1
    opcode, payload, _ = cut.seen[0]
    assert (payload.decode() if opcode is Opcode.TEXT else payload) == message


@pytest.mark.parametrize("side", [SERVER, CLIENT])
def test_a_small_bound_holds_for_small_frames(side: Side) -> None:
    for size in (9, 10, 11):
        seen: list[bool] = []
        cutter = Cutter(
            masked=side is SERVER,
            max_size=10,
            take=lambda text, payload, seen=seen: seen.append(True),  # type: ignore[misc]
            leave=lambda data, seen=seen: bool(seen.append(False)),  # type: ignore[misc]
        )
        cutter.feed(frame(side, 2, bytes(size)))
        assert seen == [size <= 10]


def test_masks_differ_from_frame_to_frame() -> None:
    assert len({framed(b"", masked=True)[0] for _ in range(10)}) == 10


def cutting(take: Callable[[bool, bytes], object], max_size: int = 1 << 30) -> Cutter:
    return Cutter(masked=True, max_size=max_size, take=take, leave=lambda data: True)


def test_after_a_stop_everything_is_left() -> None:
    left = bytearray()

    def stop(text: bool, payload: bytes) -> None:
        cutter.stop()

    def leave(data: bytes) -> bool:
        left.extend(data)
        return True

    cutter = Cutter(masked=False, max_size=9, take=stop, leave=leave)
    one = frame(CLIENT, 1, b"one")
    cutter.feed(one * 3)
    cutter.feed(one)
    cutter.feed(one[:1])
    assert left == one * 3 + one[:1]


def test_a_large_frame_is_not_copied_with_every_chunk() -> None:
    """Ten times the chunks must not take a hundred times the work."""
    seen: list[int] = []
    cutter = cutting(lambda text, payload: seen.append(len(payload)))
    size = 64 * 1024 * 1024
    head = framed(bytes(size), masked=True)[0]
    cutter.feed(head)
    for _ in range(size // 1024):
        cutter.feed(bytes(1024))
    assert seen == [size]


def test_a_frame_that_trickles_in_weighs_little_more_than_what_has_come() -> None:
    """Or a patient client of few bytes would fill the memory."""
    seen: list[bytes] = []
    cutter = cutting(lambda text, payload: seen.append(payload))
    size = 300_000
    cutter.feed(b"\x82\xff" + size.to_bytes(8, "big") + bytes(4))
    tracemalloc.start()
    for at in range(0, size - 3, 3):
        cutter.feed(at.to_bytes(3, "big"))
    weight = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert weight < 2 * size
    cutter.feed((size - 3).to_bytes(3, "big"))
    assert seen == [b"".join(at.to_bytes(3, "big") for at in range(0, size, 3))]


def test_many_frames_in_one_chunk_take_no_copies_of_the_rest() -> None:
    seen: list[bytes] = []
    cutter = cutting(lambda text, payload: seen.append(payload))
    cutter.feed(b"".join(framed(b"x", masked=True)) * 300_000)
    assert len(seen) == 300_000


def test_what_is_declared_takes_no_memory_before_it_comes() -> None:
    """A head alone is worth a few bytes."""
    cutters = [cutting(lambda text, payload: None) for _ in range(1000)]
    head = b"\x82\xff" + (1 << 29).to_bytes(8, "big") + b"mask"
    for cutter in cutters:
        cutter.feed(head + b"x")
