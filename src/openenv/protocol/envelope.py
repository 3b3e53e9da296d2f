"""Envelopes of wire v2: what surrounds each request and reply, as MessagePack or JSON.

Request: `{"id": 17, "op": "step", "ch": 3, "seq": 12, "timeout_s": 30.0, "data": {…}}`
Reply: `{"id": 17, "type": "observation", "ch": 3, "seq": 12, "data": {…}}`

Unknown keys are ignored, so that the wire can grow.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, TypeVar

import msgspec
from pydantic_core import from_json

from openenv.protocol.errors import RETRYABLE_CODES, InvalidRequest, Json, ProtocolError
from openenv.protocol.keys import check_keys
from openenv.protocol.messages import Reply
from openenv.protocol.msgpack import encode_msgpack
from openenv.protocol.tensors import tensors
from openenv.protocol.values import encode

StructT = TypeVar("StructT", bound=msgspec.Struct)
Frame = str | bytes
MAX_ID = 2**53
"""Request ids and sequence numbers stay below it: every JSON reader holds them exactly."""


_Number = Annotated[int, msgspec.Meta(ge=0, le=MAX_ID)]
_Ordinal = Annotated[int, msgspec.Meta(ge=1, le=MAX_ID)]
_Seconds = Annotated[float, msgspec.Meta(gt=0)]


class Ask(msgspec.Struct):
    """A request in its envelope.

    Attributes:
        id: chosen by the client, unique among its unanswered requests on a socket.
        op: what to do.
        ch: the channel; one channel is one session.
        seq: 1, 2, 3, … of what changes the session.
        timeout_s: how long the caller waits.
        data: what belongs to the operation.
        view: the reply is to say how a page shows the observation.
    """

    id: _Number
    op: str
    ch: _Number = 0
    seq: _Ordinal | None = None
    timeout_s: _Seconds | None = None
    data: Any = None
    view: bool = False


class Item(msgspec.Struct):
    """One request of a batch."""

    op: str
    ch: _Number = 0
    seq: _Ordinal | None = None
    data: Any = None


class Answer(msgspec.Struct):
    """A reply in its envelope; without an `id` it answers nothing: the server speaks up itself."""

    type: str
    id: int | None = None
    ch: int = 0
    seq: int | None = None
    data: Any = None


class _Numbered(msgspec.Struct):
    """What can be said of a frame whose other parts nobody should read."""

    id: _Number


class _Written(msgspec.Struct, omit_defaults=True):
    """A reply in its envelope, whose data is encoded already."""

    type: str
    data: msgspec.Raw
    id: int | None = None
    ch: int | None = None
    seq: int | None = None


class Encoding(Enum):
    """The two forms of the same frames; the value is the WebSocket subprotocol that names it.

    Attributes:
        binary: whether frames are MessagePack.
        form: the type of a frame.
    """

    MSGPACK = "openenv.v2+msgpack"
    JSON = "openenv.v2+json"

    def __init__(self, subprotocol: str) -> None:
        self.binary = subprotocol.endswith("msgpack")
        self.form: type[Frame] = bytes if self.binary else str
        self.read_ask = self._reader(Ask)
        self.read_answer = self._reader(Answer)
        self.read_id = self._reader(_Numbered)

    def _reader(self, kind: type[StructT]) -> Callable[[Frame], StructT]:
        decoder: Any = (
            msgspec.msgpack.Decoder(kind, ext_hook=tensors)
            if self.binary
            else msgspec.json.Decoder(kind)
        )
        decode: Callable[[Frame], StructT] = decoder.decode
        return decode

    @classmethod
    def agreed(cls, subprotocol: str | None) -> Encoding | None:
        """The form that a subprotocol names; `None` is v1."""
        return _BY_NAME.get(subprotocol)

    @classmethod
    def chosen(cls, offered: list[str]) -> Encoding | None:
        """The first form that a client offers; `None` if it knows only v1."""
        return next((_BY_NAME[name] for name in offered if name in _BY_NAME), None)


_BY_NAME: dict[str | None, Encoding] = {encoding.value: encoding for encoding in Encoding}
SUBPROTOCOLS = tuple(encoding.value for encoding in Encoding)
"""What a client offers, in this order."""
V1 = "openenv.v1"
"""What may be offered beside them: a browser takes no socket on which none of its offers is spoken,
so a page that plays version 1 too names it."""

_pack = msgspec.msgpack.Encoder().encode


def encode_ask(ask: Ask, encoding: Encoding) -> Frame:
    """The frame of a request.

    Raises:
        EnvironmentFailed: its data has no wire form; the text names the part.
    """
    message: Json = {"id": ask.id, "op": ask.op, "ch": ask.ch}
    if ask.seq is not None:
        message["seq"] = ask.seq
    if ask.timeout_s is not None:
        message["timeout_s"] = ask.timeout_s
    if ask.data is not None:
        message["data"] = ask.data
    return encode_msgpack(message) if encoding.binary else encode(message).decode()


def decode_ask(frame: Frame, encoding: Encoding) -> Ask:
    """The request in a frame.

    Raises:
        InvalidRequest: it is none; `details["id"]` is there if the frame told one.
    """
    if type(frame) is encoding.form:
        try:
            if isinstance(frame, bytes):
                check_keys(frame)
            return encoding.read_ask(frame)
        except InvalidRequest as error:
            error.details["id"] = _id_in(frame, encoding)
            raise
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise _unreadable(frame, encoding, error) from None
    raise _wrong_form(frame, encoding)


def read_items(data: Any) -> list[Item]:
    """The requests of a batch.

    Raises:
        InvalidRequest: they are none.
    """
    try:
        return msgspec.convert(data["items"], list[Item])
    except (msgspec.ValidationError, KeyError, TypeError) as error:
        raise _invalid(f"a batch needs 'items', a list of requests: {error}") from None


def encode_answer(
    reply: Reply, encoding: Encoding, ident: int | None, channel: int, seq: int | None
) -> Frame:
    """The frame of a reply; without `ident` that of an item in a batch, or an uninvited word."""
    if reply.type == "error":
        reply = _with_retryable(reply)
    body = reply.encoded(encoding.binary)
    if encoding.binary:
        return _pack(_Written(reply.type, msgspec.Raw(body), ident, channel, seq))
    head = "" if ident is None else f'"id":{ident},'
    tail = "" if seq is None else f'"seq":{seq},'
    return f'{{{head}"type":"{reply.type}","ch":{channel},{tail}"data":{body.decode()}}}'


def _with_retryable(reply: Reply) -> Reply:
    """An error as v2 tells it: also whether to ask again makes sense."""
    data = from_json(reply.encoded(binary=False))
    data["retryable"] = data.get("code") in RETRYABLE_CODES
    return Reply(reply.type, encode(data), reply.ends_session)


def batch_reply(items: list[Frame], encoding: Encoding) -> Reply:
    """The reply to a batch, of the frames of its items' replies in their order."""
    if encoding.binary:
        raws = [msgspec.Raw(item) for item in items if isinstance(item, bytes)]
        return Reply("batch", _pack({"items": raws}), binary=True)
    return Reply("batch", f'{{"items":[{",".join(map(str, items))}]}}'.encode())


def decode_answer(frame: Frame, encoding: Encoding) -> Answer:
    """The reply in a frame.

    Raises:
        ProtocolError: it is none.
    """
    try:
        if type(frame) is not encoding.form:
            raise _wrong_form(frame, encoding)
        return encoding.read_answer(frame)
    except (msgspec.DecodeError, ValueError, RecursionError, InvalidRequest) as error:
        raise ProtocolError(f"the server sent something unreadable: {error}") from error


def read_answers(data: Any) -> list[Answer]:
    """The replies in the `data` of a `batch` reply.

    Raises:
        ProtocolError: they are none.
    """
    try:
        return [Answer(**item) for item in data["items"]]
    except (KeyError, TypeError) as error:
        raise ProtocolError(f"the server sent a batch that is none: {error}") from error


def _wrong_form(frame: Frame, encoding: Encoding) -> InvalidRequest:
    kind = "binary" if isinstance(frame, bytes) else "text"
    return InvalidRequest(
        f"a {kind} frame of {len(frame)} bytes is no message here: this socket speaks "
        f"{encoding.value}",
        code="INVALID_JSON",
    )


def frame_size(frame: Frame) -> int:
    """How many bytes a frame has on the wire."""
    return len(frame) if isinstance(frame, bytes) or frame.isascii() else len(frame.encode())


def _unreadable(frame: Frame, encoding: Encoding, error: Exception) -> InvalidRequest:
    """The error for a frame that is no request: of its form, or only of its fields."""
    ident = _id_in(frame, encoding)
    if isinstance(error, msgspec.ValidationError):
        return _invalid(str(error), ident)
    return InvalidRequest(
        f"Invalid {'MessagePack' if encoding.binary else 'JSON'}: {error}; send one map with "
        "'id', 'op', 'ch' and what belongs to it",
        code="INVALID_JSON",
        **({} if ident is None else {"id": ident}),
    )


def _id_in(frame: Frame, encoding: Encoding) -> int | None:
    """The id that a frame tells, if it can be read so far; nothing else in it is."""
    try:
        return encoding.read_id(frame).id
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _invalid(why: str, ident: Any = None) -> InvalidRequest:
    details = {} if ident is None else {"id": ident}
    return InvalidRequest(f"Invalid message: {why}", errors=[], **details)
