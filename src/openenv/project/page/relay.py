"""Requests of the page, passed on to a server elsewhere."""

from __future__ import annotations

import asyncio
import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from openenv._http import opener
from openenv.client.endpoint import Endpoint
from openenv.client.fetching import Redirects
from openenv.runtime.worker import Worker
from openenv.server.asgi import Receive, Scope, Send
from openenv.server.guard import answer

ANSWER_S = 30.0
"""How long a server may take to say what it is, in seconds."""
AT_ONCE = 32
"""Requests that are passed on at once; more wait."""


@dataclass(frozen=True)
class Answer:
    """What a server answered.

    Attributes:
        status: of HTTP.
        media_type: what it is.
        body: its bytes.
    """

    status: int
    media_type: str
    body: bytes


class Unreachable(Exception):
    """No server of environments answers; the text says which, why, and what to do."""


class Elsewhere:
    """A server elsewhere, asked over HTTP.

    Args:
        endpoint: where it is, and the token that it is shown.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._free = asyncio.Semaphore(AT_ONCE)

    async def ask(
        self, path: str, body: bytes | None = None, endpoint: Endpoint | None = None
    ) -> Answer:
        """What the server answers.

        Args:
            path: where.
            body: JSON to be posted; nothing is, without one.
            endpoint: the server, if it is shown another token.

        Raises:
            Unreachable: it gives no answer, or one that no server of environments gives.
        """
        at = endpoint or self.endpoint
        async with self._free:
            worker = Worker("openenv-page")
            try:
                return await worker.run(lambda: _fetched(at, path, body))
            except (OSError, ValueError, http.client.HTTPException) as error:
                raise unreachable(at, getattr(error, "reason", error)) from error
            finally:
                worker.stop()


class Relay:
    """Passes the page's requests of one path on, with its token or else the client's own.

    Args:
        elsewhere: the server.
        path: on it; not as a request spells it.
    """

    def __init__(self, elsewhere: Elsewhere, path: str) -> None:
        self._elsewhere = elsewhere
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers as the server does; 502, where it does not answer as one of environments."""
        body = await Request(scope, receive).body()
        at = shown_by(self._elsewhere.endpoint, scope)
        asking = asyncio.ensure_future(self._elsewhere.ask(self._path, body or None, at))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait([asking, leaving], return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                await _told(asking)(scope, receive, send)
        finally:
            asking.cancel()
            leaving.cancel()


async def _left(receive: Receive) -> None:
    """Waits until the page has left, or this server ends."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _told(asking: asyncio.Future[Answer]) -> Response:
    """What the page is told: the server's answer, or that it gave none."""
    error = asking.exception()
    if isinstance(error, Unreachable):
        return answer(502, "CONNECTION_ERROR", str(error))
    said = asking.result()
    return Response(said.body, said.status, media_type=said.media_type)


def shown_by(endpoint: Endpoint, scope: Scope) -> Endpoint:
    """The server, and the token that it is shown: the page's own goes before the client's."""
    shown = Headers(scope=scope).get("authorization")
    if shown is None:
        return endpoint
    others = {k: v for k, v in endpoint.headers.items() if k.lower() != "authorization"}
    return replace(endpoint, headers={**others, "Authorization": shown})


def unreachable(endpoint: Endpoint, why: object) -> Unreachable:
    """Why a server elsewhere is not there for the page."""
    return Unreachable(
        f"no OpenEnv server answers at {endpoint.base_url}: {why or type(why).__name__}; is it "
        "running, and is this its address?"
    )


def _fetched(at: Endpoint, path: str, body: bytes | None) -> Answer:
    headers: Mapping[str, str] = dict(at.headers)
    if body is not None:
        headers = {**headers, "Content-Type": "application/json"}
    asked = urllib.request.Request(f"{at.base_url}{path}", body, dict(headers))
    handlers = urllib.request.ProxyHandler({} if at.is_local else None), Redirects()
    try:
        with opener(*handlers).open(asked, timeout=ANSWER_S) as said:
            return _read(at, said.status, said)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return _read(at, refusal.code, refusal)


def _read(at: Endpoint, status: int, said: Any) -> Answer:
    """An answer in JSON, as servers of environments give them all.

    Raises:
        ValueError: it is none, or too large.
    """
    media_type = said.headers.get("Content-Type", "")
    if not media_type.startswith("application/json"):
        raise ValueError(f"what answers there, with HTTP {status}, speaks no JSON")
    body: bytes = said.read(at.max_message_bytes + 1)
    if len(body) > at.max_message_bytes:
        raise ValueError(f"its answer has more than {at.max_message_bytes} bytes")
    return Answer(status, media_type, body)
