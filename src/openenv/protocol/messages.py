"""What is asked and what is answered, and the v1 frames that carry them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
from pydantic_core import from_json

from openenv.protocol.errors import InvalidRequest, Json, ProtocolError, SessionError
from openenv.protocol.msgpack import decode_msgpack, encode_msgpack
from openenv.protocol.values import encode

Operation = Literal[
    "reset", "step", "state", "close", "mcp", "list_tools", "call_tool", "turn", "view"
]

Emit = Callable[[bytes], None]

_OPERATIONS: dict[object, Operation] = {
    "reset": "reset",
    "step": "step",
    "state": "state",
    "close": "close",
    "mcp": "mcp",
}
_WITH_DATA = frozenset({"reset", "step", "mcp"})
_NEEDS_DATA = {"step": "the action", "mcp": "a JSON-RPC request"}
_OF_TOOLS: dict[object, Operation] = {"list_tools": "list_tools", "call_tool": "call_tool"}
REPLY_TYPE: dict[Operation, str] = {"reset": "observation", "step": "observation", "state": "state"}
"""Which reply answers which request; `close` has none."""


@dataclass(slots=True)
class Request:
    """One thing a client asks of its session.

    Attributes:
        op: what to do.
        data: the action of a step, the keywords of a reset.
        timeout_s: how long the caller waits, where the road can say so (v1 frames cannot).
        binary: the road carries MessagePack: the data came by it, and so goes the reply.
        emit: takes what the running call tells, as JSON: a tool's progress, a turn's events.
        view: the reply is to say how a page shows the observation.
    """

    op: Operation
    data: Json = field(default_factory=dict)
    timeout_s: float | None = None
    binary: bool = False
    emit: Emit | None = None
    view: bool = False

    def frame(self) -> str:
        """The v1 frame that carries it."""
        message: Json = {"type": self.op}
        if self.op in _WITH_DATA:
            message["data"] = self.data
        return encode(message).decode()


def as_tool_request(request: Request, *, untyped: bool = False) -> Request:
    """A step that lists or calls tools, as the request for that; any other as it is.

    Args:
        request: any.
        untyped: a step that names a tool and no type is a call of that.
    """
    usual = "call_tool" if untyped and "tool_name" in request.data else None
    op = _OF_TOOLS.get(request.data.get("type", usual)) if request.op == "step" else None
    if op is None:
        return request
    called = {name: value for name, value in request.data.items() if name != "type"}
    return Request(op, called, request.timeout_s, request.binary, request.emit, request.view)


@dataclass(slots=True)
class Reply:
    """What a session answers.

    Attributes:
        type: `observation`, `state` or `error`.
        body: the answer's data, encoded: as JSON, ready for a v1 frame or an HTTP body, or as
            MessagePack where the request came by it.
        ends_session: the session ended with this answer.
        binary: the body is MessagePack.
    """

    type: str
    body: bytes
    ends_session: bool = False
    binary: bool = False

    def encoded(self, binary: bool) -> bytes:
        """The body as MessagePack or as JSON, whichever it was made as."""
        if binary is self.binary:
            return self.body
        return encode_msgpack(from_json(self.body)) if binary else encode(decode_msgpack(self.body))

    def with_part(self, name: str, part: bytes) -> Reply:
        """The reply with one more key in its data.

        Args:
            name: the key.
            part: its value, encoded as the body is.

        Raises:
            ProtocolError: its data is no object whose keys are text.
        """
        parts = {**self.parts(), name: msgspec.Raw(part)}
        return Reply(self.type, self.coding.encode(parts), self.ends_session, self.binary)

    @property
    def coding(self) -> Any:
        """What encodes and decodes as the body is encoded: msgspec's module for that."""
        return msgspec.msgpack if self.binary else msgspec.json

    def parts(self) -> dict[str, msgspec.Raw]:
        """Its data taken apart, each part still encoded.

        Raises:
            ProtocolError: it is no object whose keys are text.
        """
        try:
            parts: dict[str, msgspec.Raw] = self.coding.decode(
                self.body, type=dict[str, msgspec.Raw]
            )
        except (msgspec.DecodeError, ValueError) as error:
            raise ProtocolError(f"the data of a reply must be an object: {error}") from error
        return parts

    def frame(self) -> str:
        """The v1 frame that carries it."""
        return f'{{"type":"{self.type}","data":{self.body.decode()}}}'


def error_reply(error: SessionError, *, ends_session: bool = False) -> Reply:
    """The reply that tells a client of a typed error."""
    return Reply("error", encode(error.to_data()), ends_session)


def _invalid(message: str, fault: str, loc: list[str], received: object) -> InvalidRequest:
    """A VALIDATION_ERROR with one fault, in pydantic's shape, about the frame itself."""
    return InvalidRequest(
        message, errors=[{"type": fault, "loc": loc, "msg": message, "input": received}]
    )


def parse_request(frame: str | bytes) -> Request:
    """The request in a v1 frame.

    Raises:
        InvalidRequest: with code `INVALID_JSON`, `UNKNOWN_TYPE` or `VALIDATION_ERROR`.
    """
    message = parse_object(frame)
    kind = message.get("type")
    op = _OPERATIONS.get(kind) if isinstance(kind, str) else None
    if op is None:
        known = ", ".join(_OPERATIONS.values())
        raise InvalidRequest(
            f"Unknown message type: {_short(kind)}; expected one of {known}", code="UNKNOWN_TYPE"
        )
    allowed = {"type", "data"} if op in _WITH_DATA else {"type"}
    if not message.keys() <= allowed:
        extra = min(message.keys() - allowed)
        raise _invalid(
            f"Invalid message: a {op!r} frame has no key {_short(extra)!r} (known: "
            f"{', '.join(sorted(allowed))})",
            "extra_forbidden",
            [_short(extra)],
            _short(message[extra]),
        )
    if op in _NEEDS_DATA and "data" not in message:
        raise _invalid(
            f"Invalid message: a {op!r} frame needs 'data', {_NEEDS_DATA[op]}",
            "missing",
            ["data"],
            None,
        )
    data = message.get("data", {})
    if not isinstance(data, dict):
        raise _invalid(
            f"Invalid message: 'data' must be an object, got {type(data).__name__}",
            "dict_type",
            ["data"],
            _short(data),
        )
    return Request(op, data)


def parse_object(frame: str | bytes) -> Json:
    """The JSON object in a frame.

    Raises:
        InvalidRequest: it is not JSON (`INVALID_JSON`) or not an object (`VALIDATION_ERROR`).
    """
    try:
        message = from_json(frame, allow_inf_nan=False)
    except (ValueError, TypeError) as error:  # a TypeError: text that is no valid Unicode
        raise InvalidRequest(
            f"Invalid JSON: {error}; send one JSON object (NaN and infinity are "
            'the strings "NaN", "Infinity", "-Infinity")',
            code="INVALID_JSON",
        ) from None
    if not isinstance(message, dict):
        raise _invalid(
            f"Invalid message: expected a JSON object with 'type', got {type(message).__name__}",
            "dict_type",
            [],
            _short(message),
        )
    return message


def _short(value: object, limit: int = 80) -> str:
    """A received value, for an error text: never long, and one line."""
    text = "" if value is None else str(value)
    text = text if text.isprintable() else repr(text)
    return text if len(text) <= limit else f"{text[:limit]}…"
