"""`openenv doctor`: what this machine can do, and how to get the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from openenv.project.doctor import Finding


def doctor(
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Exit with 1 if this is missing; can be given several times."
        ),
    ] = None,
    cleanup: Annotated[
        bool,
        typer.Option("--cleanup", help="First remove the containers that killed programs left."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show each feature and version.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Show what this machine can do: sandboxes, containers, clusters, tools, logins."""
    from dataclasses import asdict

    from openenv.cli.output import Exit, answer, say, step
    from openenv.project import doctor as project
    from openenv.project.errors import UsageProblem

    required = require or []
    if unknown := sorted(set(required) - set(project.CHECKS)):
        raise UsageProblem(
            f"there is no {', '.join(unknown)} to require; there are {', '.join(project.CHECKS)}"
        )
    if cleanup:
        for removed in project.cleanup():
            say(f"removed {removed}")
    with step("looking at this machine"):
        findings = project.examine()
    answer(
        {name: asdict(finding) for name, finding in findings.items()},
        as_json,
        _lines(findings, verbose=verbose),
    )
    missing = [name for name in required if findings[name].state == "missing"]
    if missing:
        say(f"\nMissing: {', '.join(missing)}")
        raise typer.Exit(Exit.FAILED)


def _lines(findings: Mapping[str, Finding], *, verbose: bool) -> Iterator[str]:
    width = max(map(len, findings))
    for name, finding in findings.items():
        yield f"{finding.state:<7}  {name:<{width}}  {finding.found}"
        indent = " " * (width + 11)
        if finding.advice:
            yield f"{indent}→ {finding.advice}"
        if verbose:
            yield from (f"{indent}{key}: {value}" for key, value in finding.details.items())
