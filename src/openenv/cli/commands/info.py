"""`openenv info`: what one environment takes and gives, and how to use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from openenv.project.card import Card


def info(
    target: Annotated[
        str,
        typer.Argument(
            metavar="NAME|URL|TARGET",
            help="An installed environment, a server's address or a Space's page, or what "
            "`openenv serve` takes.",
        ),
    ] = ".",
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show what an environment takes and gives, its limits, and how to use it."""
    from openenv.cli.output import answer
    from openenv.project.card import card_of

    card = card_of(target)
    answer(card.to_json(), as_json, _lines(card))


def _lines(card: Card) -> Iterator[str]:
    from openenv.project.card import field_lines, tool_line

    yield f"{card.name} {card.version or ''}".rstrip() + f"  ({card.source})"
    if card.description:
        yield from (f"  {line}".rstrip() for line in card.description.splitlines())
    if card.client:
        yield f"  client: {card.client}"
    for name, value in card.limits.items():
        yield f"  {name}: {_short(value)}"
    for part, schema in card.schemas.items():
        yield ""
        yield f"{part} {schema.get('title', '')}".rstrip()
        lines = list(field_lines(schema))
        yield from (f"  {line}" for line in lines or ["no fields of its own"])
    yield from _part("tools", map(tool_line, card.tools))
    yield from _part("Serve it:", [card.serve] if card.serve else [])
    yield from _part("Use it:", card.usage)
    for problem in card.problems:
        yield ""
        yield f"Problem: {problem}"


def _part(heading: str, lines: Iterable[str]) -> Iterator[str]:
    """Indented lines under a heading; nothing if there are none."""
    for number, line in enumerate(lines):
        if not number:
            yield ""
            yield heading
        yield f"  {line}".rstrip()


def _short(value: Any) -> str:
    """A value in a line; of an object what it has in it."""
    if not isinstance(value, dict):
        return str(value)
    return ", ".join(f"{name} {inner}" for name, inner in value.items() if inner)
