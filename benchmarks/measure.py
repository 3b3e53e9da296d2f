"""Numbers about other processes: CPU time, memory, and what starting one costs."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

STOP_GRACE_S = 10
START_LIMIT_S = 120


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def family(pid: int) -> list[int]:
    """`pid` and every process below it."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended while we looked
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = [pid]
    for member in found:
        found.extend(parents.get(member, ()))
    return found


def cpu_seconds(pid: int) -> float:
    """CPU time of `pid` and its living descendants, to the nanosecond.

    /proc/<pid>/stat counts in 10 ms ticks, too coarse for a short load; the kernel's per-process
    CPU clock has the same sum undivided. Its id is made from the pid as in <linux/posix-timers.h>.
    """
    return sum(time.clock_gettime((~member << 3) | 2) for member in family(pid))


def memory_mb(pid: int) -> float:
    """Resident memory of `pid` and its descendants."""
    return _status(pid, "VmRSS:") / 1024


def threads(pid: int) -> float:
    """Threads of `pid` and its descendants."""
    return _status(pid, "Threads:")


def _status(pid: int, field: str) -> int:
    """A number of /proc/<pid>/status, summed over `pid` and its descendants."""
    total = 0
    for member in family(pid):
        for line in Path(f"/proc/{member}/status").read_text().splitlines():
            if line.startswith(field):
                total += int(line.split()[1])
    return total


@dataclass(frozen=True)
class Server:
    """A running server and what its start cost."""

    pid: int
    port: int
    start_cpu_s: float
    start_wall_s: float


def healthy(port: int) -> bool:
    """Whether the server answers `GET /health`."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def running(python: str, arguments: Sequence[str], environ: dict[str, str]) -> Iterator[Server]:
    """Start a server on a free port (put where an argument says PORT), stop it at the end."""
    port = free_port()
    command = [python, *(argument.replace("PORT", str(port)) for argument in arguments)]
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not healthy(port):
            if process.poll() is not None or time.perf_counter() - began > START_LIMIT_S:
                raise RuntimeError(f"{' '.join(command)} did not become healthy")
            time.sleep(0.02)
        wall = time.perf_counter() - began
        yield Server(process.pid, port, cpu_seconds(process.pid), wall)
    finally:
        process.terminate()
        try:
            process.wait(STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def command_cpu_s(command: Sequence[str], environ: dict[str, str]) -> tuple[float, str]:
    """Run a command to its end: its CPU time and what it printed."""
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {printed[-2000:]}")
    return usage.ru_utime + usage.ru_stime, printed
