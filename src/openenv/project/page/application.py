"""The page and what it asks, as one application on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.routing import Route, Router, WebSocketRoute

from openenv.client.endpoint import Endpoint
from openenv.project.page.relay import Elsewhere, Relay, Unreachable
from openenv.project.page.shown import Shown
from openenv.project.page.sockets import SocketRelay
from openenv.project.page.told import believed
from openenv.runtime.limits import Limits
from openenv.server.asgi import App, Receive, Scope, Send
from openenv.server.authority import Authority
from openenv.server.guard import WATCH, Guard, answer, hostname, is_loopback, refuse
from openenv.server.web.page import CONFIG, ROOT, Page

LOOKED_AT = ("/health", "/metadata", "/schema")
"""What the page reads."""
TALKED = ("/ws", WATCH)
"""Where it talks."""


def application(endpoint: Endpoint, *, local: bool, key: str | None = None) -> App:
    """The page for a server elsewhere.

    Args:
        endpoint: the server, and the token that it is shown.
        local: only this machine's users may call, under one of its own names: others' pages could
            have a name of theirs point here, and act with the token.
        key: what callers show who act with the client's token; without one all may.
    """
    shown = Shown(key)
    elsewhere = Elsewhere(endpoint)
    page = Page(Told(elsewhere).config)
    router = Router(
        [
            *(Route(path, Relay(elsewhere, path, shown), methods=["GET"]) for path in LOOKED_AT),
            Route("/mcp", Relay(elsewhere, "/mcp", shown), methods=["POST"]),
            *(
                WebSocketRoute(path, SocketRelay(replace(endpoint, path=path), shown))
                for path in TALKED
            ),
        ],
        redirect_slashes=False,
    )
    router.default = page.before(router.default)
    guarded = Guard(
        router,
        allowed_origins=frozenset(),
        max_body_bytes=Limits().max_message_bytes,
        authority=_DecidedElsewhere(),
    )
    return _named_as_here(guarded) if local else guarded


class _DecidedElsewhere(Authority):
    """Who may do what, the server elsewhere says."""

    def may_watch(self, authorization: str) -> bool:
        return True


def _named_as_here(app: App) -> App:
    """Refuses who calls this machine by a name that others could give it."""

    async def named(scope: Scope, receive: Receive, send: Send) -> None:
        host = "" if scope["type"] == "lifespan" else Headers(scope=scope).get("host", "")
        if scope["type"] == "lifespan" or is_loopback(hostname(host)):
            return await app(scope, receive, send)
        problem = f"this page is at a name of this machine such as localhost, not at {host!r}"
        refusal = answer(403, "UNAUTHORIZED", problem)
        return await refuse(scope, receive, send, refusal, "not this machine's name")

    return named


class Told:
    """What the page is told of a server elsewhere.

    Args:
        elsewhere: the server.
    """

    def __init__(self, elsewhere: Elsewhere) -> None:
        self._elsewhere = elsewhere

    async def config(self) -> Mapping[str, Any]:
        """What `config.json` holds: what the server says, if it has a page; else what any can."""
        at = self._elsewhere.endpoint
        told = await self._asked()
        shown = any(name.lower() == "authorization" for name in at.headers)
        return {
            **told,
            "needs_token": told["needs_token"] and not shown,
            "target": at.base_url,
            "custom": None,
        }

    async def _asked(self) -> dict[str, Any]:
        try:
            said = await self._elsewhere.ask(ROOT + CONFIG)
            told = from_json(said.body) if said.status == 200 else None
        except (Unreachable, ValueError):  # which all else that the page asks will tell
            return believed(None)
        return believed({"needs_token": True} if said.status == 401 else told)
