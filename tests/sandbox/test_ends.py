"""Nothing of a session lasts longer than it, and it takes no more than it may."""

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from openenv.runtime.confine import (
    Applied,
    reap,
)
from openenv.runtime.confine.cgroups import hierarchies
from openenv.runtime.confine.features import NAMESPACES
from openenv.runtime.confine.leftovers import Names, sweep
from tests.sandbox.marks import both, confining, everywhere
from tests.sandbox.stage import Stage, Voice, command_for, expect, play_scene, say_hello

pytestmark = confining


def leave_orphans(applied: Applied) -> str:
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
        os.wait()
    return "left"


def wait_with_orphans(applied: Applied) -> None:
    leave_orphans(applied)
    Voice.say("ready")
    time.sleep(600)


def orphans(stage: Stage) -> None:
    expect(stage.run(leave_orphans), "left")
    running = stage.start(wait_with_orphans)
    assert running.hear() == "ready"
    running.cell.kill()
    assert running.end().code == -signal.SIGKILL


@both
@everywhere
def test_nothing_outlives_a_session(who: str, without: str) -> None:
    play_scene(orphans, who, without=without)


def bomb(applied: Applied) -> None:
    Voice.say("ready")
    while True:
        with contextlib.suppress(OSError):
            os.fork()


def fork_bomb(stage: Stage) -> None:
    running = stage.start(bomb, max_processes=32)
    assert running.hear() == "ready"
    for _ in range(5):
        assert stage.run(say_hello).code == 0
    running.cell.kill()
    ended = running.end()
    assert ended.code == -signal.SIGKILL
    if "cgroup_pids" in stage.features:
        assert ended.usage.processes_refused, ended


@both
@pytest.mark.parametrize("without", ["", ",".join(NAMESPACES)])
def test_a_fork_bomb_is_contained_and_ends(who: str, without: str) -> None:
    play_scene(fork_bomb, who, without=without)


def wait(applied: Applied) -> None:
    Voice.say("ready")
    time.sleep(600)


def start_two_and_die(stage: Stage) -> None:
    can_be_found = {"pidns", "cgroup_pids"} & set(stage.features.available)
    for _ in range(2):
        assert stage.start(wait_with_orphans if can_be_found else wait).hear() == "ready"
    os.write(1, b"ready\n")
    time.sleep(600)


@both
@pytest.mark.parametrize("without", ["", ",".join(NAMESPACES)])
def test_sessions_die_with_a_killed_zygote_and_what_it_left_is_swept_up(
    who: str, without: str
) -> None:
    command = command_for(start_two_and_die, who, without)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as zygote:
        assert zygote.stdout is not None
        assert zygote.stdout.readline() == b"ready\n"
        zygote.kill()
        zygote.wait()
        deadline = time.monotonic() + 60
        while not select.select([zygote.stdout], [], [], 0.05)[0] or _left_by(zygote.pid):
            assert time.monotonic() < deadline
            sweep()
        assert zygote.stdout.read() == b""  # nobody holds it any more


def _left_by(pid: int) -> list[Path]:
    parents = [tempfile.gettempdir(), *(each.parent for each in hierarchies())]
    return [path for parent in parents for path in Path(parent).glob(f"openenv-session-{pid}-*")]


def many(stage: Stage) -> None:
    stage.run(say_hello)
    before = _possessions()
    runnings = [stage.start(say_hello) for _ in range(20)]
    cells = {running.cell.pid: running.cell for running in runnings}
    deadline = time.monotonic() + 60
    while cells:
        for pid, code in reap(cells).items():
            assert code == 0
            cells.pop(pid).close()
        assert time.monotonic() < deadline
        time.sleep(0.002)
    for running in runnings:
        running.hear()
        running.close()
    assert _possessions() == before


def _possessions() -> tuple[list[str], list[str], list[Path]]:
    descriptors = sorted(os.listdir("/proc/self/fd"))
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    own = [line for line in mounts if "/.old" in line or "/home/session" in line]
    return descriptors, own, _left_by(Names.owner)


@both
@everywhere
def test_twenty_at_once_leave_nothing(who: str, without: str) -> None:
    play_scene(many, who, without=without)


def take_memory(applied: Applied) -> int:
    return len([b"x" * (1 << 20) for _ in range(256)])


def take_memory_apart(applied: Applied) -> str:
    pids = []
    for _ in range(8):
        if (pid := os.fork()) == 0:
            part = b"x" * (24 << 20)
            time.sleep(1 if part else 0)
            os._exit(0)
        pids.append(pid)
    return str({os.waitpid(pid, 0)[1] for pid in pids})


def out_of_memory(stage: Stage) -> None:
    said = stage.run(take_memory, memory_bytes=64 << 20).said
    assert "MemoryError" in said, said
    if "cgroup_memory" in stage.features:
        ended = stage.run(take_memory_apart, memory_bytes=64 << 20)
        assert ended.usage.out_of_memory
        assert (ended.usage.peak_memory_bytes or 0) <= 64 << 20


@both
def test_too_much_memory_is_an_error_or_the_end(who: str) -> None:
    play_scene(out_of_memory, who)


def spin(applied: Applied) -> None:
    while True:
        pass


def out_of_time(stage: Stage) -> None:
    ended = stage.run(spin, cpu_s=0.5)
    assert ended.code == -signal.SIGXCPU, ended
    if "cgroup_cpu" in stage.features:
        assert (ended.usage.cpu_s or 0) > 0.5, ended


@both
def test_too_much_time_is_the_end(who: str) -> None:
    play_scene(out_of_time, who)
