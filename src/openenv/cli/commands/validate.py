"""`openenv validate`: whether an environment keeps its promises."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from openenv.validation.report import Report, Result
    from openenv.validation.target import Target

_MARKS = {"pass": "pass", "warn": "WARN", "fail": "FAIL", "skip": "skip", "error": "ERROR"}
_INDENT = " " * 7


def validate(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            help="A package's directory (the working directory by default), FILE.py, module:Class, "
            "gym:ID, image:NAME, or the URL of a running server or of a Space.",
            show_default=False,
        ),
    ] = None,
    url: Annotated[str | None, typer.Option(help="Validate the running server there.")] = None,
    image: Annotated[str | None, typer.Option(help="Validate a container image.")] = None,
    level: Annotated[
        str,
        typer.Option(help="static looks at files, runtime starts it, semantic starts it twice."),
    ] = "semantic",
    skip_build: Annotated[
        bool,
        typer.Option("--skip-build", help="No image is built in any case; kept for scripts."),
    ] = False,
    local: Annotated[
        bool, typer.Option("--local", help="TARGET must be files, not a running server.")
    ] = False,
    policy: Annotated[
        str | None, typer.Option(help="What may be declared: v1 or v2; the level's by default.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write the report as JSON to this file, too.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that an HTTP request may take; a step has 60.")
    ] = 5.0,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the numbers behind each check.")
    ] = False,
) -> None:
    """Check an environment: its files, then itself, started and played."""
    from openenv import settings
    from openenv.cli.output import Exit, answer, next_steps, step
    from openenv.validation.policy import Level
    from openenv.validation.run import validate as run

    chosen = _target(target, url, image, local=local)
    asked = Level.named(level)
    headers = settings.client_headers(None) if chosen.kind == "url" else None
    with step(f"validating {chosen.name}"):
        report = run(
            chosen, asked, policy=policy, timeout_s=timeout, headers=headers, told=_progress
        )
    if output is not None:
        _write(output, report)
    answer(report.to_json(), as_json, _lines(report, verbose=verbose))
    if report.verdict == "fail":
        raise typer.Exit(Exit.FAILED)
    if chosen.kind == "package":
        place = shlex.quote(chosen.name)
        next_steps(f"openenv build {place}", f"openenv push {place}")


def _progress(check: str) -> None:
    """Where no spinner turns, a line for each check: one may take long."""
    from openenv.cli.output import say

    if not sys.stderr.isatty():
        say(f"  {check}")


def _target(target: str | None, url: str | None, image: str | None, *, local: bool) -> Target:
    """The one target that was named.

    Raises:
        ProjectError: several were, or `--local` goes with none that is local.
        UsageProblem: it is nothing that can be validated.
    """
    from openenv.project.errors import ProjectError
    from openenv.validation.target import Target

    named = [name for name in (target, url, image) if name is not None]
    if len(named) > 1:
        raise ProjectError(
            f"one thing at a time: {', '.join(named)} were named; leave out all but one"
        )
    if url is not None:
        chosen = Target.at_url(url)
    elif image is not None:
        chosen = Target.of_image(image)
    else:
        chosen = Target.named(target or ".")
    if local and chosen.kind == "url":
        raise ProjectError(f"{chosen.name} is a running server; leave out --local to validate it")
    return chosen


def _write(path: Path, report: Report) -> None:
    from openenv.project.errors import ProjectError

    try:
        path.write_text(
            json.dumps(report.to_json(), indent=2, default=str) + "\n", encoding="utf-8"
        )
    except OSError as error:
        raise ProjectError(f"the report cannot be written to {path}: {error.strerror}") from error


def _lines(report: Report, *, verbose: bool) -> Iterator[str]:
    """The report for people."""
    yield f"{report.target} ({report.signature}, policy {report.policy.version})"
    yield ""
    for result in report.results:
        if not result.unmet:
            yield from _told(result, verbose=verbose)
    yield from _left_out(report)
    if report.not_applicable:
        yield ""
        yield "Nothing to look at here:"
        for why in dict.fromkeys(report.not_applicable.values()):
            names = [name for name, its in report.not_applicable.items() if its == why]
            yield from _wrapped(f"       {', '.join(names)}: {why}")
    yield ""
    counts = ", ".join(f"{count} {status}" for status, count in report.counts().items())
    yield f"{report.verdict.upper()}: {counts or 'nothing was checked'}"


def _left_out(report: Report) -> list[str]:
    """The checks that did not run, and the ones that they would have needed."""
    left_out = {result.check_id: result.unmet for result in report.results if result.unmet}
    needs = dict.fromkeys(need for unmet in left_out.values() for need in unmet)
    roots = [need for need in needs if need not in left_out]
    text = f"skip   not looked at, since {', '.join(roots)} did not pass: {', '.join(left_out)}"
    return _wrapped(text) if left_out else []


def _told(result: Result, *, verbose: bool) -> Iterator[str]:
    mark = _MARKS[result.status.value]
    first, *others = [*result.finding.evidence, ""]
    yield f"{mark:<6} {result.check_id}: {first}".rstrip(": ")
    yield from (f"{_INDENT}{line}" for line in others if line)
    if verbose and result.finding.measured:
        yield f"{_INDENT}measured: {json.dumps(result.finding.measured, default=str)}"
    if result.remediation and result.status.value != "pass":
        yield from _wrapped(f"{_INDENT}→ {result.remediation}", "  ")


def _wrapped(text: str, more: str = "") -> list[str]:
    """A long line as several, the others under the first one's text."""
    return textwrap.wrap(
        text, 100, subsequent_indent=_INDENT + more, break_long_words=False, break_on_hyphens=False
    )
