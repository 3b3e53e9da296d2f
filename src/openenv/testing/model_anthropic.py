"""Anthropic's Messages as a server speaks them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from openenv.testing.model_script import Received, Reply

PATH = "/v1/messages"
_ENDINGS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicWire:
    """Requests, answers, events and errors, as Anthropic's API has them."""

    name = "anthropic"

    def fault(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> str | None:
        """What is wrong with a request; `None` if nothing is."""
        if "anthropic-version" not in headers:
            return "anthropic-version: header is required"
        if not isinstance(body.get("max_tokens"), int):
            return "max_tokens: Field required"
        return next(filter(None, map(_fault, _turns(body["messages"]))), None)

    def key(self, headers: Mapping[str, str]) -> str | None:
        """The key that a request shows, in either of the two ways."""
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        return headers.get("x-api-key") or bearer or None

    def answer(self, reply: Reply, received: Received) -> dict[str, Any]:
        """A whole answer."""
        return {
            **_head(reply, received),
            "content": _blocks(reply, received),
            "stop_reason": _ENDINGS.get(reply.ending, reply.ending),
        }

    def events(self, reply: Reply, received: Received) -> Iterator[str]:
        """The same answer, as server-sent events."""
        yield _event("message_start", message=_head(reply, received))
        for index, block in enumerate(_blocks(reply, received)):
            said = block["type"] == "text"
            empty = {**block, "text": ""} if said else {**block, "input": {}}
            yield _event("content_block_start", index=index, content_block=empty)
            for delta in _deltas(reply, block):
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        ending = {"stop_reason": _ENDINGS.get(reply.ending, reply.ending), "stop_sequence": None}
        spent = {"output_tokens": _tokens(reply, received)[1]}
        yield _event("message_delta", delta=ending, usage=spent)
        yield _event("message_stop")

    def error(self, status: int, message: str, code: str | None) -> dict[str, Any]:
        """An error's body; Anthropic's have no code."""
        usual = "invalid_request_error" if status < 500 else "api_error"
        kind = _TYPES.get(status, usual)
        return {"type": "error", "error": {"type": kind, "message": message}}


def _turns(messages: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], set[str]]]:
    """Each message, with the calls of the one before it."""
    called: set[str] = set()
    for message in messages:
        yield message, called
        called = {part["id"] for part in _parts(message) if part.get("type") == "tool_use"}
    yield {"role": "user"}, called  # calls that nothing answers


def _fault(turn: tuple[dict[str, Any], set[str]]) -> str | None:
    message, called = turn
    if message.get("role") not in ("user", "assistant"):
        return f"messages: Unexpected role {message.get('role')!r}"
    parts = _parts(message)
    if any(part.get("type") == "text" and not part.get("text") for part in parts):
        return "messages: text content blocks must be non-empty"
    answered = {part["tool_use_id"] for part in parts if part.get("type") == "tool_result"}
    if answered != called:
        return "messages: `tool_use` and `tool_result` blocks do not match"
    return None


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _blocks(reply: Reply, received: Received) -> list[dict[str, Any]]:
    said = [{"type": "text", "text": reply.text}] if reply.text else []
    return said + [
        {
            "type": "tool_use",
            "id": call.id or f"toolu_{received.number}_{index}",
            "name": call.name,
            "input": _parsed(call.written),
        }
        for index, call in enumerate(reply.calls)
    ]


def _parsed(written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError:
        return written


def _deltas(reply: Reply, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        yield from ({"type": "text_delta", "text": piece} for piece in reply.pieces)
    else:
        yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


def _head(reply: Reply, received: Received) -> dict[str, Any]:
    read, written = _tokens(reply, received)
    return {
        "id": f"msg_{received.number}",
        "type": "message",
        "role": "assistant",
        "model": received.body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": read, "output_tokens": written},
    }


def _tokens(reply: Reply, received: Received) -> tuple[int, int]:
    return reply.tokens or (received.words, len(reply.text.split()))


def _event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"
