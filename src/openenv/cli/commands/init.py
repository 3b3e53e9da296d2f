"""`openenv init`: a new environment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A Python identifier, as my_env.")],
    output_dir: Annotated[
        Path, typer.Option("--output-dir", "-o", help="The folder that it is made in.")
    ] = Path(),
    minimal: Annotated[
        bool, typer.Option("--minimal", help="One file; openenv eject makes a package of it.")
    ] = False,
    lock: Annotated[
        bool, typer.Option("--lock", help="Write uv.lock too; takes uv and a package index.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was made as JSON.")] = False,
) -> None:
    """Make a new environment: a package that works at once, or one file."""
    from openenv.cli.output import answer, next_steps, say
    from openenv.project.errors import UsageProblem
    from openenv.project.names import named
    from openenv.project.scaffold import create, files_of

    if minimal and lock:
        raise UsageProblem("--lock is for packages, and --minimal makes one file; leave one out")
    chosen = named(name)
    made = create(chosen, output_dir, minimal=minimal)
    if lock:
        _lock(made)
    paths = files_of(made)
    answer(
        {"name": chosen.module, "path": str(made.resolve()), "files": paths},
        as_json,
        [f"Made {made}{'' if minimal else f'/ ({len(paths)} files)'}"],
    )
    if minimal:
        next_steps(f"openenv serve {made}", f"openenv eject {made}    # makes a package of it")
    else:
        say(f"What happens is in {made / 'server' / f'{chosen.module}_environment.py'}.")
        next_steps(
            f"cd {made}",
            "openenv serve .                          # and play, as README.md shows",
            'pip install -e ".[dev]" && pytest        # test it',
            "openenv build .                          # pack it",
        )


def _lock(project: Path) -> None:
    from openenv.cli.output import say, step
    from openenv.project.locking import lock
    from openenv.protocol.errors import OpenEnvError

    try:
        with step("uv lock"):
            lock(project)
    except OpenEnvError as error:
        say(f"Warning: no uv.lock was written: {error}")
