"""A Docker daemon of a test's own, which can be stopped, started anew and run out of disk."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.containers.images import ROOT
from tests.serving import eventually

UP_S = 120.0


class Daemon:
    """Runs by `scripts/docker`, in a place of its own."""

    def __init__(self, home: Path, number: int) -> None:
        self.home = home
        self.host = f"unix://{home}/docker.sock"
        self._environ = os.environ | {
            "OPENENV_DOCKER_DIR": str(home),
            "OPENENV_DOCKER_BRIDGE": f"openenv-own{number}",
            "OPENENV_DOCKER_SUBNET": f"172.31.{200 + number}.1/24",
        }

    def start(self) -> None:
        self._script("up")

    def send(self, number: int) -> None:
        """Sends the daemon a signal, and waits for nothing."""
        os.kill(int((self.home / "pid").read_text()), number)

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Ends the daemon; what it keeps stays."""
        pid = int((self.home / "pid").read_text())
        os.kill(pid, number)
        eventually(lambda: not _runs(pid), 60)
        for file in ("pid", "exec/containerd/containerd.pid"):  # a killed one's would be believed
            (self.home / file).unlink(missing_ok=True)

    def down(self) -> None:
        """Ends it, and removes all that it keeps; it must run to end its containers."""
        with suppress(AssertionError):
            self.start()
        data = str(self.home / "data")  # a disk of its own, or mounted by a daemon that was killed
        while any(
            line.split()[1] == data for line in Path("/proc/mounts").read_text().splitlines()
        ):
            subprocess.run(["umount", "--lazy", data], check=True, timeout=60)
        self._script("down")

    def _script(self, command: str) -> None:
        done = subprocess.run(
            [ROOT / "scripts" / "docker", command],
            env=self._environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=UP_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr


@contextmanager
def own_daemon(number: int, disk: str | None = None) -> Iterator[Daemon]:
    """A running daemon of one's own until the block ends; `disk` is how much it may keep."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("a daemon of one's own needs root and dockerd")
    with tempfile.TemporaryDirectory(prefix="oed-", dir="/tmp") as home:
        daemon = Daemon(Path(home) / "d", number)
        data = daemon.home / "data"
        data.mkdir(parents=True)
        if disk is not None:
            tmpfs = ["mount", "-t", "tmpfs", "-o", f"size={disk}", "openenv-test", str(data)]
            subprocess.run(tmpfs, check=True, timeout=60)
        try:
            daemon.start()
            yield daemon
        finally:
            daemon.down()


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return False
    return state != "Z"
