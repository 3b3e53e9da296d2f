"""A confined session lives as it would elsewhere, and sees no more than it must."""

import json
import os
import pty
import signal
import socket
import subprocess
import tempfile
import threading
from multiprocessing import get_context
from multiprocessing.synchronize import Lock
from pathlib import Path

import pytest

from openenv.runtime.confine import (
    Applied,
)
from openenv.runtime.confine.features import NAMESPACES
from tests.sandbox.marks import both, confining, everywhere
from tests.sandbox.stage import Stage, expect, play_scene, say_hello

pytestmark = confining


def use_python(applied: Applied) -> str:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write("x")
    assert os.path.expanduser("~") == os.getcwd() == os.environ["HOME"] == applied.home
    assert os.path.exists("/dev/null") and os.urandom(4)
    return subprocess.check_output(["/bin/sh", "-c", "echo $((6 * 7))"], text=True)


def serve_itself(applied: Applied) -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    return "served"


def use_a_terminal(applied: Applied) -> str:
    Lock(ctx=get_context())  # a semaphore in /dev/shm
    own_end, its_end = pty.openpty()
    code = "test -t 0 && stty size <&0 >/dev/null && echo a terminal"
    shell = subprocess.run(["/bin/sh", "-c", code], stdin=its_end, stdout=its_end, check=False)
    assert shell.returncode == 0, shell
    return os.read(own_end, 100).decode().strip()


def plain_life(stage: Stage) -> None:
    said = stage.run(say_hello).said
    assert said.startswith("hello from /"), said
    expect(stage.run(use_python), "42\n")
    if "mountns" in stage.features:
        expect(stage.run(use_a_terminal), "a terminal")
    if "netns" in stage.features:
        expect(stage.run(serve_itself), "served")


@both
@everywhere
def test_a_session_lives_as_it_would_elsewhere(who: str, without: str) -> None:
    play_scene(plain_life, who, without=without)


def exit_with_255(applied: Applied) -> None:
    raise SystemExit(255)


def exit_with_7(applied: Applied) -> None:
    raise SystemExit(7)


def kill_itself(applied: Applied) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def abort(applied: Applied) -> None:
    os.abort()


def ends(stage: Stage) -> None:
    for play, code in (
        (say_hello, 0),
        (exit_with_7, 7),
        (exit_with_255, 255),
        (kill_itself, -signal.SIGKILL),
        (abort, -signal.SIGABRT),
    ):
        ended = stage.run(play)
        assert ended.code == code, ended


@both
@everywhere
def test_how_a_session_ends_is_told(who: str, without: str) -> None:
    play_scene(ends, who, without=without)


def look_around(applied: Applied) -> str:
    return json.dumps(
        {"root": os.listdir("/"), "pids": [p for p in os.listdir("/proc") if p.isdigit()]}
    )


def view(stage: Stage) -> None:
    with tempfile.TemporaryDirectory() as name:
        code = Path(name).resolve() / "code"
        code.mkdir()
        os.chmod(name, 0o755)
        (code / "module.py").write_text("answer = 42")
        (code.parent / "secret").write_text("secret")
        link = code.parent / "link"
        link.symlink_to(code)

        def read(applied: Applied) -> str:
            with pytest.raises(OSError):
                (code / "new").write_text("")
            assert not (code.parent / "secret").exists()
            return (code / "module.py").read_text() + (link / "module.py").read_text()

        expect(stage.run(read, readable=(str(code), str(link))), "answer = 42" * 2)
        seen = json.loads(stage.run(look_around).said)
    assert not {"srv", "var", "sys", "mnt", "opt"} & set(seen["root"])
    assert seen["pids"] == ["1", "2"]


@both
def test_a_session_sees_its_code_and_no_more(who: str) -> None:
    play_scene(view, who)


def gone_meanwhile(stage: Stage) -> None:
    with tempfile.TemporaryDirectory() as name:
        expect(stage.run(lambda applied: "here", readable=(name,)), "here")
    expect(stage.run(lambda applied: "still", readable=(name,)), "still")


@both
@everywhere
def test_code_that_has_gone_keeps_no_session_from_starting(who: str, without: str) -> None:
    play_scene(gone_meanwhile, who, without=without)


def without_mounts(stage: Stage) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        os.chmod(name, 0o755)
        for each in ("code", "other"):
            Path(name, each).write_text(each)

        def read(applied: Applied) -> str:
            with pytest.raises(PermissionError):
                Path(name, "other").read_text()
            return Path(name, "code").read_text()

        expect(stage.run(read, readable=(f"{name}/code",)), "code")


@both
def test_without_mounts_landlock_shows_its_code_and_no_more(who: str) -> None:
    play_scene(without_mounts, who, without=",".join(NAMESPACES))


def private_umask(stage: Stage) -> None:
    os.umask(0o077)
    expect(stage.run(use_python), "42\n")


@both
@everywhere
def test_a_servers_umask_does_not_shut_its_sessions_out(who: str, without: str) -> None:
    play_scene(private_umask, who, without=without)
