"""Answers that are sent when the work is done, as JSON or at the end of a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pydantic_core import from_json
from starlette.responses import Response
from typing_extensions import Self

from openenv.protocol.errors import Json
from openenv.protocol.jsonrpc import (
    JsonRpcErrorCode,
    JsonRpcRequest,
    McpMethod,
    RequestId,
    RpcRefusal,
)
from openenv.protocol.values import encode
from openenv.server.asgi import Receive, Scope, Send

Work = asyncio.Future[Json]
PING_S = 15.0
"""How long a stream is silent, at most: proxies close those that say nothing."""
MAX_EVENTS = 256
"""Reports of progress that may wait for a slow reader; further ones are left out."""


_STREAM = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Progress:
    """What a running call reports, for the stream that tells its caller.

    Args:
        token: the caller's name for the call.
    """

    def __init__(self, token: str | int) -> None:
        self._token = token
        self._events: asyncio.Queue[bytes] = asyncio.Queue(MAX_EVENTS)

    @classmethod
    def asked_for(cls, request: JsonRpcRequest) -> Self | None:
        """Reports for who called a tool and wants them, by a `progressToken`."""
        meta = request.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if request.method != McpMethod.TOOLS_CALL or isinstance(token, bool):
            return None
        return cls(token) if isinstance(token, int | str) else None

    def notice(self, report: bytes) -> Json:
        """The notification of a report, which is JSON: `progress`, `total`, `message`."""
        told = {name: value for name, value in from_json(report).items() if value is not None}
        return {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": self._token, **told},
        }

    def emit(self, report: bytes) -> None:
        """Takes a report for the stream."""
        with suppress(asyncio.QueueFull):
            self._events.put_nowait(event(self.notice(report)))

    async def next(self) -> bytes:
        """The next report as an event; nothing for long is a comment that keeps the stream open."""
        try:
            return await asyncio.wait_for(self._events.get(), PING_S)
        except asyncio.TimeoutError:
            return b": still running\n\n"

    def rest(self) -> bytes:
        """The reports that nobody has taken yet."""
        rest = b""
        while not self._events.empty():
            rest += self._events.get_nowait()
        return rest


class Answer(Response):
    """The response to one request, when it is there.

    Args:
        work: makes it.
        request_id: the request's.
        headers: of an answer that is no error.
        unheard: whether the work goes on when its caller has left.
        progress: reports of the work, which make the answer a stream of events.
    """

    def __init__(
        self,
        work: Work,
        request_id: RequestId,
        *,
        headers: Mapping[str, str] | None = None,
        unheard: bool = True,
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        self._work = work
        self._request_id = request_id
        self._extra = headers or {}
        self._unheard = unheard
        self._progress = progress

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Waits for the work, then sends what it made."""
        leaving = None if self._unheard else asyncio.ensure_future(self._abandon(receive))
        try:
            if self._progress is None:
                await asyncio.wait([self._work])
                await self._whole()(scope, receive, send)
            else:
                await self._stream(self._progress, send)
        finally:
            self._work.cancel()
            if leaving is not None:
                leaving.cancel()

    async def _abandon(self, receive: Receive) -> None:
        """Cancels the work when the caller has left."""
        while (await receive())["type"] != "http.disconnect":
            pass
        while not self._work.done():  # asyncio.wait_for of Python 3.11 may lose a cancellation
            self._work.cancel()
            await asyncio.wait([self._work], timeout=0.1)

    def _whole(self) -> Response:
        told = outcome(self._work, self._request_id)
        return json_response(told, headers=self._extra if "result" in told else {})

    async def _stream(self, progress: Progress, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _STREAM})
        while not self._work.done():
            reporting = asyncio.ensure_future(progress.next())
            either: list[asyncio.Future[Any]] = [self._work, reporting]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if reporting.done():
                body = reporting.result()
                await send({"type": "http.response.body", "body": body, "more_body": True})
            reporting.cancel()
        body = progress.rest() + event(outcome(self._work, self._request_id))
        await send({"type": "http.response.body", "body": body})


def outcome(work: Work, request_id: RequestId) -> Json:
    """The response that some finished work made; of cancelled work, that it was."""
    if work.cancelled():
        return RpcRefusal(
            JsonRpcErrorCode.SERVER_ERROR,
            "Request cancelled: by its caller, or because the server or the session ends",
            request_id=request_id,
        ).response()
    return work.result()


def json_response(
    told: Json, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON-RPC response as one of HTTP."""
    return Response(encode(told), status, headers, "application/json")


def event(message: Json) -> bytes:
    """A message as an event of a stream."""
    return b"event: message\ndata: " + encode(message) + b"\n\n"
