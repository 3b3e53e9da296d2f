"""A machine without a working engine: Docker missing, stopped, refusing, hanging, failing half-way.

These faults alone are played by a program called `docker`; see `tests/containers` for the real one.
"""

import os
from pathlib import Path

import pytest

from openenv.protocol.errors import NotAvailable, ProviderError
from openenv.providers import Launch, LocalDockerProvider, engine
from openenv.providers.docker import Container
from openenv.providers.engine import Engine

DENIED = (
    "permission denied while trying to connect to the Docker daemon socket at "
    "unix:///var/run/docker.sock"
)


@pytest.fixture
def bin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is searched for programs, with `sh` and what it needs, and no engine."""
    path = tmp_path / "bin"
    path.mkdir()
    for program in ("sh", "sleep", "cat"):
        found = next(
            Path(p) / program for p in ("/bin", "/usr/bin") if (Path(p) / program).exists()
        )
        (path / program).symlink_to(found)
    monkeypatch.setenv("PATH", str(path))
    return path


def play(bin: Path, script: str, name: str = "docker") -> Path:
    """A program that plays the engine, and the file of what it was asked."""
    asked = bin.parent / "asked"
    program = bin / name
    program.write_text(f'#!/bin/sh\necho "$*" >> {asked}\n{script}\n')
    program.chmod(0o755)
    return asked


def test_no_engine(bin: Path) -> None:
    with pytest.raises(NotAvailable, match="docker and podman not found on PATH; install Docker"):
        LocalDockerProvider()
    with pytest.raises(NotAvailable, match="^podman not found"):
        LocalDockerProvider(engine="podman")
    with pytest.raises(RuntimeError):
        LocalDockerProvider()


def test_podman_stands_in_for_docker(bin: Path) -> None:
    play(bin, "echo 4.9", name="podman")
    assert Engine().name == "podman"
    play(bin, "echo 28")
    assert Engine().name == "docker"
    assert Engine("podman").name == "podman"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (f"echo '{DENIED}' >&2; exit 1", "permission denied.*join the group `docker`"),
        (
            "echo 'Cannot connect to the Docker daemon at unix:///x. Is it running?' >&2; exit 1",
            "Cannot connect.*start it",
        ),
        ("echo 'something else' >&2; exit 3", "something else; is it running"),
        ("exit 3", "exit code 3"),
    ],
)
def test_an_engine_that_refuses(bin: Path, script: str, told: str) -> None:
    play(bin, script)
    with pytest.raises(NotAvailable, match=told):
        LocalDockerProvider()


def test_a_program_that_may_not_be_run_is_none(bin: Path) -> None:
    play(bin, "")
    (bin / "docker").chmod(0o644)
    if os.access(bin / "docker", os.X_OK):
        pytest.skip("this user may run everything")
    with pytest.raises(NotAvailable, match="not found"):
        LocalDockerProvider()


def test_an_engine_that_hangs(bin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PING_S", 0.5)
    play(bin, "sleep 600")
    with pytest.raises(NotAvailable, match="docker does not answer within 0.5 s: its daemon hangs"):
        LocalDockerProvider()


REMOVES = """
case "$1 $2" in
"version --format") echo 28;;
"image inspect") echo '[{}]';;
"container ls") ;;
"container inspect") exit 1;;
"ps --all") ;;
"""


def test_a_run_that_fails_half_way_is_removed(bin: Path) -> None:
    """`docker run` prints an id, fails, and leaves a container that was never started."""
    failing = 'run*) echo 4f2a; echo "no space left on device" >&2; exit 125;;\nesac'
    asked = play(bin, REMOVES + failing)
    with pytest.raises(ProviderError, match="no space left on device"):
        LocalDockerProvider().launch(Launch(image="me/echo:1"))
    run = next(line for line in asked.read_text().splitlines() if line.startswith("run "))
    name = run.partition("--name=")[2].split()[0]
    assert name.startswith("openenv-echo-")
    assert f"rm --force --volumes {name}" in asked.read_text().splitlines()


def test_a_stop_that_hangs_still_removes(bin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openenv.providers.docker.STOP_S", 0.5)
    asked = play(bin, REMOVES + "stop*) sleep 600;;\nesac")
    container = Container(Engine("docker"), "me/echo:1")
    container.stop()
    assert f"rm --force --volumes {container.name}" in asked.read_text().splitlines()


def test_what_cannot_be_removed_is_said(bin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openenv.providers.docker.REMOVAL_S", 0.5)
    stuck = (
        REMOVES.replace('all") ;;', 'all") echo 4f2a;;')
        + "rm*) echo 'device busy' >&2; exit 1;;\nesac"
    )
    play(bin, stuck)
    container = Container(Engine("docker"), "me/echo:1")
    with pytest.raises(ProviderError, match=r"device busy; try `docker rm --force openenv-echo"):
        container.stop()
    play(bin, REMOVES + "esac")
    container.stop()


def test_what_has_no_use_is_refused(bin: Path) -> None:
    play(bin, REMOVES + "esac")
    with pytest.raises(ProviderError, match="no use of project='p'; leave it out"):
        LocalDockerProvider().launch(Launch(image="i", project="p"))


def test_ports_that_clash_again_and_again(bin: Path) -> None:
    clash = "run*) echo 'Bind for 127.0.0.1:1 failed: port is already allocated' >&2; exit 125;;\n"
    asked = play(bin, REMOVES + clash + "esac")
    with pytest.raises(ProviderError, match="every port that the engine chose was taken, 5 times"):
        LocalDockerProvider().launch(Launch(image="me/echo:1"))
    lines = asked.read_text().splitlines()
    runs = [line for line in lines if line.startswith("run ")]
    removals = [line for line in lines if line.startswith("rm ")]
    assert len(runs) == 5
    assert len(removals) >= 5


def test_no_value_is_seen_among_processes_or_in_errors(bin: Path) -> None:
    failing = 'run*) echo "bad $MY_TOKEN" >&2; exit 125;;\nesac'
    asked = play(bin, REMOVES + failing)
    with pytest.raises(ProviderError, match="bad …") as caught:
        LocalDockerProvider().launch(Launch(image="i", env_vars={"MY_TOKEN": "hunter2"}))
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in asked.read_text()
