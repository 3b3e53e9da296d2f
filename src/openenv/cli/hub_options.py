"""The options of commands that make Spaces, and secrets that never stand on a command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from openenv.project.hub import SpaceSettings

Private = Annotated[bool, typer.Option("--private", help="Nobody else sees the Space.")]
Hardware = Annotated[
    str | None, typer.Option("--hardware", "-H", help="What the Space runs on, as cpu-basic.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
VARIABLE_HELP = "NAME=VALUE, which everybody can read. Repeatable."
SECRET_HELP = (
    "NAME, whose value is asked for or read from stdin; or NAME=VALUE, which others on this "
    "machine can see. Repeatable."
)


def space_settings(
    private: bool,
    hardware: str | None,
    variables: Sequence[str] | None,
    secrets: Sequence[str] | None,
    *,
    variable_option: str = "--env-var",
) -> SpaceSettings:
    """What a Space is given, of the options' texts.

    Args:
        private: nobody else sees it.
        hardware: what it runs on.
        variables: `NAME=VALUE` texts.
        secrets: likewise, or names whose values are asked for.
        variable_option: how the command calls the option of the variables.

    Raises:
        UsageProblem: a text is no NAME=VALUE.
    """
    from openenv.project.hub import SpaceSettings
    from openenv.project.push import pairs

    given = [text if "=" in text else f"{text}={_asked(text)}" for text in secrets or ()]
    return SpaceSettings(
        private=private,
        hardware=hardware,
        variables=pairs(variables or (), variable_option),
        secrets=pairs(given, "--secret"),
    )


def _asked(name: str) -> str:
    """A secret's value: asked for without an echo, or the next line of what is piped in."""
    from openenv.project.errors import UsageProblem

    if sys.stdin.isatty():
        value: str = typer.prompt(f"Value of {name}", hide_input=True, err=True)
        return value
    value = sys.stdin.readline().rstrip("\r\n")
    if not value:
        raise UsageProblem(f"--secret {name} has no value; pipe one in, a line for each secret")
    return value
