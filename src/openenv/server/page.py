"""What a browser sees at `/` and `/web` where an application has nothing else there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from html import escape

from starlette.responses import HTMLResponse

from openenv.env.metadata import EnvironmentMetadata
from openenv.protocol.errors import SessionError
from openenv.server.asgi import App, Receive, Scope, Send

_PATHS = ("/", "/web")
_LINKS = ("/docs", "/health", "/schema", "/metadata")


class Page:
    """Answers `GET` there with what the environment is; everything else goes on.

    Args:
        otherwise: what answers where no route does.
        name: the environment's name, if its card cannot be had.
        card: gives its card.
    """

    def __init__(
        self, otherwise: App, name: str, card: Callable[[], Awaitable[EnvironmentMetadata]]
    ) -> None:
        self._otherwise = otherwise
        self._name = name
        self._card = card

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a connection that no route is for."""
        root = scope.get("root_path", "")
        at = scope["path"].removeprefix(root)
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or at not in _PATHS:
            return await self._otherwise(scope, receive, send)
        try:
            card = await self._card()
            text = _html(card.name, card.description, root)
        except SessionError:  # /metadata tells what is wrong
            text = _html(self._name, "", root)
        await HTMLResponse(text)(scope, receive, send)
        return None


def _html(name: str, description: str, root: str) -> str:
    links = "".join(f'<li><a href="{escape(root)}{path}">{path}</a></li>' for path in _LINKS)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{escape(name)}</title><h1>{escape(name)}</h1><p>{escape(description)}</p>"
        f"<ul>{links}</ul></html>\n"
    )
