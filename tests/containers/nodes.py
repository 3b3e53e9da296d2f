"""A swarm of three nodes on one machine, each with a network, a host name and a daemon of its own.

The bridge between them lies in a network namespace too: one of the machine's own would be cut off
by what the machine filters. The machine itself is on it as 10.99.0.254.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from openenv.providers.engine import Engine
from tests.serving import eventually

HUB = "oeswarm-hub"
NODES = (1, 2, 3)


def run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout.strip()


class Node:
    """One node."""

    def __init__(self, number: int, home: Path) -> None:
        self.name = f"oeswarm{number}"
        self.address = f"10.99.0.{number}"
        self.home = home / str(number)
        self.host = f"unix://{self.home}/docker.sock"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.home.mkdir()
        daemon = [
            *("dockerd", "--host", self.host, "--data-root", f"{self.home}/data"),
            *("--exec-root", f"{self.home}/exec", "--pidfile", f"{self.home}/pid"),
            *("--iptables=false", "--ip-masq=false", "--cgroup-parent", f"/{self.name}"),
        ]
        names = self.home / "resolv.conf"  # nobody answers there, and that at once
        names.write_text("nameserver 127.0.0.1\n")
        script = (
            f"hostname {self.name}; mount --make-rprivate /; "
            f'mount --bind {names} /etc/resolv.conf; exec "$@"'
        )
        alone = ["nsenter", f"--net=/run/netns/{self.name}", "unshare", "--mount", "--uts"]
        with (self.home / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [*alone, "sh", "-c", script, "sh", *daemon],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        eventually(lambda: self.answers("info"), 120)

    def answers(self, *words: str) -> bool:
        command = ["docker", "--host", self.host, *words]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        return done.returncode == 0

    def docker(self, *words: str) -> str:
        return run("docker", "--host", self.host, *words)

    def cut_off(self) -> None:
        """Takes it off the network, as a machine that lost its power would be."""
        run("ip", "netns", "exec", HUB, "ip", "link", "set", f"{self.name}p", "down")

    def stop(self) -> None:
        """Ends its containers and itself."""
        if self._process is None:
            return
        self.answers("swarm", "leave", "--force")
        self._process.terminate()
        try:
            self._process.wait(120)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(60)
        self._kill_what_is_left()

    def _kill_what_is_left(self) -> None:
        """A node that was cut off from its manager leaves its containers, and their shims."""
        for listing in Path("/sys/fs/cgroup").glob(f"*/{self.name}/*/cgroup.procs"):
            for pid in listing.read_text().split():
                _kill(int(pid))
        for words in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if f"{self.home}/".encode() in words.read_bytes():
                    _kill(int(words.parent.name))


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@contextmanager
def three_nodes() -> Iterator[list[Node]]:
    """Three nodes in one swarm that the first one manages, until the block ends."""
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="oes-", dir="/tmp") as home:
        stack.callback(_remove_networks)
        _make_networks()
        nodes = [Node(number, Path(home)) for number in NODES]
        for node in nodes:
            stack.callback(node.stop)
            node.start()
        manager, *workers = nodes
        manager.docker("swarm", "init", "--advertise-addr", manager.address)
        token = manager.docker("swarm", "join-token", "--quiet", "worker")
        for node in workers:
            node.docker("swarm", "join", "--token", token, f"{manager.address}:2377")
        yield nodes


def give_image(nodes: list[Node], engine: Engine, image: str) -> None:
    """Copies an image of an engine to every node."""
    with tempfile.NamedTemporaryFile(suffix=".tar") as file:
        engine.call("save", f"--output={file.name}", image)
        os.chmod(file.name, 0o600)
        for node in nodes:
            node.docker("load", "--input", file.name)


def _make_networks() -> None:
    run("ip", "netns", "add", HUB)
    run("ip", "-n", HUB, "link", "add", "bridge0", "type", "bridge")
    run("ip", "-n", HUB, "link", "set", "bridge0", "up")
    for number in NODES:
        name = f"oeswarm{number}"
        run("ip", "netns", "add", name)
        _plug(f"{name}p", "eth0", name)
        run("ip", "-n", name, "addr", "add", f"10.99.0.{number}/24", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "route", "add", "default", "via", "10.99.0.254")
    _plug("oeswarmp", "oeswarm0", None)
    run("ip", "addr", "add", "10.99.0.254/24", "dev", "oeswarm0")
    run("ip", "link", "set", "oeswarm0", "up")


def _plug(port: str, end: str, namespace: str | None) -> None:
    """Connects a namespace, or the machine itself, with the bridge."""
    run("ip", "-n", HUB, "link", "add", port, "type", "veth", "peer", "name", end)
    run("ip", "-n", HUB, "link", "set", port, "master", "bridge0", "up")
    run("ip", "-n", HUB, "link", "set", end, "netns", namespace or "1")


def _remove_networks() -> None:
    for name in (HUB, *(f"oeswarm{number}" for number in NODES)):
        subprocess.run(
            ["ip", "netns", "delete", name], capture_output=True, timeout=60, check=False
        )
