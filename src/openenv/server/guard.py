"""Guard: what is refused before anything else looks at it."""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.responses import JSONResponse

from openenv.server.asgi import App, Event, Receive, Scope, Send

DENIAL = "websocket.http.response"
"""The ASGI extension by which a handshake is refused in words."""


class Guard:
    """Refuses pages of other web sites, callers without the token, and bodies that are no JSON.

    Only browsers send `Origin`, so clients and trainers never notice the first. A page may call
    the server that it came from; other origins must be named. Where a token is asked for, every
    endpoint asks for it; `/health` says only that the server lives to those who have none, for
    the probes of container engines and clusters.

    Args:
        app: the application behind it.
        allowed_origins: origins such as `https://example.org` that may call; `*` is any.
        max_body_bytes: the largest HTTP body; larger ones are refused.
        token: what callers must show, as `Authorization: Bearer TOKEN`; `None` asks for nothing.
    """

    def __init__(
        self,
        app: App,
        *,
        allowed_origins: frozenset[str],
        max_body_bytes: int,
        token: str | None = None,
    ) -> None:
        self._app = app
        self._allowed = allowed_origins
        self._max_body = max_body_bytes
        self._expected = None if token is None else f"bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands a connection on, or refuses it."""
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        if not self._may_call(headers, scope.get("server")):
            return await _refuse_origin(scope, receive, send, headers["origin"])
        if not self._has_token(headers):
            return await _ask_for_token(scope, receive, send)
        if scope["type"] == "http" and scope["method"] in ("POST", "PUT", "PATCH"):
            return await self._with_body(scope, receive, send, headers)
        return await self._app(scope, receive, send)

    def _may_call(self, headers: dict[str, str], server: tuple[str, int] | None) -> bool:
        origin = headers.get("origin")
        if origin is None or "*" in self._allowed or origin in self._allowed:
            return True
        host = origin.partition("://")[2]
        if host == "" or host not in (headers.get("host"), headers.get("x-forwarded-host")):
            return False
        # A foreign name can be made to point at this machine, and its pages then look like ours.
        return server is None or not is_loopback(server[0]) or is_loopback(_hostname(host))

    def _has_token(self, headers: dict[str, str]) -> bool:
        if self._expected is None:
            return True
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        given = f"{scheme.lower()} {shown.strip()}".encode("latin-1")
        return hmac.compare_digest(given, self._expected)

    async def _with_body(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]
    ) -> None:
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self._max_body:
            return await self._too_large(int(length))(scope, receive, send)
        has_body = length not in ("", "0") or "transfer-encoding" in headers
        if has_body and not _is_json(content_type := headers.get("content-type", "")):
            problem = f"the body must be application/json, got {content_type or 'no content type'}"
            return await _answer(415, "VALIDATION_ERROR", problem)(scope, receive, send)
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
        return _answer(
            413,
            "MESSAGE_TOO_LARGE",
            f"the body has {size} bytes, this server reads at most {self._max_body} "
            "(OPENENV_MAX_MESSAGE_MB)",
        )


def is_loopback(host: str) -> bool:
    """Whether a name or address is always this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _hostname(netloc: str) -> str:
    try:
        return urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return ""


def _is_json(content_type: str) -> bool:
    media = content_type.partition(";")[0].strip().lower()
    return media == "application/json" or media.endswith("+json")


def _answer(status: int, code: str, message: str) -> JSONResponse:
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
    await _answer(403, "UNAUTHORIZED", problem)(scope, receive, send)


async def _ask_for_token(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuses with 401 before anything is built; a bare sign of life is for everybody."""
    if scope["type"] == "http" and scope["method"] == "GET" and scope["path"].endswith("/health"):
        return await JSONResponse({"status": "healthy"})(scope, receive, send)
    if scope["type"] == "websocket" and DENIAL not in scope.get("extensions", {}):
        return await send({"type": "websocket.close", "code": 1008, "reason": "no token"})
    problem = (
        "this server asks for its token (OPENENV_TOKEN), and the call has none or another; send "
        "the header Authorization: Bearer TOKEN (a client does if OPENENV_CLIENT_TOKEN is set)"
    )
    refusal = _answer(401, "UNAUTHORIZED", problem)
    refusal.headers["WWW-Authenticate"] = "Bearer"
    return await refusal(scope, receive, send)
