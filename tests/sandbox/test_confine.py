"""What can confine a session, what it may be allowed, and what cannot be trusted."""

import json
import os
import pickle
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from queue import Queue

import pytest

from openenv.runtime import confine
from openenv.runtime.confine import (
    FEATURES,
    Applied,
    Cell,
    ConfineError,
    Confinement,
    Features,
    Usage,
    cgroups,
    kernel,
    may_show,
    prepare,
    probe,
    seccomp,
)
from openenv.runtime.confine.cgroups import Groups, Hierarchy
from openenv.runtime.confine.features import NAMESPACES
from openenv.runtime.confine.keeper import children
from openenv.runtime.confine.survey import survey
from tests.sandbox.marks import both, confining
from tests.sandbox.stage import Stage, Voice, expect, play_scene

pytestmark = confining


def test_every_feature_is_found_out_or_told_why_not() -> None:
    features = probe()
    assert set(features.available) | set(features.missing) == set(FEATURES)
    assert not set(features.available) & set(features.missing)
    assert all(features.missing.values())


def test_features_travel() -> None:
    features = probe()
    assert Features(**json.loads(json.dumps(asdict(features)))) == features
    assert pickle.loads(pickle.dumps(features)) == features


def test_what_is_switched_off_is_missing() -> None:
    features = Features({"netns": "", "seccomp": ""}, {"landlock": "old kernel"})
    masked = features.without(["netns", "landlock"], "by hand")
    assert dict(masked.missing) == {"landlock": "old kernel", "netns": "by hand"}
    assert "seccomp" in masked and "netns" not in masked


def test_a_level_says_whether_anything_is_missing() -> None:
    assert Features({"netns": ""}).level == "full"
    assert Features({"netns": ""}, {"pidns": "no"}).level == "partial"
    assert Features({}, {"pidns": "no"}).level == "none"


@pytest.mark.parametrize("path", ["/", "/root", "/etc", "/tmp", "/home/ada", "code", "/usr/.."])
def test_what_holds_secrets_is_not_shown(path: str) -> None:
    assert not may_show(path)
    with pytest.raises(ConfineError, match="readable"):
        Confinement(readable=(path,))


def test_the_second_version_of_control_groups_is_written_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of its files alone: a kernel that has the first one mounted, gives the second nothing."""
    second = Hierarchy(2, str(tmp_path), frozenset({"memory", "pids", "cpu"}))
    monkeypatch.setattr(cgroups, "hierarchies", lambda: (second,))
    limits = Confinement(memory_bytes=1 << 20, max_processes=7, cpus=0.5)
    groups = Groups.make("one", limits, cgroups.CONTROLLERS)
    written = {file.name: file.read_text() for file in (tmp_path / "one").iterdir()}
    assert written == {"memory.max": str(1 << 20), "pids.max": "8", "cpu.max": "50000 100000"}
    for name, text in {
        "memory.current": "4096\n",
        "memory.peak": "8192\n",
        "memory.events": "low 0\noom 1\noom_kill 1\n",
        "cpu.stat": "usage_usec 1500000\nuser_usec 1\n",
        "pids.current": "3\n",
        "pids.events": "max 2\n",
    }.items():
        (tmp_path / "one" / name).write_text(text)
    assert groups.usage() == Usage(4096, 8192, 1.5, 3, out_of_memory=True, processes_refused=True)


def in_a_container(stage: Stage) -> None:
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.filter_calls(sockets=True)  # a container engine's own filter denies much the same
    features = survey()
    assert not set(NAMESPACES) & set(features.available), features
    assert {"seccomp", "landlock", "rlimits"} <= set(features.available), features
    assert ("own_user" in features) is (os.getuid() == 0), features
    prepare(features)
    ended = Stage(features).run(lambda applied: applied.level)
    expect(ended, "partial")


@both
def test_where_namespaces_are_forbidden_the_rest_is_used(who: str) -> None:
    play_scene(in_a_container, who)


def enter_again(stage: Stage) -> None:
    def once_more(applied: Applied) -> str:
        cell = Cell(Confinement(), Features({"utsns": ""}), Groups())
        try:
            cell.enter(keep=(Voice.pipe,))
        except ConfineError as error:
            return str(error)
        return "confined twice"

    said = stage.run(once_more).said
    assert "cannot be confined as was promised" in said, said


@both
def test_a_wall_that_cannot_be_put_up_is_an_error(who: str) -> None:
    play_scene(enter_again, who)


def test_what_this_process_imports_the_survey_finds_too(tmp_path: Path) -> None:
    """Whoever extends `sys.path` would otherwise be told that nothing confines here."""
    code = (
        "import sys; sys.path[:] = sys.argv[1:]; from openenv.runtime.confine import probe; "
        "print(sorted(probe().available))"
    )
    path = [*sys.path, str(Path(confine.__file__).parents[3])]
    bare = [sys.executable, "-I", "-S", "-c", code, *path]
    found = subprocess.check_output(bare, text=True, cwd=tmp_path, timeout=60)
    assert found == f"{sorted(probe().available)}\n"


def test_children_are_found_whichever_thread_has_them() -> None:
    started: Queue[int] = Queue()
    ended = threading.Event()

    def start() -> None:
        with subprocess.Popen(["sleep", "60"]) as process:
            started.put(process.pid)
            ended.wait(10)
            process.kill()

    thread = threading.Thread(target=start)
    thread.start()
    try:
        assert started.get(timeout=10) in children(os.getpid())
    finally:
        ended.set()
        thread.join()
