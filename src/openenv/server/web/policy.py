"""What a browser may do on the page: nothing but what the page itself needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

FRAME = "frame.html"
_EMBEDDERS = ("'self'", "https://huggingface.co", "https://*.hf.space")
_HOST = re.compile(r"[A-Za-z0-9.\-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.*\-\[\]:]+|\*")


def headers_of(name: str, asked: Mapping[str, str], allowed: Iterable[str]) -> dict[str, str]:
    """The security headers of one of the page's files.

    Args:
        name: the file's name.
        asked: the request's headers, names in lower case.
        allowed: other origins that may show the page, besides Hugging Face's.
    """
    embedders = " ".join([*_EMBEDDERS, *sorted(o for o in allowed if _ORIGIN.fullmatch(o))])
    rules = _FRAME_RULES if name == FRAME else [*_PAGE_RULES, f"connect-src {_own(asked)}"]
    return {
        "Content-Security-Policy": "; ".join([*rules, f"frame-ancestors {embedders}"]),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }


_PAGE_RULES = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
]
_FRAME_RULES = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "sandbox allow-scripts",
]
"""The frame shows what an environment made: also by itself it has no origin to act for."""


def _own(asked: Mapping[str, str]) -> str:
    """The server itself; some browsers do not count its WebSockets to `'self'`."""
    hosts = {asked.get(name, "") for name in ("host", "x-forwarded-host")}
    own = sorted(host for host in hosts if _HOST.fullmatch(host))
    return " ".join(["'self'", *(f"{scheme}://{host}" for host in own for scheme in ("ws", "wss"))])
