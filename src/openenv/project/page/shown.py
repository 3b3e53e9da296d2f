"""What a server elsewhere is shown: the client's token, or the caller's own."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field, replace

from starlette.datastructures import Headers

from openenv.client.endpoint import Endpoint
from openenv.server.asgi import Scope


@dataclass(frozen=True)
class Shown:
    """Decides it, caller by caller.

    Attributes:
        key: what callers show, as a bearer's token, who act with the client's; without a key, all
            do who show no token of their own.
    """

    key: str | None = field(default=None, repr=False)

    def by(self, scope: Scope, endpoint: Endpoint) -> Endpoint:
        """The server as a caller may see it.

        Args:
            scope: the caller's connection. Only a bearer's token counts.
            endpoint: the server, with the client's token.
        """
        token = _token(scope)
        if token is None and self.key is None:
            return endpoint
        if token is not None and self.key is not None and _same(token, self.key):
            return endpoint
        headers = {k: v for k, v in endpoint.headers.items() if k.lower() != "authorization"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return replace(endpoint, headers=headers)


def _token(scope: Scope) -> str | None:
    for shown in Headers(scope=scope).getlist("authorization"):
        scheme, _, token = shown.partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            return token.strip()
    return None


def _same(token: str, key: str) -> bool:
    return hmac.compare_digest(token.encode("latin-1"), key.encode())
