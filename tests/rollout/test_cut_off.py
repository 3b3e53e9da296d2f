"""Runs and servers that are killed in the middle: nothing is lost, and nothing is there twice."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from openenv import ConnectFailed
from openenv.client.fetching import is_available
from openenv.rollout import Trajectory, TrajectoryWriter, collect, load_trajectories, replay
from openenv.runtime.limits import Limits
from tests.rollout.halls import halls, walk
from tests.serving import eventually

ROOT = Path(__file__).parents[2]
EPISODES = 40
HALL = "tests.rollout.halls:Hall"


@contextmanager
def hall_at(port: int) -> Iterator["subprocess.Popen[bytes]"]:
    """A server of halls in a process of its own."""
    command = [sys.executable, "-m", "openenv", "serve", HALL, "--port", str(port)]
    nowhere = subprocess.DEVNULL
    server = subprocess.Popen(command, cwd=ROOT, stdout=nowhere, stderr=nowhere)
    try:
        yield server
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def names(path: Path) -> Counter[str]:
    return Counter(each.episode_id for each in load_trajectories(path))


def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "episodes"
    results = folder / "results.jsonl"
    with halls(limits=Limits(capacity=3, eviction_age=0.2)) as (_, url):
        command = [
            *(sys.executable, "-m", "openenv", "collect", "hall", "--base-url", url, "--json"),
            *("-o", str(folder), "-n", str(EPISODES), "--sessions", "3", "--max-turns", "3"),
            *("--policy", "scripted:slowly:act"),
        ]
        (tmp_path / "slowly.py").write_text(
            "import time\n\ndef act(seen):\n    time.sleep(0.004)\n    return {'word': 'left'}\n"
        )

        def run() -> "subprocess.Popen[bytes]":
            return subprocess.Popen(
                command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )

        with run() as cut:
            eventually(lambda: results.exists() and _lines(results) >= 7)
            os.kill(cut.pid, signal.SIGKILL)
            cut.communicate()
        with run() as last:
            answer = json.loads(last.communicate()[0])
        assert last.returncode == 0
        assert answer["num_collected"] + answer["num_skipped"] == EPISODES
        assert answer["num_skipped"] >= 7
        recorded = [json.loads(line)["episode_id"] for line in results.read_text().splitlines()]
        assert Counter(recorded) == names(folder)
        assert set(names(folder).values()) == {1}
        assert len(recorded) == EPISODES
        assert replay(next(load_trajectories(folder)), url) is None


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def test_a_server_that_starts_anew_costs_the_episodes_that_it_had(
    tmp_path: Path, free_port: int
) -> None:
    path = tmp_path / "some.jsonl"
    url = f"http://127.0.0.1:{free_port}"
    over = threading.Event()
    restarted = threading.Event()

    def act(seen: dict[str, list[str]]) -> dict[str, str]:
        if _lines(path) >= 4:
            over.set()
            restarted.wait(30.0)
        return {"word": "end" if len(seen["walked"]) == 2 else "left"}

    def play() -> Iterator[Trajectory]:
        return iter(collect(url, act, episodes=12, sessions=2, output=path))

    outcome: list[list[Trajectory]] = []
    with hall_at(free_port) as first:
        eventually(lambda: is_available(url))
        thread = threading.Thread(target=lambda: outcome.append(list(play())))
        thread.start()
        assert over.wait(30.0)
        first.kill()
        first.wait()
    with hall_at(free_port):
        restarted.set()
        thread.join(60.0)
        [episodes] = outcome
        failed = [each for each in episodes if each.end == "error"]
        assert 1 <= len(failed) <= 2
        kinds = {(each.error or {})["type"] for each in failed}
        assert kinds <= {"SessionLost", "ConnectFailed"}
        assert len(episodes) == 12
        again = collect(url, act, episodes=12, sessions=2, output=path)
    assert len(again) == len(failed)
    assert set(names(path).values()) == {1}
    assert len(names(path)) == 12


def test_a_server_that_does_not_come_back_ends_the_run(tmp_path: Path, free_port: int) -> None:
    path = tmp_path / "some.jsonl"
    with hall_at(free_port) as server:
        url = f"http://127.0.0.1:{free_port}"
        eventually(lambda: is_available(url))

        def act(seen: dict[str, list[str]]) -> dict[str, str]:
            if path.exists() and _lines(path) == 2:
                server.kill()
                server.wait()
            return {"word": "end"}

        with pytest.raises(ConnectFailed):
            collect(url, act, episodes=9, sessions=1, output=path, reconnect_s=0.3)
    assert len(names(path)) == 2
    with TrajectoryWriter(path):
        pass  # nobody holds it any more


@pytest.mark.expects_error_log
def test_a_step_that_kills_its_host_ends_its_episode_alone() -> None:
    def make(seen: dict[str, list[str]]) -> dict[str, str]:
        return {"word": "die"} if len(seen["walked"]) == 1 else {"word": "left"}

    with halls(host_kind="process") as (_, url):
        [broken] = collect(url, make, episodes=1)
        [whole] = collect(url, walk("left", "end"), episodes=1)
    assert (broken.end, (broken.error or {})["type"]) == ("error", "HostCrashed")
    assert len(broken.steps) == 1
    assert whole.end == "terminated"
