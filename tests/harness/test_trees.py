"""Agents that turn against their keepers: what they started is ended all the same."""

import os
import subprocess
import sys

import pytest

from openenv.harness.agents import process
from openenv.harness.agents.environment import HarnessEnvironment
from openenv.harness.agents.tree import Process, ProcessTree
from tests.harness.worlds import marked, rogue, served, watched
from tests.serving import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are seen by /proc")
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def test_an_agent_that_stops_its_keeper() -> None:
    with served("stops_its_keeper+daemon+stubborn") as server, server.socket() as socket:
        socket.reset()
        assert socket.step(message="hi")["metadata"]["response"] == "echo:hi"


def test_an_agent_that_stops_its_keeper_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "KEEPER_S", 0.5)
    with served("holds_its_keeper+daemon+stubborn") as server, server.socket() as socket:
        socket.reset()
        assert socket.step(message="hi")["metadata"]["response"] == "echo:hi"


def test_an_agent_that_kills_its_keeper() -> None:
    with served("kills_its_keeper+daemon") as server, server.socket() as socket:
        socket.reset()
        told = socket.step(message="hi")  # the daemon has its output, and is ended all the same
        assert told["metadata"]["error_type"] == "harness_crashed"


def test_what_was_seen_is_known_without_its_variables_and_its_keeper() -> None:
    marks: list[str] = []

    def make(mark: str) -> HarnessEnvironment:
        marks.append(mark)
        return rogue("kills_its_keeper+stranger", mark)

    with watched(make) as server, server.socket() as socket:
        socket.reset()
        eventually(lambda: len(marked(marks[-1])) == 3)
        assert socket.step(message="hi")["done"] is True


def test_a_process_of_somebody_else_is_never_touched() -> None:
    tree = ProcessTree()
    with subprocess.Popen(SLEEP) as stranger:
        try:
            assert not tree.kill()
            tree._seen.add(Process(stranger.pid, 0))  # its number was another one's
            assert not tree.kill()
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_descendants_and_orphans_with_the_mark_are_killed() -> None:
    tree = ProcessTree()
    code = f"import subprocess; subprocess.Popen({SLEEP!r}); print(flush=True)"
    variables = {**os.environ, **tree.marks}
    subprocess.run([sys.executable, "-c", code], env=variables, check=True)
    parent = [sys.executable, "-c", code + "; input()"]
    with subprocess.Popen(parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        tree.add(other.pid)
        assert len(tree.look()) == 2
        assert tree.kill()
        assert other.wait() == -9
    eventually(lambda: not tree.kill())
