"""The page's static files, as they are sent: compressed once, and known again by their tags."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from starlette.responses import Response

STATIC = Path(__file__).parent / "static"
INDEX = "index.html"
_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""As browsers want them, whatever a machine's own list says."""
_COMPRESSED = ("text/", "image/svg", "application/json")


@dataclass(frozen=True)
class Asset:
    """A file as it is sent.

    Attributes:
        media_type: what it is.
        plain: its bytes.
        zipped: the same compressed, where that is worth it.
        tag: a name of this content.
    """

    media_type: str
    plain: bytes
    zipped: bytes | None
    tag: str

    @staticmethod
    def of(content: bytes, media_type: str) -> Asset:
        """An asset with this content."""
        zipped = gzip.compress(content, mtime=0) if media_type.startswith(_COMPRESSED) else None
        if zipped is not None and len(zipped) >= len(content):
            zipped = None
        return Asset(media_type, content, zipped, hashlib.sha256(content).hexdigest()[:20])

    def answer(self, asked: Mapping[str, str]) -> Response:
        """The answer to a request for it.

        Args:
            asked: the request's headers, names in lower case.
        """
        zipped = self.zipped if _takes_gzip(asked.get("accept-encoding", "")) else None
        tag = f'"{self.tag}"' if zipped is None else f'"{self.tag}-gzip"'
        headers = {"ETag": tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if self._is_known(asked.get("if-none-match", "")):
            return Response(status_code=304, headers=headers)
        if zipped is not None:
            headers["Content-Encoding"] = "gzip"
        return Response(zipped or self.plain, headers=headers, media_type=self.media_type)

    def _is_known(self, tags: str) -> bool:
        known = (f'"{self.tag}"', f'"{self.tag}-gzip"', "*")
        return any(tag.strip().removeprefix("W/") in known for tag in tags.split(","))


@lru_cache(maxsize=64)
def asset(name: str) -> Asset:
    """A file of the page, read once.

    Args:
        name: one of `names()`.
    """
    path = STATIC / name
    return Asset.of(path.read_bytes(), _TYPES.get(path.suffix, "application/octet-stream"))


@lru_cache(maxsize=1)
def names() -> frozenset[str]:
    """The files of the page; there is nothing else that a request could reach."""
    return frozenset(path.name for path in STATIC.iterdir() if path.is_file())


def _takes_gzip(accepted: str) -> bool:
    codings = (coding.partition(";") for coding in accepted.lower().split(","))
    return any(name.strip() == "gzip" and q.strip() not in _NEVER for name, _, q in codings)


_NEVER = ("q=0", "q=0.0", "q=0.00", "q=0.000")
