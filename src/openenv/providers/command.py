"""Running a tool to its end: bounded, and without a secret in what is said of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from openenv.protocol.errors import NotAvailable, NotReady, ProviderError
from openenv.settings import server_environ, tool_environ

_ASSIGNMENT = re.compile(r"^((?:--?[\w-]+=)?[A-Za-z_]\w*)=.*$", re.DOTALL)
_PASSWORD = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_to_finish: set[subprocess.Popen[str]] = set()
if hasattr(os, "register_at_fork"):  # they are not a forked child's to wait for
    os.register_at_fork(after_in_child=_to_finish.clear)
MAX_TOLD = 2000
REAPED_S = 10.0
"""How long a tool that was killed may take to be gone."""


@dataclass(frozen=True)
class Completed:
    """How a command ended, and all that it wrote."""

    stdout: str
    stderr: str
    code: int


def run(
    args: Sequence[str],
    *,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    trusted: bool = True,
    check: bool = True,
    finish_s: float = 0.0,
) -> Completed:
    """Runs a tool to its end.

    Args:
        args: the program and its arguments. Values of `NAME=value` are not told in errors.
        timeout_s: after which it is killed, and all that it has started, in seconds.
        env: variables that it gets besides ours; their values are not told in errors.
        trusted: whether it acts for us alone; else, as where it runs code of somebody else's, it
            gets none of our variables that look like credentials.
        check: whether another exit code than 0 is an error.
        finish_s: how long it may go on when we are interrupted, in seconds: for what would leave
            more behind if it were killed half-way.

    Raises:
        NotAvailable: there is no such program, or it may not be run.
        NotReady: it took longer than `timeout_s`.
        ProviderError: it failed.
    """
    process = _start(args, tool_environ(env) if trusted else server_environ(env))
    if finish_s > 0:
        _to_finish.add(process)
    with process:
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            raise NotReady(
                f"`{shown(args)}` did not end within {timeout_s:g} s and was killed"
            ) from None
        except BaseException:
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=finish_s)
            raise
        finally:
            _to_finish.discard(process)
            if process.returncode is None:
                kill_group(process.pid)
                process.wait(REAPED_S)
    completed = Completed(stdout, stderr, process.returncode)
    if check and completed.code != 0:
        raise ProviderError(failure(args, completed, env))
    return completed


def finish_all(timeout_s: float) -> None:
    """Waits for the tools that must not be cut off, in whatever thread they were started."""
    deadline = time.monotonic() + timeout_s
    for process in list(_to_finish):
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))


def _start(args: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            args,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise NotAvailable(f"{args[0]} cannot be run: {error.strerror or error}") from error
    except ValueError as error:  # a variable's name or value that no process can have
        raise ProviderError(f"{args[0]} cannot be run: {error}") from None


def kill_group(pid: int) -> None:
    """Kills a process that leads its group, and the group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def failure(args: Sequence[str], completed: Completed, env: Mapping[str, str] | None = None) -> str:
    """What to say of a command that failed: itself, its exit code and the end of its output."""
    said = redacted(f"{completed.stdout.strip()}\n{completed.stderr.strip()}".strip(), env)
    return (
        f"`{shown(args)}` failed with exit code {completed.code}: "
        f"{said[-MAX_TOLD:] or 'it said nothing'}"
    )


def redacted(text: str, env: Mapping[str, str] | None = None) -> str:
    """A text without the values of variables and without passwords."""
    for value in sorted((env or {}).values(), key=len, reverse=True):
        if len(value) > 3:  # a shorter one would tear holes into every other word
            text = text.replace(value, "…")
    return without_passwords(text)


def shown(args: Sequence[str]) -> str:
    """A command line for people, without the values of variables and without passwords."""
    return without_passwords(" ".join(_ASSIGNMENT.sub(r"\1=…", arg) for arg in args))


def without_passwords(text: str) -> str:
    """A text without the user names and passwords of the addresses in it."""
    return _PASSWORD.sub("…", text)
