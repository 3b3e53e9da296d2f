"""`config.json`: what the page is told of the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openenv import _version
from openenv.server.web.options import Served, WebOptions


class Configuration:
    """Tells it once, and builds no environment for it.

    Args:
        served: the server.
        options: what the author says of the page.
    """

    def __init__(self, served: Served, options: WebOptions) -> None:
        self._served = served
        self._options = options

    async def read(self) -> Mapping[str, Any]:
        """What `config.json` holds."""
        authority = self._served.authority
        return {
            "version": _version.__version__,
            "mode": authority.mode.value,
            "watch": authority.watch_token is not None,
            "needs_token": authority.needs_token,
            "target": None,
            "custom": _custom(self._options),
            "reset": None,
            "python": None,
            "chat": False,
        }


def _custom(options: WebOptions) -> dict[str, Any] | None:
    if options.builder is None:
        return None
    return {
        "name": options.tab_name,
        "path": "custom/",
        "primary": options.tab_primary,
        "only": not options.default_tab,
    }
