"""The tables of docs/cli.md: every command's options, as the command line itself has them.

`python -m tests.docs.command_page` writes them anew, each between its two comments in the page.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

from typer.main import get_command

from openenv.cli.__main__ import app
from tests.docs.blocks import ROOT

PAGE = ROOT / "docs/cli.md"
_TABLE = re.compile(r"<!-- options: (?P<name>[\w ]+) -->\n(?P<table>.*?)<!-- end -->\n", re.DOTALL)


def commands() -> dict[str, Any]:
    """Every command that does something, by its words."""
    return dict(_commands(get_command(app), ()))


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", {})
    if not inner:
        yield " ".join(words), command
    for name, each in inner.items():
        yield from _commands(each, (*words, name))


def table(command: Any) -> str:
    """The table of a command's arguments and options."""
    hints = get_type_hints(inspect.unwrap(command.callback))
    params = [param for param in command.params if param.name != "help"]
    rows = [_row(param, _choices(hints.get(param.name))) for param in params]
    if not rows:
        return ""
    return "\n".join(["| option | default | meaning |", "| --- | --- | --- |", *rows, ""])


def _choices(hint: Any) -> list[str]:
    """The values that an option takes, if they are listed."""
    if get_origin(hint) is Literal:
        return [f"`{value}`" for value in get_args(hint)]
    return [choice for inner in get_args(hint) for choice in _choices(inner)]


def _row(param: Any, choices: list[str]) -> str:
    listed = f"{', '.join(choices[:-1])} or {choices[-1]}. " if choices else ""
    meaning = (listed + (param.help or "")).replace("|", "\\|").replace("<", "&lt;")
    return f"| {_spelled(param)} | {_default(param)} | {meaning} |"


def _spelled(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{(param.metavar or param.name).upper()}`".replace("|", "\\|")
    return ", ".join(f"`{spelling}`" for spelling in (*param.opts, *param.secondary_opts))


def _default(param: Any) -> str:
    if param.required:
        return "required"
    if isinstance(param.default, bool):
        return "on" if param.default else "off"
    return "–" if param.default is None else f"`{param.default}`"


def shown() -> dict[str, str]:
    """The tables that the page has, by the words of their commands."""
    found = _TABLE.finditer(PAGE.read_text(encoding="utf-8"))
    return {each["name"]: each["table"] for each in found}


def rewrite() -> None:
    """Writes the tables of the page anew."""
    known = commands()

    def anew(found: "re.Match[str]") -> str:
        name = found["name"]
        return f"<!-- options: {name} -->\n{table(known[name])}<!-- end -->\n"

    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_TABLE.sub(anew, page), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
