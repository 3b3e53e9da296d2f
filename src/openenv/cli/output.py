"""What a command says, and the codes that it ends with: answers on stdout, the rest on stderr."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

_NARROWEST = 20
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Exit(IntEnum):
    """The exit codes of every command.

    Attributes:
        OK: it did what was asked.
        FAILED: it could not; the text on stderr says why, and what to do.
        USAGE: it was asked wrongly: an option or a name.
        INTERNAL: `validate` was asked for a level or a policy that there is not.
        INTERRUPTED: Ctrl-C.
    """

    OK = 0
    FAILED = 1
    USAGE = 2
    INTERNAL = 3
    INTERRUPTED = 130


def say(text: str) -> None:
    """A line for people."""
    _write(sys.stderr, f"{text}\n")


def answer(value: Any, as_json: bool, lines: Iterable[str]) -> None:
    """What was asked for, on stdout.

    Args:
        value: the answer as JSON takes it.
        as_json: whether programs read it.
        lines: the same for people.
    """
    text = json.dumps(value, indent=2, default=str) if as_json else "\n".join(lines)
    _write(sys.stdout, f"{text}\n" if text else "")


def next_steps(*commands: str) -> None:
    """The commands that one would type now."""
    say("\nNext:")
    for command in commands:
        say(f"  {command}")


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], columns: int | None = None
) -> list[str]:
    """Aligned lines, the headers first.

    Args:
        headers: what stands above the columns.
        rows: the cells.
        columns: how wide a line may be: the last cells are wrapped to it; `None` is any width.
    """
    cells = [list(headers), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headers))]
    if columns is not None:
        widths[-1] = max(columns - sum(widths[:-1]) - 2 * len(widths[:-1]), _NARROWEST)
        cells = [line for row in cells for line in _wrapped(row, widths[-1])]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def _wrapped(row: list[str], width: int) -> Iterator[list[str]]:
    """A row whose last cell goes on below itself."""
    *first, last = row
    for line in textwrap.wrap(last, width) or [""]:
        yield [*first, line]
        first = [""] * len(first)


def width() -> int | None:
    """How wide the terminal is that answers are shown on; `None` if they go elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


@contextmanager
def step(title: str) -> Iterator[None]:
    """Shows that something long is under way, and how long it took.

    On a terminal it is a spinner with the seconds; elsewhere a line before and one after.
    """
    began = time.monotonic()
    if sys.stderr.isatty():
        with _spinner(title):
            yield
    else:
        say(f"{title} …")
        yield
    say(f"  {title}: done in {time.monotonic() - began:.1f} s")


@contextmanager
def _spinner(title: str) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    described = TextColumn("{task.description}", markup=False)  # an address has brackets, too
    columns = (SpinnerColumn("line"), described, TimeElapsedColumn())  # in every encoding
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(title, total=None)
        yield


def _write(stream: Any, text: str) -> None:
    """Writes whatever the console's encoding: what it lacks becomes a question mark.

    So do the characters that steer a terminal: a server's description may hold them.
    """
    encoding = getattr(stream, "encoding", None) or "utf-8"
    plain = _STEERING.sub("?", text)
    stream.write(plain.encode(encoding, "replace").decode(encoding))
    stream.flush()
