"""OpenAI's Chat Completions as a server speaks them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from openenv.testing.model_script import Call, Received, Reply

PATH = "/v1/chat/completions"
_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
_TYPES = {401: "authentication_error", 429: "rate_limit_error", 500: "server_error"}


class OpenAIWire:
    """Requests, answers, events and errors, as OpenAI's API has them."""

    name = "openai"

    def fault(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> str | None:
        """What is wrong with a request; `None` if nothing is."""
        messages = body["messages"]
        if any(message.get("role") not in _ROLES for message in messages):
            return "Invalid value for 'messages': unknown role"
        return _unpaired(messages)

    def key(self, headers: Mapping[str, str]) -> str | None:
        """The key that a request shows."""
        return headers.get("authorization", "").removeprefix("Bearer ") or None

    def answer(self, reply: Reply, received: Received) -> dict[str, Any]:
        """A whole answer."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = [_call(*each) for each in _numbered(reply, received)]
        choice = {"index": 0, "message": message, "finish_reason": reply.ending}
        return {
            **_head(received, "chat.completion"),
            "choices": [choice],
            "usage": _usage(reply, received),
        }

    def events(self, reply: Reply, received: Received) -> Iterator[str]:
        """The same answer, as server-sent events."""
        head = _head(received, "chat.completion.chunk")

        def chunk(delta: dict[str, Any], ending: str | None = None) -> str:
            choice = {"index": 0, "delta": delta, "finish_reason": ending}
            return _event({**head, "choices": [choice]})

        yield chunk({"role": "assistant", "content": ""})
        yield from (chunk({"content": piece}) for piece in reply.pieces)
        for index, call, id in _numbered(reply, received):
            opening = _call(index, Call(call.name, ""), id)
            yield chunk({"tool_calls": [{"index": index, **opening}]})
            written = {"index": index, "function": {"arguments": call.written}}
            yield chunk({"tool_calls": [written]})
        yield chunk({}, reply.ending)
        if (received.body.get("stream_options") or {}).get("include_usage"):
            yield _event({**head, "choices": [], "usage": _usage(reply, received)})
        yield "data: [DONE]\n\n"

    def error(self, status: int, message: str, code: str | None) -> dict[str, Any]:
        """An error's body."""
        kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _unpaired(messages: list[dict[str, Any]]) -> str | None:
    """Calls without results, and results without calls, as the real server refuses them."""
    open_ids: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_ids:
                return (
                    "messages with role 'tool' must be a response to a preceding message with "
                    "'tool_calls'"
                )
            open_ids.discard(message["tool_call_id"])
        elif open_ids:
            break
        open_ids |= {call["id"] for call in message.get("tool_calls") or []}
    if open_ids:
        return (
            "an assistant message with 'tool_calls' must be followed by tool messages responding "
            f"to each 'tool_call_id'; missing: {', '.join(sorted(open_ids))}"
        )
    return None


def _numbered(reply: Reply, received: Received) -> Iterator[tuple[int, Call, str]]:
    for index, call in enumerate(reply.calls):
        yield index, call, call.id or f"call_{received.number}_{index}"


def _call(index: int, call: Call, id: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.written}
    return {"id": id, "type": "function", "function": function}


def _head(received: Received, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{received.number}",
        "object": kind,
        "created": 0,
        "model": received.body["model"],
    }


def _usage(reply: Reply, received: Received) -> dict[str, int]:
    read, written = reply.tokens or (received.words, len(reply.text.split()))
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _event(chunk: dict[str, Any]) -> str:
    return f"data: {json.dumps(chunk)}\n\n"
