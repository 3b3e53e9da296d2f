"""`config.json`: what the page is told of the server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from openenv._version import __version__
from openenv.server.web.chat import is_chat
from openenv.server.web.names import import_names
from openenv.server.web.options import Served, WebOptions
from openenv.server.web.resets import reset_schema


class Configuration:
    """Tells it once, and builds no environment for it.

    Args:
        served: the server.
        options: what the author says of the page.
    """

    def __init__(self, served: Served, options: WebOptions) -> None:
        self._served = served
        self._options = options
        self._told: dict[str, Any] | None = None

    async def read(self) -> Mapping[str, Any]:
        """What `config.json` holds."""
        if self._told is None:
            self._told = await asyncio.to_thread(self._read)
        return self._told

    def _read(self) -> dict[str, Any]:
        spec, authority = self._served.spec, self._served.authority
        return {
            "version": __version__,
            "mode": authority.mode.value,
            "watch": authority.watch_token is not None,
            "needs_token": authority.needs_token,
            "target": None,
            "custom": _custom(self._options),
            "reset": reset_schema(spec.made),
            "python": import_names(spec),
            "tools": spec.traits.has_tools,
            "chat": is_chat(spec),
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
