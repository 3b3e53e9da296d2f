"""What a tool returned, as the blocks of content that MCP's clients show, and as plain data."""

from __future__ import annotations

import base64
from dataclasses import is_dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import from_json

from openenv.protocol.values import encode

Block = dict[str, Any]

_MEDIA: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
)
"""Where in a file which bytes tell of what kind it is."""
BLOB_URI = "openenv://result"
"""What bytes of no known kind are called."""


def rendered(value: object) -> dict[str, Any]:
    """A tool's result on the wire.

    Args:
        value: anything with a wire form: plain values, models, dataclasses, numpy arrays, bytes,
            or a list in which bytes stand for pictures and sounds.

    Returns:
        `content`, MCP's blocks; `structured_content`, an object or None; `data`, the plain value;
        `meta`, None; and `is_error`, False.

    Raises:
        EnvironmentFailed: it has no wire form; the text names what.
    """
    plain = value if value is None or type(value) in (str, bool, int) else from_json(encode(value))
    return {
        "content": _blocks(value, plain),
        "structured_content": _structured(value, plain),
        "meta": None,
        "data": plain,
        "is_error": False,
    }


class PlainResult(NamedTuple):
    """What a tool's result comes down to.

    Attributes:
        value: plain data; `None` where there is none, or the tool failed.
        error: why the tool failed, in its own words; `None` if it did not.
    """

    value: Any
    error: str | None = None


def plain_result(result: Any) -> PlainResult:
    """What a tool's result on the wire comes down to: `rendered`, or as MCP's servers say it.

    That is its data, else its structured content, else its text, else its blocks of content. What
    is no result on the wire is plain itself.
    """
    if not isinstance(result, dict) or "content" not in result:
        return PlainResult(result)
    said = _said(result["content"])
    if result.get("is_error") or result.get("isError"):
        why = said if isinstance(said, str) else encode(said).decode()
        return PlainResult(None, why if said else "it did not say why")
    data = result.get("data")
    structured = result.get("structured_content", result.get("structuredContent"))
    if data is not None or structured == {"result": None}:
        return PlainResult(data)
    return PlainResult(said if structured is None else structured)


def _said(content: Any) -> Any:
    """The text of content that is nothing else; else its blocks, `None` if there are none."""
    blocks = content if isinstance(content, list) else []
    texts = [each["text"] for each in blocks if isinstance(each, dict) and _is_text(each)]
    return "\n".join(texts) if texts and len(texts) == len(blocks) else content or None


def _is_text(block: Block) -> bool:
    return block.get("type") == "text" and isinstance(block.get("text"), str)


def text_block(text: str) -> Block:
    """A text as a block of content."""
    return {"type": "text", "text": text}


def _blocks(value: object, plain: Any) -> list[Block]:
    if value is None:
        return []
    if isinstance(value, bytes | bytearray):
        return [_media(bytes(value))]
    if isinstance(value, list | tuple) and any(isinstance(part, bytes) for part in value):
        return [block for part, own in zip(value, plain) for block in _blocks(part, own)]  # noqa: B905
    return [text_block(plain if isinstance(plain, str) else encode(plain).decode())]


def _structured(value: object, plain: Any) -> dict[str, Any] | None:
    if value is None or isinstance(value, bytes | bytearray):
        return None
    if isinstance(plain, dict) and (isinstance(value, dict | BaseModel) or is_dataclass(value)):
        return plain
    return {"result": plain}


def _media(content: bytes) -> Block:
    encoded = base64.b64encode(content).decode()
    for start, sign, kind in _MEDIA:
        if content.startswith(sign, start):
            return {"type": kind.partition("/")[0], "data": encoded, "mimeType": kind}
    resource = {"uri": BLOB_URI, "mimeType": "application/octet-stream", "blob": encoded}
    return {"type": "resource", "resource": resource}
