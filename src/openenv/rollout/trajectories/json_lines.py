"""Files of JSON objects, one a line: appended whole or not at all, mended after a kill."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

LONGEST_LINE = 1 << 29
"""In bytes; a longer line is read no further."""
_CHUNK = 65536


class LineTooLong(ValueError):
    """A line is longer than any that is read."""


def append(file: BinaryIO, lines: Sequence[bytes], path: Path) -> None:
    """Appends lines: all of them, or nothing.

    Args:
        file: open for appending, without a buffer.
        lines: without their ends.
        path: of the file, for the error.

    Raises:
        OSError: they could not be written.
    """
    whole = b"".join(line + b"\n" for line in lines)
    before = os.fstat(file.fileno()).st_size
    written = 0
    try:
        while written < len(whole):
            taken = file.write(whole[written:])
            if not taken:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            written += taken
    except OSError as error:
        os.ftruncate(file.fileno(), before)
        raise OSError(error.errno, error.strerror, str(path)) from error


def mend(path: Path, beginning: bytes) -> None:
    """Takes away a last line that a killed writer left unfinished; ends one that is whole.

    Args:
        path: the file; nothing is done if there is none.
        beginning: what every line begins with; a last line that does not is left as it is.
    """
    if not path.exists():
        return
    with path.open("r+b") as file:
        last = unfinished(file)
        if is_cut_off(last, beginning):
            file.truncate(file.seek(0, os.SEEK_END) - len(last))
        elif last.startswith(beginning):
            file.write(b"\n")


def is_cut_off(line: bytes, beginning: bytes) -> bool:
    """Whether a line is the beginning of an object, and no more."""
    begins = line.startswith(beginning) or beginning.startswith(line)
    if not line or line.endswith(b"\n") or not begins:
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


def numbered_lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, with their numbers from 1.

    Raises:
        LineTooLong: one is longer than `LONGEST_LINE`.
    """
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            raise LineTooLong(f"line {number} is longer than {LONGEST_LINE} bytes")
        if line.strip():
            yield number, line


def unfinished(file: BinaryIO) -> bytes:
    """What a file has after its last line's end."""
    parts: list[bytes] = []
    position = file.seek(0, os.SEEK_END)
    while position > 0:
        size = min(_CHUNK, position)
        position -= size
        file.seek(position)
        _, end, after = file.read(size).rpartition(b"\n")
        parts.append(after)
        if end:
            break
    return b"".join(reversed(parts))
