"""Tests environments alone: each in a fresh virtual environment with nothing but its `dev` extra.

scripts/envs [-j N] [--reruns N] [NAME...], where NAME is a folder of envs/; all of them by default.
The interpreter that runs this makes the virtual environments, with uv where there is one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.envs.case import case_of

ROOT = Path(__file__).resolve().parents[1]
STEP_LIMIT_S = 900
WANTING = "pip install -e 'envs/"
"""What a test that is skipped for want of an engine says."""


class Failed(Exception):
    """A command failed, or tests were skipped that should not have been; the text is its log."""


@dataclass(frozen=True)
class Outcome:
    """How the tests of one environment went.

    Attributes:
        package: its name.
        seconds: how long they took.
        problem: the log of what failed; empty if nothing did.
    """

    package: str
    seconds: float
    problem: str = ""

    def __str__(self) -> str:
        return f"{'FAIL' if self.problem else 'pass'}  {self.package:<24}{self.seconds:6.0f} s"


def main() -> int:
    """Tests the environments that are named; 1 if one fails."""
    parser = argparse.ArgumentParser(prog="scripts/envs", description=__doc__)
    at_once = (os.cpu_count() or 1) + 1  # installing waits for disks and networks
    parser.add_argument(
        "-j", type=int, default=at_once, metavar="N", help=f"how many at once ({at_once})"
    )
    parser.add_argument("--reruns", type=int, default=0, metavar="N", help="of a failed test (0)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="folders of envs/ (all)")
    asked = parser.parse_args()
    known = sorted(path.parent.name for path in ROOT.glob("envs/*/pyproject.toml"))
    names = [Path(name).name for name in asked.names] or known
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"no environment {', '.join(unknown)}; there are {', '.join(known)}")
    with ThreadPoolExecutor(max(asked.j, 1)) as workers:
        outcomes = workers.map(partial(tested, reruns=asked.reruns), names)
        failed = [outcome for outcome in outcomes if outcome.problem]
    say(f"{len(names) - len(failed)} of {len(names)} environments passed")
    return bool(failed)


def say(text: str) -> None:
    """Prints a line at once, also where the output is a file."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def tested(package: str, reruns: int) -> Outcome:
    """Tests one environment, and says how that went."""
    began, problem = time.monotonic(), ""
    with tempfile.TemporaryDirectory(prefix=f"openenv-{package}-") as folder:
        try:
            examine(package, Path(folder), reruns)
        except (Failed, ImportError) as error:  # the latter of an environment without a case
            problem = str(error)
    outcome = Outcome(package, time.monotonic() - began, problem)
    say(f"{problem}\n{outcome}" if problem else str(outcome))
    return outcome


def examine(package: str, folder: Path, reruns: int) -> None:
    """Installs an environment into a folder, runs its tests there, and validates it.

    Args:
        package: its name.
        folder: where its virtual environment is made.
        reruns: how often a test that fails is tried again; each is told.

    Raises:
        Failed: something is wrong.
    """
    python = make_venv(folder / "venv")
    sources = [".", f"envs/{package}[dev]", *(f"envs/{name}" for name in case_of(package).beside)]
    install(python, *(word for source in sources for word in ("-e", source)))
    tests = ROOT / "tests/envs"
    paths = [*sorted(tests.glob("test_*.py")), tests / package.removesuffix("_env")]
    options = ["-q", "-rsR", "-o", f"cache_dir={folder / 'cache'}"]
    if reruns:
        install(python, "pytest-rerunfailures")
        options.append(f"--reruns={reruns}")
    alone = ("env", f"OPENENV_TEST_ENVIRONMENT={package}")
    log = run(*alone, python, "-m", "pytest", *options, *paths)
    for line in log.splitlines():
        if line.startswith("RERUN "):
            say(line)
    if WANTING in log:
        raise Failed(f"{log}\ntests were skipped that need what the dev extra should bring")
    run(python, "-m", "openenv", "validate", f"envs/{package}", "--level", "semantic")


def make_venv(place: Path) -> Path:
    """Makes a virtual environment; its interpreter."""
    if uv := uv_command():
        run(uv, "venv", "--quiet", "--python", sys.executable, place)
    else:
        run(sys.executable, "-m", "venv", place)
    return place / "bin/python"


def install(python: Path, *packages: str) -> None:
    """Installs packages into the virtual environment of an interpreter."""
    if uv := uv_command():
        run(uv, "pip", "install", "--quiet", "--python", python, *packages)
    else:
        run(python, "-m", "pip", "install", "--quiet", "--no-input", *packages)


def uv_command() -> str | None:
    """Where uv is: beside this interpreter, or on the path."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else shutil.which("uv")


def run(*command: str | Path) -> str:
    """Runs a command in the checkout; what it printed.

    Raises:
        Failed: its exit code was not 0, or it did not end.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=STEP_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"$ {' '.join(words)}\n{error}") from error
    if done.returncode:
        raise Failed(f"$ {' '.join(words)}\n{done.stdout}exit code {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
