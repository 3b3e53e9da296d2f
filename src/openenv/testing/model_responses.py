"""From the bytes of a request to a model to the bytes of its answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from starlette.responses import JSONResponse, Response, StreamingResponse

from openenv.server.asgi import Receive, Scope, Send
from openenv.testing.model_anthropic import AnthropicWire
from openenv.testing.model_openai import OpenAIWire
from openenv.testing.model_script import Failure, Garbage, HangUp, Outcome, Received, Reply

Wire = OpenAIWire | AnthropicWire

MAX_BODY_BYTES = 16 * 1024 * 1024
_EVENTS = "text/event-stream"


class Cut(Response):
    """The beginning of a response, and then nothing: the connection is closed."""

    def __init__(self, beginning: bytes, media_type: str, close: Callable[[], None]) -> None:
        super().__init__(beginning, media_type=media_type)
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Promises twice what it sends, and leaves."""
        if self.body:
            promised = str(2 * len(self.body))
            self.headers["content-length"] = promised
            start = {"status": 200, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            await send({"type": "http.response.body", "body": self.body, "more_body": True})
        self._close()
        await asyncio.Event().wait()  # until the server sees that the client is gone


def request_of(
    wire: Wire, headers: Mapping[str, str], content: bytes, number: int
) -> Received | Failure:
    """A request, or why it is none."""
    if len(content) > MAX_BODY_BYTES:
        return Failure(413, f"the body has more than {MAX_BODY_BYTES} bytes")
    try:
        body = json.loads(content)
    except ValueError:
        return Failure(400, "the body is not JSON")
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        return Failure(400, "you must provide a model parameter")
    messages = body.get("messages")
    if not (messages and isinstance(messages, list) and all(map(_is_message, messages))):
        return Failure(400, "messages must be a non-empty array of objects with a role")
    fault = wire.fault(headers, body)
    return Failure(400, fault) if fault else Received(wire.name, dict(headers), body, number)


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("role"), str)


def refusal(wire: Wire, failure: Failure) -> Response:
    """A failure in the vendor's form."""
    after = failure.retry_after
    headers = {} if after is None else {"Retry-After": str(after)}
    error = wire.error(failure.status, failure.message, failure.code)
    return JSONResponse(error, status_code=failure.status, headers=headers)


def response_of(
    wire: Wire, outcome: Outcome, received: Received, close: Callable[[], None]
) -> Response:
    """What is sent for an outcome."""
    if isinstance(outcome, Failure):
        return refusal(wire, outcome)
    if isinstance(outcome, Garbage):
        return Response(outcome.content, media_type=outcome.content_type)
    if isinstance(outcome, HangUp):
        amid = outcome.amid
        whole = _whole(wire, amid, received) if amid else b""
        media_type = _EVENTS if received.streams else "application/json"
        return Cut(whole[: len(whole) // 2], media_type, close)
    if received.streams:
        return StreamingResponse(_events(wire, outcome, received), media_type=_EVENTS)
    return JSONResponse(wire.answer(outcome, received))


def _whole(wire: Wire, reply: Reply, received: Received) -> bytes:
    if received.streams:
        return "".join(wire.events(reply, received)).encode()
    return json.dumps(wire.answer(reply, received)).encode()


async def _events(wire: Wire, reply: Reply, received: Received) -> AsyncIterator[str]:
    for event in wire.events(reply, received):
        yield event
        await asyncio.sleep(reply.pace_s)
