"""The revisions of the Model Context Protocol, and what a request's headers say of it."""

from __future__ import annotations

from collections.abc import Mapping

from openenv.protocol.errors import Json
from openenv.protocol.jsonrpc import JsonRpcErrorCode, RpcRefusal

WITH_SESSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions that begin with `initialize`, oldest first."""
WITHOUT_SESSIONS = ("2026-07-28",)
"""Revisions in which each request stands alone."""
VERSION, SESSION, METHOD, NAME = (
    "mcp-protocol-version",
    "mcp-session-id",
    "mcp-method",
    "mcp-name",
)
UNSUPPORTED_VERSION, HEADER_MISMATCH = -32022, -32020
EVENT_STREAM = "text/event-stream"

Headers = Mapping[str, str]


def agreed(offered: object) -> str:
    """The revision of a session, of what its client offers: that, or our newest.

    Raises:
        RpcRefusal: it offers none.
    """
    if not isinstance(offered, str):
        raise RpcRefusal(
            JsonRpcErrorCode.INVALID_PARAMS,
            "Invalid params: 'protocolVersion' is required: the client's newest, as text",
        )
    return offered if offered in WITH_SESSIONS else WITH_SESSIONS[-1]


def speaks_mcp(headers: Headers, message: Json) -> bool:
    """Whether a request is MCP's own, and not OpenEnv's convention."""
    return (
        SESSION in headers
        or VERSION in headers
        or accepts_events(headers)
        or message.get("method") == "initialize"
    )


def accepts_events(headers: Headers) -> bool:
    """Whether the answer may be a stream of events."""
    return EVENT_STREAM in headers.get("accept", "").lower()


def stands_alone(headers: Headers) -> bool:
    """Whether a request is of a revision without sessions."""
    return headers.get(VERSION) in WITHOUT_SESSIONS


def check_version(headers: Headers) -> None:
    """Refuses a revision that is not spoken here.

    Raises:
        RpcRefusal: the text names those that are.
    """
    told = headers.get(VERSION)
    if told is None or told in WITH_SESSIONS or told in WITHOUT_SESSIONS:
        return
    raise RpcRefusal(
        UNSUPPORTED_VERSION,
        f"Unsupported protocol version {told[:40]!r} (known: {', '.join(WITH_SESSIONS)})",
        {"supported": list(WITH_SESSIONS), "requested": told},
    )


def check_mirrored(headers: Headers, message: Json) -> None:
    """Refuses a request whose headers say otherwise than its body, where both speak.

    Raises:
        RpcRefusal: proxies would have routed another request than this one.
    """
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    for header, said in ((METHOD, message.get("method")), (NAME, name)):
        shown = headers.get(header)
        if shown is not None and said is not None and shown != said and "=?base64?" not in shown:
            raise RpcRefusal(
                HEADER_MISMATCH,
                f"the header {header} says {shown[:80]!r}, the body {str(said)[:80]!r}",
            )
