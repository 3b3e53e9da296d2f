"""The page under `/web/`, where an application has nothing else there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from pydantic_core import to_json
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response

from openenv.server.asgi import App, Receive, Scope, Send, place
from openenv.server.web.assets import INDEX, Asset, asset, names
from openenv.server.web.policy import headers_of

ROOT = "/web/"
CONFIG = "config.json"
Configure = Callable[[], Awaitable[Mapping[str, Any]]]


class Page:
    """Answers `GET` and `HEAD` of the page's files; it needs no token, as nothing in it is secret.

    Args:
        configure: tells `config.json`.
        allowed_origins: other origins whose pages may show it in a frame.
    """

    def __init__(self, configure: Configure, allowed_origins: Iterable[str] = ()) -> None:
        self._configure = configure
        self._allowed = tuple(allowed_origins)

    def has(self, scope: Scope) -> bool:
        """Whether a request is for it, or leads to it."""
        return self.has_file(scope) or (_is_read(scope) and place(scope) in ("/", "/web"))

    def has_file(self, scope: Scope) -> bool:
        """Whether a request is for one of its files."""
        return _is_read(scope) and _name(place(scope)) is not None

    def before(self, otherwise: App) -> App:
        """An application that answers with the page, and otherwise as another."""

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            await (self if self.has(scope) else otherwise)(scope, receive, send)

        return application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request for it."""
        name = _name(place(scope))
        answer = _lead_on(scope) if name is None else await self._answer(name, Headers(scope=scope))
        if scope["method"] == "HEAD":
            answer.body = b""
        await answer(scope, receive, send)

    async def _answer(self, name: str, asked: Mapping[str, str]) -> Response:
        found = await (self._told() if name == CONFIG else asyncio.to_thread(asset, name))
        answer = found.answer(asked)
        answer.headers.update(headers_of(name, asked, self._allowed))
        return answer

    async def _told(self) -> Asset:
        told = to_json(await self._configure(), inf_nan_mode="null")  # browsers read no NaN
        return Asset.of(told, "application/json")


def _is_read(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] in ("GET", "HEAD")


def _name(at: str) -> str | None:
    """The file of the page that a path means."""
    name = (at.removeprefix(ROOT) or INDEX) if at.startswith(ROOT) else ""
    return name if name == CONFIG or name in names() else None


def _lead_on(scope: Scope) -> Response:
    """Leads to the page. A proxy may have cut off a prefix, so the way is told from here."""
    query = scope.get("query_string", b"").decode("latin-1")
    return RedirectResponse(f"web/?{query}" if query else "web/", 307)
