"""One POST, and the lines of its answer as they come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from openenv.harness.agents.errors import HarnessError


@dataclass
class Answer:
    """The beginning of an answer, and where the rest comes from.

    Attributes:
        status: the HTTP status.
        kind: its content type, without parameters.
        body: the rest.
    """

    status: int
    kind: str
    body: asyncio.StreamReader


@asynccontextmanager
async def posted(
    url: str, body: Any, headers: Mapping[str, str], max_line_bytes: int
) -> AsyncIterator[Answer]:
    """Sends JSON; the connection is closed when the block ends.

    By HTTP/1.0, so that an answer is just what comes until the connection ends.

    Args:
        url: of a server on this machine.
        body: what is sent.
        headers: sent along.
        max_line_bytes: the longest line of the answer.

    Raises:
        HarnessError: what comes is no answer.
        OSError: there is no connection.
    """
    address = urlsplit(url)
    content = json.dumps(body).encode()
    lines = [
        f"POST {address.path or '/'} HTTP/1.0",
        f"Host: {address.netloc}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    reader, writer = await asyncio.open_connection(
        address.hostname, address.port, limit=max_line_bytes
    )
    try:
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        await writer.drain()
        yield await _answer(reader)
    finally:
        writer.close()


async def _answer(reader: asyncio.StreamReader) -> Answer:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split()[1])
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, IndexError):
        raise HarnessError("the agent's answer is no HTTP") from None
    fields = dict(line.lower().partition(":")[::2] for line in head[1:])
    return Answer(status, fields.get("content-type", "").partition(";")[0].strip(), reader)
