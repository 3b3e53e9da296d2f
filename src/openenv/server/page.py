"""What a browser sees at `/` and `/web` where an application has nothing else there."""

from __future__ import annotations

from html import escape

from starlette.responses import HTMLResponse

from openenv.protocol.errors import SessionError
from openenv.server.asgi import App, Receive, Scope, Send
from openenv.server.info import Card

_PATHS = ("/", "/web")
_LINKS = ("/docs", "/health", "/schema", "/metadata")


class Page:
    """Answers `GET` there with what the environment is; everything else goes on.

    Args:
        otherwise: what answers where no route does.
        card: the environment's; where it cannot be read, the page has its name alone.
    """

    def __init__(self, otherwise: App, card: Card) -> None:
        self._otherwise = otherwise
        self._card = card

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a connection that no route is for."""
        root = scope.get("root_path", "")
        at = scope["path"].removeprefix(root)
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or at not in _PATHS:
            return await self._otherwise(scope, receive, send)
        try:
            told = await self._card.read()
            text = _html(told.name, told.description, root)
        except SessionError:  # /metadata tells what is wrong
            text = _html(self._card.name, "", root)
        await HTMLResponse(text)(scope, receive, send)
        return None


def _html(name: str, description: str, root: str) -> str:
    links = "".join(f'<li><a href="{escape(root)}{path}">{path}</a></li>' for path in _LINKS)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{escape(name)}</title><h1>{escape(name)}</h1><p>{escape(description)}</p>"
        f"<ul>{links}</ul></html>\n"
    )
