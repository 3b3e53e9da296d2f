"""`openenv list`: the environments that are installed here."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer


def list_environments(
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """List the environments that are installed here."""
    from openenv.catalog.installed import installed
    from openenv.cli.output import answer, next_steps, say, table, width

    found = list(installed().values())
    rows = [(e.env_key, e.version, e.description) for e in found]
    lines = table(("NAME", "VERSION", "DESCRIPTION"), rows, width()) if found else []
    answer([asdict(environment) for environment in found], as_json, lines)
    for environment in found:
        if environment.problem:
            say(f"{environment.env_key}: {environment.problem}")
    if not found:
        say("No environment is installed here.")
        next_steps("openenv init my_env", "pip install ./my_env")
    elif not as_json:
        next_steps(f"openenv info {found[0].env_key}", f"openenv serve {found[0].package}")
