"""Requests of the page, passed on to a server elsewhere."""

from __future__ import annotations

import asyncio
import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from openenv._http import opener
from openenv.client.endpoint import Endpoint
from openenv.client.fetching import Redirects
from openenv.project.page.shown import Shown
from openenv.runtime.worker import Worker
from openenv.server.asgi import Receive, Scope, Send
from openenv.server.guard import answer

ANSWER_S = 30.0
"""How long a server may take to say what it is, in seconds."""
JSON = "application/json"
AT_ONCE = 32
"""Requests that are passed on at once; more wait."""


@dataclass(frozen=True)
class Answer:
    """What a server answered, in JSON.

    Attributes:
        status: of HTTP.
        body: its bytes.
    """

    status: int
    body: bytes

    def response(self) -> Response:
        """The same for the page; no browser takes it for anything but JSON."""
        sure = {"X-Content-Type-Options": "nosniff"}
        return Response(self.body, self.status, sure, media_type=JSON)


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
    """Passes the page's requests of one path on.

    Args:
        elsewhere: the server.
        path: on it; not as a request spells it.
        shown: what the server is shown.
    """

    def __init__(self, elsewhere: Elsewhere, path: str, shown: Shown) -> None:
        self._elsewhere = elsewhere
        self._path = path
        self._shown = shown

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers as the server does; 502, where it does not answer as one of environments."""
        body = await Request(scope, receive).body()
        at = self._shown.by(scope, self._elsewhere.endpoint)
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
    return asking.result().response()


def unreachable(endpoint: Endpoint, why: object) -> Unreachable:
    """Why a server elsewhere is not there for the page."""
    return Unreachable(
        f"no OpenEnv server answers at {endpoint.base_url}: {why or type(why).__name__}; is it "
        "running, and is this its address?"
    )


class _AtHome(Redirects):
    """Follows to the same host, or its TLS: where else a server leads, the page is not to ask."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """What is asked of the new place; `None` if it is not to be asked."""
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        secured = new.scheme == "https" and new.hostname == old.hostname and new.port is None
        if new[:2] != old[:2] and not secured:
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetched(at: Endpoint, path: str, body: bytes | None) -> Answer:
    headers: Mapping[str, str] = dict(at.headers)
    if body is not None:
        headers = {**headers, "Content-Type": "application/json"}
    asked = urllib.request.Request(f"{at.base_url}{path}", body, dict(headers))
    handlers = urllib.request.ProxyHandler({} if at.is_local else None), _AtHome()
    try:
        with opener(*handlers).open(asked, timeout=ANSWER_S) as said:
            return _read(at, said.status, said)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return _read(at, refusal.code, refusal)


def is_answer(status: int, media_type: str) -> bool:
    """Whether it is an answer of a server of environments: JSON, and no redirect."""
    return media_type == JSON and (200 <= status < 300 or 400 <= status < 600)


def _read(at: Endpoint, status: int, said: Any) -> Answer:
    """An answer in JSON, as servers of environments give them all.

    Raises:
        ValueError: it is none, or too large.
    """
    if not is_answer(status, said.headers.get_content_type()):
        raise ValueError(f"its answer, HTTP {status}, is none of such a server's, which are JSON")
    body: bytes = said.read(at.max_message_bytes + 1)
    if len(body) > at.max_message_bytes:
        raise ValueError(f"its answer has more than {at.max_message_bytes} bytes")
    return Answer(status, body)
