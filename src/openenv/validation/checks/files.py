"""Checks of the static level: what a package's files say."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ValidationError

from openenv.catalog.manifest import ManifestError, read_pyproject
from openenv.testing.finding import Finding, Status
from openenv.validation.declared import DeclarationError, normalized, read_declared
from openenv.validation.local import get_deployment_modes, validate_multi_mode_deployment
from openenv.validation.policy import Level
from openenv.validation.registry import Check
from openenv.validation.report import bounds
from openenv.validation.subject import Subject

_EVERYWHERE = re.compile(r"""["'](?:0\.0\.0\.0|::)["']""")


def _has_no_files(subject: Subject) -> str | None:
    return None if subject.target.directory else "only a package's directory has these files"


def _manifest(subject: Subject) -> Finding:
    limits = bounds(subject.policy)
    try:
        manifest, subject.declared = read_declared(subject.directory, subject.policy)
    except DeclarationError as error:
        return Finding(Status.FAIL, tuple(error.faults), {"bounds": limits})
    except ManifestError as error:
        return Finding(Status.FAIL, (str(error),), {"bounds": limits})
    subject.manifest = normalized(manifest, subject.declared)
    seen = "the manifest is valid, and within the policy's bounds"
    if subject.declared is None:
        seen = "the manifest is valid; it has no validation: block, so it promises no reward range"
    return Finding.judged([], seen, {"declares": subject.declared is not None, "bounds": limits})


def _deployment(subject: Subject) -> Finding:
    _, issues = validate_multi_mode_deployment(subject.directory)
    if fault := _unreadable(subject.directory):
        return Finding(Status.FAIL, (fault,), {"issues": issues})
    modes = get_deployment_modes(subject.directory)
    working = ", ".join(name for name, works in modes.items() if works)
    graver = [issue for issue in issues if not issue.startswith("uv.lock")]
    seen = f"it can be started by {working}"
    return Finding.judged(graver, seen, {"modes": modes, "issues": issues}, mild=True)


def _unreadable(directory: Path) -> str | None:
    """Why no tool can read the pyproject.toml that is there."""
    try:
        read_pyproject(directory)
    except ManifestError as error:
        says_too_little = isinstance(error.__cause__, ValidationError)
        return str(error) if error.path.is_file() and not says_too_little else None
    return None


def _public_bind(subject: Subject) -> Finding:
    path = subject.directory / "server" / "app.py"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    faults = [
        f"{path}:{number}: serves every network unless it is told not to, and asks for no token"
        for number, line in enumerate(text.splitlines(), 1)
        if _EVERYWHERE.search(line.partition("#")[0])
    ]
    return Finding.judged(faults, "its app names no public address", mild=True)


CHECKS = (
    Check(
        "static.manifest",
        Level.STATIC,
        "`openenv.yaml` is valid, and its `validation:` block declares what the policy allows.",
        "Correct the line that is named. The block takes reward (range, floor_margin), resources "
        "(cpu, memory_mb, disk_mb, episode_timeout_s), capabilities (verifier) and types (tags).",
        _manifest,
        applies=_has_no_files,
    ),
    Check(
        "static.deployment",
        Level.STATIC,
        "The package can be started in each way: its pyproject.toml has a script `server`, it "
        "depends on OpenEnv, and `server/app.py` has a `main()` that serves.",
        "Do what each line says; `openenv init` shows a package that has all of it.",
        _deployment,
        applies=_has_no_files,
    ),
    Check(
        "static.public_bind",
        Level.STATIC,
        "`server/app.py` does not bind to every network by itself.",
        "Let the host be 127.0.0.1 by default and give --host 0.0.0.0 where the container starts "
        "it; set OPENENV_TOKEN where strangers can reach it.",
        _public_bind,
        applies=_has_no_files,
    ),
)
