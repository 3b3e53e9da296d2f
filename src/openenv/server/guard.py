"""Guard: what is refused before anything else looks at it."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response

from openenv.server.asgi import App, Event, Receive, Scope, Send, place
from openenv.server.authority import (
    STANDING,
    WATCHING,
    Authority,
    Standing,
    control_closed,
    watches,
)
from openenv.server.web.page import Page

WATCH = "/web/watch"
"""Where running sessions are watched."""
CUSTOM = "/web/custom/"
"""Where a page of an author's own is, which may take files."""
BEARER = "openenv.bearer."
"""Begins the subprotocol by which a browser shows a token: a page can set no header there."""
_ONE_WORD = re.compile(rb"[!-~]+")
DENIAL = "websocket.http.response"
"""The ASGI extension by which a handshake is refused in words."""

_NO_WATCHING = (
    "running sessions are watched with the watch token, as Authorization: Bearer TOKEN "
    "(OPENENV_WATCH_TOKEN on the server; where it is not set, nobody watches)"
)


class Guard:
    """Refuses pages of other web sites, callers without the token, and bodies that are no JSON.

    Only browsers send `Origin`, so clients and trainers never notice the first. A page may call
    the server that it came from; other origins must be named. Where a token is asked for, every
    endpoint asks for it; `/health` says only that the server lives to those who have none, for
    the probes of container engines and clusters. The web page, which asks people for the token,
    is there without it.

    Args:
        app: the application behind it.
        allowed_origins: origins such as `https://example.org` that may call; `*` is any.
        max_body_bytes: the largest HTTP body; larger ones are refused.
        authority: who may call, and what; it is asked once, and the scope keeps the answer.
        page: the web page, if there is one.
    """

    def __init__(
        self,
        app: App,
        *,
        allowed_origins: frozenset[str],
        max_body_bytes: int,
        authority: Authority,
        page: Page | None = None,
    ) -> None:
        self._app = app
        self._allowed = allowed_origins
        self._max_body = max_body_bytes
        self._authority = authority
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands a connection on, or refuses it."""
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        if not (self._is_public(scope) or self._may_call(headers, scope.get("server"))):
            return await _refuse_origin(scope, receive, send, headers["origin"])
        carried = _out_of_subprotocols(scope)
        shown = headers.get("authorization") or carried
        scope[STANDING] = self._authority.standing(shown)
        scope[WATCHING] = self._authority.may_watch(shown)
        if not _is_for(scope):
            outside = self._page if self._page is not None and self._page.has(scope) else None
            return await (outside or _ask_for_token)(scope, receive, send)
        if scope["type"] == "http" and scope["method"] in ("POST", "PUT", "PATCH"):
            return await self._with_body(scope, receive, send, headers)
        return await self._app(scope, receive, send)

    def _is_public(self, scope: Scope) -> bool:
        """Whether a file of the page is asked for: its frame, which has no origin, needs some."""
        return self._page is not None and self._page.has_file(scope)

    def _may_call(self, headers: dict[str, str], server: tuple[str, int] | None) -> bool:
        origin = headers.get("origin")
        if origin is None or "*" in self._allowed or origin in self._allowed:
            return True
        host = origin.partition("://")[2]
        if host == "" or host not in (headers.get("host"), headers.get("x-forwarded-host")):
            return False
        # A foreign name can be made to point at this machine, and its pages then look like ours.
        return server is None or not is_loopback(server[0]) or is_loopback(hostname(host))

    async def _with_body(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]
    ) -> None:
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self._max_body:
            return await self._too_large(int(length))(scope, receive, send)
        has_body = length not in ("", "0") or "transfer-encoding" in headers
        content_type = headers.get("content-type", "")
        if has_body and not (_is_json(content_type) or place(scope).startswith(CUSTOM)):
            problem = f"the body must be application/json, got {content_type or 'no content type'}"
            return await answer(415, "VALIDATION_ERROR", problem)(scope, receive, send)
        body = bytearray()
        while (event := await receive())["type"] == "http.request":
            body += event.get("body", b"")
            if len(body) > self._max_body:
                return await self._too_large(len(body))(scope, receive, send)
            if not event.get("more_body", False):
                break
        else:
            return None
        await self._app(scope, _replay(bytes(body), receive), send)
        return None

    def _too_large(self, size: int) -> JSONResponse:
        return answer(
            413,
            "MESSAGE_TOO_LARGE",
            f"the body has {size} bytes, this server reads at most {self._max_body} "
            "(OPENENV_MAX_MESSAGE_MB)",
        )


def _is_for(scope: Scope) -> bool:
    """Whether a connection is for its caller; to watch is a matter of its own."""
    if scope["type"] == "websocket" and place(scope) == WATCH:
        return watches(scope)
    return scope[STANDING] not in (Standing.NOBODY, Standing.WATCHER)


def _out_of_subprotocols(scope: Scope) -> str:
    """The `Authorization` that a WebSocket's subprotocols carry, taken out of them.

    From then on it is one of the headers, after the one that there may be.
    """
    offered: list[str] = scope.get("subprotocols", [])
    shown = [offer.removeprefix(BEARER) for offer in offered if offer.startswith(BEARER)]
    if not shown:
        return ""
    scope["subprotocols"] = [offer for offer in offered if not offer.startswith(BEARER)]
    try:
        token = base64.urlsafe_b64decode(shown[0] + "=" * (-len(shown[0]) % 4))
    except (binascii.Error, ValueError):
        return ""
    if not _ONE_WORD.fullmatch(token):  # it becomes a header, also to other servers
        return ""
    authorization = b"Bearer " + token
    scope["headers"] = [*scope["headers"], (b"authorization", authorization)]
    return authorization.decode("latin-1")


def is_loopback(host: str) -> bool:
    """Whether a name or address is always this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def hostname(netloc: str) -> str:
    """The name in a `Host` header, or in an origin; empty if there is none."""
    try:
        return urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return ""


def _is_json(content_type: str) -> bool:
    media = content_type.partition(";")[0].strip().lower()
    return media == "application/json" or media.endswith("+json")


def answer(status: int, code: str, message: str) -> JSONResponse:
    """An error over HTTP, in the form of all of this server's."""
    return JSONResponse({"detail": message, "code": code, "message": message}, status)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives a body that was read already, then what follows it."""
    pending: list[Event] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_event() -> Event:
        return pending.pop() if pending else await receive()

    return next_event


async def _refuse_origin(scope: Scope, receive: Receive, send: Send, origin: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": "origin not allowed"})
        return
    problem = f"pages of {origin} may not call this server (OPENENV_ALLOWED_ORIGINS names who may)"
    await answer(403, "UNAUTHORIZED", problem)(scope, receive, send)


async def refuse(
    scope: Scope, receive: Receive, send: Send, refusal: Response, reason: str
) -> None:
    """Answers a request, or a handshake: in words where the server can, else by its end.

    Args:
        scope: the ASGI connection.
        receive: of it.
        send: of it.
        refusal: the answer.
        reason: the same in a few words.
    """
    if scope["type"] == "websocket" and DENIAL not in scope.get("extensions", {}):
        return await send({"type": "websocket.close", "code": 1008, "reason": reason})
    return await refusal(scope, receive, send)


async def refuse_control(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuses a caller who may not control episodes; arguments as of `refuse`."""
    shows_none = not any(name == b"authorization" for name, _ in scope["headers"])
    error = control_closed()
    refusal = answer(401 if shows_none else 403, error.code, error.message)
    await refuse(scope, receive, send, refusal, "no control token")


async def refuse_watching(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuses a caller who may not watch; arguments as of `refuse`."""
    await refuse(scope, receive, send, answer(401, "UNAUTHORIZED", _NO_WATCHING), "no watch token")


async def _ask_for_token(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuses with 401 before anything is built; a bare sign of life is for everybody."""
    if scope["type"] == "http" and scope["method"] == "GET" and scope["path"].endswith("/health"):
        return await JSONResponse({"status": "healthy"})(scope, receive, send)
    refusal = answer(401, "UNAUTHORIZED", _lacking(scope))
    refusal.headers["WWW-Authenticate"] = "Bearer"
    return await refuse(scope, receive, send, refusal, "no token")


def _lacking(scope: Scope) -> str:
    if place(scope) == WATCH:
        return _NO_WATCHING
    if scope[STANDING] is Standing.WATCHER:
        return "the watch token opens web/watch and nothing else; call with another token or none"
    return (
        "this server asks for its token (OPENENV_TOKEN), and the call has none or another; send "
        "the header Authorization: Bearer TOKEN (a client does if OPENENV_CLIENT_TOKEN is set)"
    )
