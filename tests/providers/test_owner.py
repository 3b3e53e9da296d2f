"""Whose a container is, and whether that one lives."""

import os
import subprocess
import sys

import pytest

from openenv.providers import owner


def test_i_live() -> None:
    mine = owner.labels()
    assert not owner.is_dead(mine)
    assert owner.labels()["openenv.owner"] == mine["openenv.owner"]


def test_a_process_that_ended_is_dead() -> None:
    code = "import json; from openenv.providers import owner; print(json.dumps(owner.labels()))"
    import json

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=15
    )
    assert owner.is_dead(json.loads(done.stdout))


def test_a_child_is_another_owner() -> None:
    mine = owner.labels()["openenv.owner"]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, owner.labels()["openenv.owner"].encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() not in ("", mine)
    os.waitpid(child, 0)


def test_a_zombie_is_dead() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    try:
        started = owner.labels() | {"openenv.pid": str(child)}
        assert owner.is_dead(started)
    finally:
        os.waitpid(child, 0)


@pytest.mark.parametrize(
    ("change", "dead"),
    [
        ({"openenv.pid-started": "1"}, True),  # the number is another process's by now
        ({"openenv.pid": str(2**22 + 1)}, True),
        ({"openenv.pid": str(2**70)}, True),
        ({"openenv.boot": "before"}, True),
        ({"openenv.host": "elsewhere", "openenv.pid": str(2**22 + 1)}, False),
        ({"openenv.pid-namespace": "1", "openenv.pid": str(2**22 + 1)}, False),
        ({"openenv.pid": "none"}, False),
        ({"openenv.pid": "-1"}, False),
        ({"openenv.pid": "²"}, False),
    ],
)
def test_only_what_is_known_to_be_dead_is(change: dict[str, str], dead: bool) -> None:
    assert owner.is_dead(owner.labels() | change) is dead


def test_what_has_no_owner_is_left_alone() -> None:
    assert not owner.is_dead({})
    assert not owner.is_dead({"openenv.pid": str(2**22 + 1)})


def test_machines_without_a_number_are_not_told_apart_by_their_name_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Trainers in containers called alike, on two machines that share an engine."""

    def read(boot: str) -> None:
        monkeypatch.setattr(owner, "_read", lambda path: boot if path == owner.BOOT_ID else "")

    read("there")
    theirs = owner.labels()
    read("here")
    assert not owner.is_dead(theirs)
    assert not owner.is_dead(owner.labels())
