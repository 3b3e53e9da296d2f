"""What a browser may do on the page: nothing but what the page itself needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

FRAME = "frame.html"
SPACES = "https://huggingface.co"
"""Whose pages show Spaces in a frame."""
_HOST = re.compile(r"[A-Za-z0-9.\-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.*\-\[\]:]+|\*")


def headers_of(name: str, asked: Mapping[str, str], others: Iterable[str]) -> dict[str, str]:
    """The security headers of one of the page's files.

    Args:
        name: the file's name.
        asked: the request's headers, names in lower case.
        others: origins whose pages may show it in a frame.
    """
    embedders = " ".join(["'self'", *sorted(o for o in others if _ORIGIN.fullmatch(o))])
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
    """The server itself; some browsers do not count its WebSockets to `'self'`.

    A proxy's word for the host does not count: whoever asks can say it, too.
    """
    host = asked.get("host", "")
    return f"'self' ws://{host} wss://{host}" if _HOST.fullmatch(host) else "'self'"
