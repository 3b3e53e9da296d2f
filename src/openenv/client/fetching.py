"""What servers say over plain HTTP, without a session."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from openenv import settings
from openenv._http import opener
from openenv.client.endpoint import Endpoint, normalised
from openenv.protocol.errors import ConnectFailed, Json


def is_available(base_url: str, timeout_s: float = 5.0) -> bool:
    """Whether a server is up: it answers, and calls itself healthy.

    Args:
        base_url: its address.
        timeout_s: how long its answer may take, in seconds.

    Raises:
        ConfigurationError: `base_url` is no address.
    """
    endpoint = Endpoint(
        normalised(base_url), settings.client_headers(None), connect_timeout=timeout_s
    )
    try:
        health = fetched(endpoint, "/health")
    except ConnectFailed:
        return False
    return isinstance(health, dict) and health.get("status") == "healthy"


def fetched(endpoint: Endpoint, path: str) -> Json:
    """What a server says at a path.

    Raises:
        ConnectFailed: it says nothing.
    """
    handlers = urllib.request.ProxyHandler({} if endpoint.is_local else None), Redirects()
    asked = urllib.request.Request(f"{endpoint.base_url}{path}", headers=dict(endpoint.headers))
    try:
        with opener(*handlers).open(asked, timeout=endpoint.connect_timeout) as answer:
            said: Json = json.loads(answer.read(endpoint.max_message_bytes))
            return said
    except urllib.error.HTTPError as error:
        error.close()  # it has the answer's connection
        raise endpoint.failed(f"HTTP {error.code} for {path}", error.code) from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise endpoint.failed(getattr(error, "reason", error)) from error


class Redirects(urllib.request.HTTPRedirectHandler):
    """Follows as `Endpoint.moved` does: never out of TLS; another host gets no headers."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """What is asked of the new place; `None` if it is not to be asked."""
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme not in (old.scheme, "https"):
            return None
        moved = super().redirect_request(req, fp, code, msg, headers, newurl)
        if moved is not None and new[:2] != old[:2]:
            moved.headers.clear()
        return moved
