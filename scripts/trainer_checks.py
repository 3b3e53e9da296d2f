"""Checks OpenEnv against trainers' own packages, each in a virtual environment of its own.

scripts/integrations [--list] [--drop] [NAME...], where NAME is a folder of tests/integrations/real;
all of them by default. Such a folder has

- `requirements.txt`: what pip installs, seen from the checkout, so `-e .` is OpenEnv itself. A line
  `# python: 3.12` asks for that version; without one, any will do.
- `no-deps.txt`, if there are packages that must come without their dependencies.
- `check.py`: run in the checkout; exit code 0 if all is well. Of what it prints, the lines that
  begin with the folder's name are shown; all of it is in .integrations/NAME.log.

Environments are kept under .integrations and remade when what they are made of changes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer

ROOT = Path(__file__).resolve().parents[1]
CHECKS = ROOT / "tests/integrations/real"
PLACE = ROOT / ".integrations"
LIMIT_S = 3600.0
TAIL = 60
"""How many lines of a failed check are shown."""
ALONE = (
    "HF_HUB_OFFLINE=1",
    "OMP_NUM_THREADS=1",
    f"PYTHONPATH={ROOT}",
    "PYTHONUNBUFFERED=1",
    "TOKENIZERS_PARALLELISM=false",
    "WANDB_MODE=disabled",
)
"""What checks see: no hub, no account, one thread, since a trainer and its servers share two."""


class Failed(Exception):
    """A command failed; the text says which, and how it ended."""


@dataclass
class Outcome:
    """How the check of one tool went.

    Attributes:
        tool: the folder's name.
        problem: what failed; empty if nothing did.
        installed_s: how long making its environment took, in seconds.
        checked_s: how long the check took, in seconds.
        peak_mb: the most memory that a process of the check held, in MB.
        versions: the installed versions of what the tool's files ask for, by name.
    """

    tool: str
    problem: str = ""
    installed_s: float = 0.0
    checked_s: float = 0.0
    peak_mb: int = 0
    versions: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        outcome = "FAIL" if self.problem else "pass"
        versions = " ".join(f"{name}=={number}" for name, number in self.versions.items())
        times = f"{self.installed_s:7.0f} s{self.checked_s:7.0f} s{self.peak_mb:7} MB"
        return f"{outcome}  {self.tool:<12}{times}  {versions}"


def main() -> int:
    """Checks the tools that are named; 1 if one fails."""
    parser = argparse.ArgumentParser(
        prog="scripts/integrations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--list", action="store_true", help="print the names, check nothing")
    parser.add_argument("--drop", action="store_true", help="remove an environment after its check")
    parser.add_argument("names", nargs="*", metavar="NAME", help="tools (all)")
    asked = parser.parse_args()
    known = sorted(path.parent.name for path in CHECKS.glob("*/check.py"))
    if unknown := sorted(set(asked.names) - set(known)):
        parser.error(f"no tool {', '.join(unknown)}; there are {', '.join(known)}")
    if asked.list:
        say("\n".join(known))
        return 0
    outcomes = [examined(tool, drop=asked.drop) for tool in asked.names or known]
    say(f"\n      {'tool':<12}  install    check      peak  versions")
    for outcome in outcomes:
        say(str(outcome))
    return any(outcome.problem for outcome in outcomes)


def say(text: str) -> None:
    """Prints a line at once, also where the output is a file."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def examined(tool: str, *, drop: bool) -> Outcome:
    """Installs and checks one tool, and says how that went.

    Args:
        tool: its folder's name.
        drop: whether its environment is removed afterwards.
    """
    say(f"{tool} …")
    outcome, log = Outcome(tool), PLACE / f"{tool}.log"
    PLACE.mkdir(exist_ok=True)
    log.write_text("")
    try:
        prepare(outcome, log)
        check(outcome, log)
    except Failed as error:
        outcome.problem = str(error)
        say("\n".join([*log.read_text(errors="replace").splitlines()[-TAIL:], outcome.problem]))
    if drop:
        shutil.rmtree(PLACE / tool, ignore_errors=True)
    return outcome


def prepare(outcome: Outcome, log: Path) -> None:
    """Makes a tool's environment, unless it is there as its files want it.

    Raises:
        Failed: there is no such Python, or a package did not install.
    """
    venv, folder, began = PLACE / outcome.tool, CHECKS / outcome.tool, time.monotonic()
    python, ready = venv / "bin/python", venv / ".ready"
    recipe = fingerprint(folder)
    if not (ready.is_file() and ready.read_text() == recipe):
        shutil.rmtree(venv, ignore_errors=True)
        run([interpreter(folder), "-m", "venv", venv], log)
        pip: list[str | Path] = [python, "-m", "pip", "install", "-qq", "--no-input"]
        run([*pip, "-r", folder / "requirements.txt"], log)
        if (bare := folder / "no-deps.txt").is_file():
            run([*pip, "--no-deps", "-r", bare], log)
        ready.write_text(recipe)
        outcome.installed_s = time.monotonic() - began
    listed = subprocess.check_output([python, "-m", "pip", "list", "--format=json"], text=True)
    found = {plain(package["name"]): package["version"] for package in json.loads(listed)}
    outcome.versions = {name: found[name] for name in required(folder) if name in found}


def fingerprint(folder: Path) -> str:
    """What an environment is made of, as a digest."""
    sources = [*sorted(folder.glob("*.txt")), ROOT / "pyproject.toml"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


def interpreter(folder: Path) -> str:
    """The Python that a tool asks for.

    Raises:
        Failed: it is not on the path.
    """
    wanted = re.search(r"^# python: *([\d.]+)$", (folder / "requirements.txt").read_text(), re.M)
    if wanted is None or wanted[1] == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    found = shutil.which(f"python{wanted[1]}")
    if found is None or subprocess.run([found, "-c", ""], check=False).returncode:
        raise Failed(f"{folder.name} needs Python {wanted[1]}; install it as python{wanted[1]}")
    return found


def required(folder: Path) -> Iterator[str]:
    """The packages that a tool's files name with a version."""
    for path in sorted(folder.glob("*.txt"), reverse=True):
        for named in re.findall(r"^([\w.-]+)[\w\[\],-]*\s*(?:[=<>~]|$)", path.read_text(), re.M):
            yield plain(named)


def plain(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def check(outcome: Outcome, log: Path) -> None:
    """Runs a tool's check, and shows its figures.

    Raises:
        Failed: its exit code was not 0, or it did not end.
    """
    began, start = time.monotonic(), log.stat().st_size
    python = PLACE / outcome.tool / "bin/python"
    try:
        outcome.peak_mb = run([python, CHECKS / outcome.tool / "check.py"], log)
    finally:
        outcome.checked_s = time.monotonic() - began
    for line in log.read_bytes()[start:].decode(errors="replace").splitlines():
        if line.startswith(f"{outcome.tool} "):
            say(f"  {line}")


def run(command: Sequence[str | Path], log: Path) -> int:
    """Runs a command in the checkout; the most memory that one of its processes held, in MB.

    Args:
        command: the program and its arguments.
        log: where all that it prints goes.

    Raises:
        Failed: its exit code was not 0, or it did not end.
    """
    words = ["env", *ALONE, *(str(word) for word in command)]
    with log.open("ab") as output:
        process = subprocess.Popen(
            words,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    timer = Timer(LIMIT_S, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        timer.cancel()
        stop_left(process)
    if process.returncode:
        raise Failed(f"$ {' '.join(words)}\nexit code {process.returncode}; all of it is in {log}")
    return int(usage.ru_maxrss) // 1024


def stop_left(process: subprocess.Popen[bytes]) -> None:
    """Stops what a command left behind, or the command itself where we were interrupted."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    sys.exit(main())
