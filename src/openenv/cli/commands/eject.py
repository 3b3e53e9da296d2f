"""`openenv eject`: a one-file environment becomes a package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def eject(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="The environment's file, or the folder it is in.")
    ],
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The package's name; the file's by default."),
    ] = None,
    output_dir: Annotated[
        Path, typer.Option("--output-dir", "-o", help="The folder that it is made in.")
    ] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print what was made as JSON.")] = False,
) -> None:
    """Make a package of a one-file environment; the file stays as it is."""
    from openenv.cli.output import answer, next_steps, say
    from openenv.project.eject import eject as make_package
    from openenv.project.scaffold import files_of

    made = make_package(source, name, output_dir)
    paths = files_of(made.path)
    for note in made.notes:
        say(f"Note: {note}")
    answer(
        {
            "name": made.name.module,
            "path": str(made.path.resolve()),
            "files": paths,
            "notes": made.notes,
        },
        as_json,
        [f"Made {made.path}/ ({len(paths)} files) of {source}, which stays as it is"],
    )
    next_steps(f"cd {made.path}", "openenv serve .", "openenv build .")
