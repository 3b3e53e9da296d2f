"""A confined session lives as it would elsewhere, ends when it must, and leaves nothing behind."""

import contextlib
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

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
    reap,
    seccomp,
)
from openenv.runtime.confine.cgroups import Groups, Hierarchy, hierarchies
from openenv.runtime.confine.egress import is_allowed
from openenv.runtime.confine.features import NAMESPACES
from openenv.runtime.confine.leftovers import Names, sweep
from openenv.runtime.confine.survey import survey
from tests.sandbox.stage import Ended, Stage, Voice, command_for, play_scene

linux = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")
pytestmark = [linux, pytest.mark.timeout(100)]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="becoming other users takes root")
both = pytest.mark.parametrize("who", [pytest.param("root", marks=as_root), "user"])
"""Run by root, and by anybody else."""
everywhere = pytest.mark.parametrize("without", ["", ",".join(NAMESPACES), ",".join(FEATURES)])
"""With all features, without namespaces, and with none."""

# ── what is found out ────────────────────────────────────────────────────────────────────────────


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


# ── what a confinement may be ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", ["/", "/root", "/etc", "/tmp", "/home/ada", "code", "/usr/.."])
def test_what_holds_secrets_is_not_shown(path: str) -> None:
    assert not may_show(path)
    with pytest.raises(ConfineError, match="readable"):
        Confinement(readable=(path,))


@pytest.mark.parametrize("host", ["", "a b", "https://a", "[::1]:80", "a:", "*", "a/b", "*.*.a"])
def test_what_is_no_host_is_told(host: str) -> None:
    with pytest.raises(ConfineError, match="is no host"):
        Confinement(network=(host,))


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("a.org", 443, True),
        ("a.org", 80, True),
        ("a.org", 22, False),
        ("b.org", 8443, True),
        ("b.org", 443, False),
        ("x.c.org", 443, True),
        ("c.org", 443, False),
        ("xc.org", 443, False),
        ("a.org.evil.net", 443, False),
    ],
)
def test_hosts_are_allowed_by_name_and_port(host: str, port: int, allowed: bool) -> None:
    assert is_allowed(host, port, ("A.org", "b.org:8443", "*.c.org")) is allowed


# ── how a session lives ──────────────────────────────────────────────────────────────────────────


def expect(ended: Ended, said: str) -> None:
    """Nobody rewrites the asserts of a scene."""
    assert ended.said == said, ended


def say_hello(applied: Applied) -> str:
    return f"hello from {os.getcwd()}"


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


def plain_life(stage: Stage) -> None:
    said = stage.run(say_hello).said
    assert said.startswith("hello from /"), said
    expect(stage.run(use_python), "42\n")
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


def on_the_network(stage: Stage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()

        def connect(applied: Applied) -> str:
            with socket.create_connection(address):
                return "connected" if "netns" not in applied.features else "a namespace"

        expect(stage.run(connect, network=True), "connected")


@both
@everywhere
def test_the_network_is_there_if_it_is_declared(who: str, without: str) -> None:
    play_scene(on_the_network, who, without=without)


def through_the_proxy(stage: Stage) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hello) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_port

        def ask(host: str, tunnel: bool) -> str:
            address = os.environ["HTTP_PROXY"].removeprefix("http://")
            with contextlib.closing(HTTPConnection(address, timeout=20)) as client:
                if tunnel:
                    client.set_tunnel(host, port)
                    client.request("GET", "/")
                else:
                    client.request("GET", f"http://{host}:{port}/")
                return client.getresponse().read().decode()

        def play(applied: Applied) -> str:
            answers = [ask("localhost", False), ask("localhost", True), ask("127.0.0.1", False)]
            with contextlib.suppress(OSError):
                answers.append(ask("127.0.0.1", True))
            with contextlib.suppress(OSError):
                socket.socket().connect(("127.0.0.1", port))
                answers.append("past the proxy")
            return "".join(answers)

        refused = f"127.0.0.1:{port} is not among the hosts that the environment declares\n"
        ended = stage.run(play, network=(f"localhost:{port}",))
        server.shutdown()
    expect(ended, f"hello\nhello\n{refused}")


class _Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"hello\n")

    def log_message(self, *args: object) -> None:
        """Nothing."""


@both
def test_a_session_reaches_the_hosts_that_are_listed_and_no_others(who: str) -> None:
    play_scene(through_the_proxy, who)


# ── what does not last ───────────────────────────────────────────────────────────────────────────


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
    return [path for parent in parents for path in Path(parent).glob(f"openenv-{pid}-*")]


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


# ── limits ───────────────────────────────────────────────────────────────────────────────────────


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


# ── where less is possible ────────────────────────────────────────────────────────────────────────


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


def private_umask(stage: Stage) -> None:
    os.umask(0o077)
    expect(stage.run(use_python), "42\n")


@both
@everywhere
def test_a_servers_umask_does_not_shut_its_sessions_out(who: str, without: str) -> None:
    play_scene(private_umask, who, without=without)


# ── what cannot be trusted ───────────────────────────────────────────────────────────────────────


def enter_again(stage: Stage) -> None:
    def once_more(applied: Applied) -> str:
        cell = Cell(Confinement(), stage.features.without(["pidns"]), Groups())
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
