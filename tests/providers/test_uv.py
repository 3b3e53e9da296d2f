"""UVProvider with the real uv: projects of a directory and of a repository."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from openenv.protocol.errors import NotAvailable, NotReady, ProviderError
from openenv.providers import Launch, Resources, UVProvider, scratch
from openenv.providers.uv import _split_revision
from tests.providers.test_process import processes
from tests.serving import eventually

pytestmark = pytest.mark.timeout(240)
LONG_S = 180.0
PROJECT = """
[project]
name = "tiny"
version = "0"
requires-python = ">=3.10"
dependencies = ["uvicorn"]
"""
APP = """
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "tiny project"
    (directory / "server").mkdir(parents=True)
    (directory / "pyproject.toml").write_text(PROJECT)
    (directory / "server" / "app.py").write_text(APP)
    return directory


def test_a_projects_life(project: Path) -> None:
    provider = UVProvider(project_path=project, context_timeout_s=LONG_S)
    with pytest.raises(RuntimeError, match="no server runs"):
        _ = provider.base_url
    provider.stop()
    url = provider.start()
    assert url == provider.base_url
    assert url.startswith("http://127.0.0.1:")
    provider.wait_for_ready()
    with pytest.raises(RuntimeError, match="runs already"):
        provider.start()
    provider.stop()
    assert processes(project) == []
    with provider as same:
        same.wait_for_ready(LONG_S)
    assert processes(project) == []


def test_every_address_is_reached_by_the_loopback(project: Path) -> None:
    with UVProvider(project_path=project, host="0.0.0.0", context_timeout_s=LONG_S) as provider:
        assert provider.base_url.startswith("http://127.0.0.1:")
        provider.wait_for_ready()


def test_a_launch_beside_it(project: Path) -> None:
    provider = UVProvider(project_path=project)
    said = Launch(ready_timeout_s=LONG_S, options={"workers": 2})
    with provider.launch(said) as one, provider.launch(said) as two:
        assert one.url != two.url
    with pytest.raises(ProviderError, match="no option gpu; its options are workers"):
        provider.launch(Launch(options={"gpu": 1}))
    with pytest.raises(ProviderError, match="cannot limit"):
        provider.launch(Launch(resources=Resources(cpus=1)))


def test_a_given_port_is_known_at_once_and_its_server_is_the_right_one(project: Path) -> None:
    provider = UVProvider(project_path=project, context_timeout_s=LONG_S)
    with UVProvider(project_path=project, context_timeout_s=LONG_S) as first:
        port = int(first.base_url.rpartition(":")[2])
        assert provider.start(port=port) == first.base_url
        with pytest.raises(RuntimeError, match="ended with exit code"):
            provider.wait_for_ready()
        provider.stop()
    assert processes(project) == []


def test_a_server_that_dies_tells_why(project: Path) -> None:
    (project / "server" / "app.py").write_text("raise SystemExit('the level file is missing')")
    provider = UVProvider(project_path=project, context_timeout_s=LONG_S)
    with pytest.raises(RuntimeError, match="the level file is missing"):
        provider.start()
    provider.stop()
    assert processes(project) == []


def test_a_project_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="no pyproject.toml"):
        UVProvider(project_path=tmp_path).start()


def test_a_start_that_takes_too_long(project: Path) -> None:
    (project / "server" / "app.py").write_text("import time; time.sleep(600)")
    provider = UVProvider(project_path=project, context_timeout_s=3)
    with pytest.raises(NotReady, match="did not listen within 3 s"):
        provider.start()
    assert processes(project) == []


def test_a_machine_without_uv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(NotAvailable, match="pip install uv"):
        UVProvider(project_path=tmp_path)


@pytest.fixture
def repository(project: Path) -> str:
    def git(*args: str) -> None:
        environ = os.environ | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
        who = ("-c", "user.name=me", "-c", "user.email=me@example.org")
        subprocess.run(
            ["git", *who, *args],
            cwd=project,
            check=True,
            capture_output=True,
            timeout=30,
            env=environ,
        )

    git("init", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--message=one")
    git("tag", "v1")
    (project / "pyproject.toml").unlink()
    git("commit", "--all", "--message=no project any more")
    return f"git+file://{project}"


def test_a_repository_is_cloned_for_as_long_as_it_runs(
    repository: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with UVProvider(project_path=f"{repository}@v1", context_timeout_s=LONG_S) as provider:
        provider.wait_for_ready()
        assert len(list(scratch.iterdir())) == 1
    assert list(scratch.iterdir()) == []
    first = subprocess.run(
        ["git", "rev-parse", "v1"],
        cwd=repository.removeprefix("git+file://"),
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    ).stdout.strip()
    with UVProvider(project_path=f"{repository}@{first}", context_timeout_s=LONG_S) as provider:
        provider.wait_for_ready()
    with pytest.raises(ProviderError, match="no pyproject.toml"):
        UVProvider(project_path=repository).start()
    with pytest.raises(ProviderError, match="git .*no-such-branch"):
        UVProvider(project_path=f"{repository}@no-such-branch").start()
    assert list(scratch.iterdir()) == []
    eventually(lambda: processes(scratch) == [])


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes files of other users")
def test_what_other_users_put_beside_clones_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("list", "pipe"):
        (tmp_path / f"{scratch.PREFIX}{name}").mkdir()
    note = tmp_path / f"{scratch.PREFIX}list" / scratch.NOTE
    note.write_text('["openenv.owner"]')
    pipe = tmp_path / f"{scratch.PREFIX}pipe" / scratch.NOTE
    os.mkfifo(pipe)
    for path in (note, pipe):
        os.chown(path, 65534, 65534)
    scratch.remove(scratch.make())
    assert note.exists() and pipe.exists()


def test_the_clone_of_a_killed_program_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    program = "import os; from openenv.providers import scratch; print(scratch.make()); "
    program += "os.kill(os.getpid(), 9)"
    done = subprocess.run(
        [sys.executable, "-u", "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        timeout=30,
        check=False,
    )
    left = Path(done.stdout.strip())
    assert left.is_dir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    other = tmp_path / "openenv-launch-other"
    other.mkdir()
    (other / "owner.json").write_text("[]")
    mine = scratch.make()
    scratch.sweep()
    assert mine.is_dir()
    assert other.is_dir(), "whose it is, is not known"
    assert not left.exists()


@pytest.mark.parametrize(
    ("source", "split"),
    [
        ("https://host/me/env", ("https://host/me/env", None)),
        ("https://host/me/env@v1", ("https://host/me/env", "v1")),
        ("https://me:pw@host/env", ("https://me:pw@host/env", None)),
        ("https://me:pw@host/env@v1", ("https://me:pw@host/env", "v1")),
        ("ssh://git@host/env", ("ssh://git@host/env", None)),
        ("ssh://git@host", ("ssh://git@host", None)),
    ],
)
def test_the_revision_of_an_address(source: str, split: tuple[str, str | None]) -> None:
    assert _split_revision(source) == split
