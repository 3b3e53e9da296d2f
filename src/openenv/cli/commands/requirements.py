"""`openenv requirements`: a server's requirements file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def requirements(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder that holds pyproject.toml.")
    ] = Path(),
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 if the file is stale.")
    ] = False,
) -> None:
    """Write server/requirements.txt as pyproject.toml says it."""
    from openenv.cli.output import say
    from openenv.project import requirements as file

    if check:
        file.check(directory)
        say(f"{directory / file.PATH} says what pyproject.toml says.")
    else:
        say(f"Wrote {file.write(directory)}.")
