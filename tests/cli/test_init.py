"""`openenv init` and `openenv eject` as a newcomer runs them, from the wheel that is published."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPENENV = [sys.executable, "-m", "openenv.cli"]
READY = re.compile(r"http://127\.0\.0\.1:\d+")
PATIENCE_S = 100

pytestmark = pytest.mark.timeout(180)


def run(
    *command: str | Path, cwd: Path, env: Mapping[str, str] | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


@contextmanager
def serving(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """A server's address, until the block ends."""
    with subprocess.Popen(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        try:
            lines: list[str] = []
            for line in process.stderr:
                lines.append(line)
                if found := READY.search(line):
                    yield found[0]
                    break
            else:
                raise AssertionError("".join(lines))
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.stderr.read()


def play(readme: Path, url: str, cwd: Path) -> str:
    """What the example of a README prints."""
    [example] = re.findall(r"^```python\n(.*?)^```$", readme.read_text(), re.DOTALL | re.MULTILINE)
    code = example.replace("http://localhost:8000", url)
    return run(sys.executable, "-c", code, cwd=cwd).stdout


ECHOED = "My Env is ready!\nHello, World! 1.0\n"


# ── where it works, once it is made ───────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `openenv init my_env` was run."""
    folder = tmp_path_factory.mktemp("new")
    made = run(*OPENENV, "init", "my_env", cwd=folder)
    assert made.stdout == "Made my_env/ (17 files)\n"
    assert "\nNext:\n  cd my_env\n  openenv serve ." in made.stderr
    return folder


@pytest.mark.parametrize(
    ("command", "place"),
    [
        (["-m", "openenv.cli", "serve", ".", "--port", "0"], "my_env"),
        (["-m", "openenv.cli", "serve", "my_env", "--port", "0"], ""),
        (["-m", "my_env.server.app", "--port", "0"], ""),
        (["-m", "uvicorn", "my_env.server.app:app", "--port", "0"], ""),
    ],
)
def test_it_is_served_and_its_readme_is_right(folder: Path, command: list[str], place: str) -> None:
    with serving(sys.executable, *command, cwd=folder / place) as url:
        assert play(folder / "my_env/README.md", url, folder) == ECHOED


@pytest.mark.parametrize("kind", ["thread", "process"])
def test_a_copy_under_another_name_is_served(folder: Path, tmp_path: Path, kind: str) -> None:
    copy = shutil.copytree(folder / "my_env", tmp_path / "a-clone")
    command = (*OPENENV, "serve", ".", "--port", "0", "--host-kind", kind)
    with serving(*command, cwd=copy) as url:
        assert play(copy / "README.md", url, folder) == ECHOED


def test_its_test_passes_where_it_lies(folder: Path) -> None:
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore")
    assert "2 passed" in run(*command, cwd=folder / "my_env").stdout


def test_git_keeps_its_outputs_folders_and_nothing_in_them(folder: Path) -> None:
    package = folder / "my_env"
    (package / "outputs/logs/today.log").write_text("x")
    (package / ".env").write_text("TOKEN=x")
    git = ("git", "-c", "core.excludesFile=/dev/null")
    run(*git, "init", "--quiet", cwd=package)
    run(*git, "add", ".", cwd=package)
    kept = run(*git, "ls-files", cwd=package).stdout.splitlines()
    assert {"outputs/logs/.gitkeep", "outputs/evals/.gitkeep", ".dockerignore"} <= set(kept)
    assert {"outputs/logs/today.log", ".env"} & set(kept) == set()


# ── the published wheel ───────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def uv() -> tuple[str, ...]:
    return (sys.executable, "-m", "uv", "--quiet")


@pytest.fixture(scope="module")
def wheels(uv: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with this checkout's wheel, as it is published."""
    folder = tmp_path_factory.mktemp("wheels")
    run(*uv, "build", "--wheel", "--out-dir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def fresh(uv: tuple[str, ...], wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment's programs: nothing is installed there but the wheel."""
    venv = tmp_path_factory.mktemp("fresh") / "venv"
    run(*uv, "venv", "--python", sys.executable, venv, cwd=wheels)
    install(uv, venv / "bin/python", *wheels.glob("*.whl"))
    return venv / "bin"


def install(uv: tuple[str, ...], python: Path, *what: str | Path, **env: str) -> None:
    """Installs into the environment of an interpreter, never into the one that runs the tests."""
    run(*uv, "pip", "install", "--python", python, *what, cwd=python.parent, env=env)


def test_the_wheel_makes_the_same_files(fresh: Path, folder: Path, tmp_path: Path) -> None:
    run(fresh / "openenv", "init", "my_env", cwd=tmp_path)
    names = json.loads(run(*OPENENV, "init", "other", "--json", cwd=tmp_path).stdout)["files"]
    assert len(names) == 17
    for name in (name.replace("other", "my_env") for name in names):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize("how", [("-e",), ()], ids=["editable", "whole"])
def test_it_can_be_installed_and_brings_its_command(
    uv: tuple[str, ...],
    fresh: Path,
    wheels: Path,
    folder: Path,
    tmp_path: Path,
    how: tuple[str, ...],
) -> None:
    package = folder / "my_env"
    install(uv, fresh / "python", *how, package, UV_FIND_LINKS=str(wheels))
    with serving(fresh / "server", "--port", "0", cwd=tmp_path) as url:
        code = "import my_env, my_env.models as m; print(my_env.MyAction is m.MyAction)"
        assert run(fresh / "python", "-c", code, cwd=tmp_path).stdout == "True\n"
        assert play(package / "README.md", url, folder) == ECHOED


def test_uv_runs_it(uv: tuple[str, ...], wheels: Path, folder: Path) -> None:
    env = {"UV_FIND_LINKS": str(wheels)}
    command = (*uv, "run", "--isolated", "server", "--port", "0")
    with serving(*command, cwd=folder / "my_env", env=env) as url:
        assert play(folder / "my_env/README.md", url, folder) == ECHOED


# ── one file, and what grows from it ──────────────────────────────────────────────────────────────


def test_one_file_is_served_and_grows_into_a_package(tmp_path: Path) -> None:
    assert run(*OPENENV, "init", "tiny", "--minimal", cwd=tmp_path).stdout == "Made tiny.py\n"
    with serving(*OPENENV, "serve", "tiny.py", "--port", "0", cwd=tmp_path) as url:
        code = (
            "from openenv import GenericEnvClient as Client\n"
            f"with Client(base_url='{url}') as env:\n"
            "    env.reset(); print(env.step({'message': 'hello'}).reward)"
        )
        assert run(sys.executable, "-c", code, cwd=tmp_path).stdout == "0.5\n"
    made = json.loads(run(*OPENENV, "eject", "tiny.py", "tiny_env", "--json", cwd=tmp_path).stdout)
    assert "tiny_env/server/tiny_env_environment.py" in made["files"]
    with serving(*OPENENV, "serve", "tiny_env", "--port", "0", cwd=tmp_path) as url:
        assert "Tiny is ready!" in play(tmp_path / "tiny_env/README.md", url, tmp_path)


# ── what goes wrong ───────────────────────────────────────────────────────────────────────────────


def test_a_wrong_name_exits_with_2_and_a_suggestion(tmp_path: Path) -> None:
    done = run(*OPENENV, "init", "my-env", cwd=tmp_path, code=2)
    assert done.stdout == ""
    assert done.stderr.startswith("Error: an environment cannot be called 'my-env'")
    assert done.stderr.endswith("try my_env\n")
    assert os.listdir(tmp_path) == []


def test_a_taken_place_exits_with_2_and_one_that_cannot_be_written_with_1(tmp_path: Path) -> None:
    run(*OPENENV, "init", "my_env", cwd=tmp_path)
    assert "is there already" in run(*OPENENV, "init", "my_env", cwd=tmp_path, code=2).stderr
    done = run(*OPENENV, "init", "my_env", "-o", "/proc/nowhere", cwd=tmp_path, code=1)
    assert "Error: /proc/nowhere/my_env cannot be written" in done.stderr


def test_a_lock_that_cannot_be_had_is_a_warning(tmp_path: Path) -> None:
    env = {"PATH": str(tmp_path)}
    done = run(*OPENENV, "init", "my_env", "--lock", cwd=tmp_path, env=env)
    assert "Warning: no uv.lock was written: uv cannot be run" in done.stderr
    assert (tmp_path / "my_env/pyproject.toml").is_file()


def test_a_console_without_unicode_is_no_obstacle(tmp_path: Path) -> None:
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    run(*OPENENV, "init", "my_env", cwd=tmp_path, env=env)
    assert "emoji: " in (tmp_path / "my_env/README.md").read_text(encoding="utf-8")
    run(*OPENENV, "requirements", "my_env", cwd=tmp_path, env=env)


def test_stale_requirements_exit_with_1_until_they_are_written(tmp_path: Path) -> None:
    run(*OPENENV, "init", "my_env", cwd=tmp_path)
    pyproject = tmp_path / "my_env/pyproject.toml"
    pyproject.write_text(
        pyproject.read_text().replace('dependencies = ["', 'dependencies = ["torch", "')
    )
    check = (*OPENENV, "requirements", "my_env", "--check")
    assert "  + torch" in run(*check, cwd=tmp_path, code=1).stderr
    run(*OPENENV, "requirements", "my_env", cwd=tmp_path)
    run(*check, cwd=tmp_path)
