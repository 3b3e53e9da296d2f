"""What an image is built of, and what is said when none can be built. No engine is needed here."""

import base64
import hashlib
import os
import signal
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from openenv import __version__
from openenv.catalog.manifest import ManifestError
from openenv.project import dockerfile, scaffold
from openenv.project.build import BuildOptions, build, default_tag, parse_build_args
from openenv.project.context import BuildContext, find_dockerfile, prepare
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.names import EnvName
from openenv.project.own_wheel import write_own_wheel
from openenv.protocol.errors import NotAvailable
from tests.serving import eventually


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return scaffold.create(EnvName("my_env"), tmp_path)


def prepared(package: Path, *, own: bool = True) -> BuildContext:
    into = package.parent / "into"
    into.mkdir()
    return prepare(package, find_dockerfile(package, None), into, own=own, cache_mounts=True)


# ── this version of OpenEnv ───────────────────────────────────────────────────────────────────────


def test_the_wheel_holds_every_module_and_its_record_is_right(tmp_path: Path) -> None:
    path = write_own_wheel(tmp_path)
    assert path.name == f"openenv_core-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        wanted = ("openenv/__init__.py", "openenv/py.typed", "openenv_core/__init__.py")
        assert {*wanted, "envs/__init__.py"} <= {*names}
        assert "openenv/project/templates/package/dot-gitignore.tmpl" in names
        assert not any("__pycache__" in name for name in names)
        folder = f"openenv_core-{__version__}.dist-info"
        assert b"openenv = openenv.cli.__main__:main" in wheel.read(f"{folder}/entry_points.txt")
        assert f"Version: {__version__}\n".encode() in wheel.read(f"{folder}/METADATA")
        for line in wheel.read(f"{folder}/RECORD").decode().splitlines():
            name, digest, size = line.rsplit(",", 2)
            if digest:
                found = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest())
                assert digest == f"sha256={found.decode().rstrip('=')}"
                assert int(size) == len(wheel.read(name))
        assert len(names) == len(set(names)) == len(wheel.read(f"{folder}/RECORD").splitlines())


def test_the_wheel_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = (write_own_wheel(tmp_path / name).read_bytes() for name in ("one", "two"))
    assert one == two


def test_the_copy_pins_this_version_and_the_project_stays_as_it_is(package: Path) -> None:
    before = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}
    context = prepared(package)
    pin = f"openenv-core=={__version__}"
    assert f'dependencies = ["{pin}"]' in (context.directory / "pyproject.toml").read_text()
    lines = (context.directory / "server/requirements.txt").read_text().splitlines()
    assert lines[1:] == [pin]
    [wheel] = (context.directory / "openenv_wheel").iterdir()
    assert wheel.suffix == ".whl"
    assert (context.directory / ".dockerignore").read_text().endswith("\n!openenv_wheel\n")
    assert {path: path.read_bytes() for path in package.rglob("*") if path.is_file()} == before


def test_what_links_lead_to_stays_as_it_is(package: Path) -> None:
    for path in ("pyproject.toml", ".dockerignore", "server/requirements.txt"):
        original = package.parent / Path(path).name
        (package / path).rename(original)
        (package / path).symlink_to(original)
    before = {path: path.read_bytes() for path in package.parent.iterdir() if path.is_file()}
    context = prepared(package)
    assert f"=={__version__}" in (context.directory / "pyproject.toml").read_text()
    assert {path: path.read_bytes() for path in before} == before


def test_with_the_index_s_openenv_the_copy_says_what_the_project_says(package: Path) -> None:
    context = prepared(package, own=False)
    for path in ("pyproject.toml", "server/requirements.txt", ".dockerignore"):
        assert (context.directory / path).read_bytes() == (package / path).read_bytes()
    assert context.dockerfile.read_bytes() == (package / "server/Dockerfile").read_bytes()
    assert not (context.directory / "openenv_wheel").exists()


@pytest.mark.parametrize(
    ("requirement", "pinned"),
    [
        ("openenv>=0.2.2", "openenv-core=={}"),
        ("openenv", "openenv-core=={}"),
        ("openenv-core[core]>=0.2.1,<1", "openenv-core[core]=={}"),
        ("openenv_core ~= 0.2", "openenv-core=={}"),
        ("openenv @ git+https://example.org/openenv.git", "openenv-core=={}"),
        ("openenv>=0.2; python_version > '3'", "openenv-core=={}; python_version > '3'"),
        ("openenv-echo-env>=0.1", "openenv-echo-env>=0.1"),
        ("openenvironment", "openenvironment"),
        ("numpy", "numpy"),
    ],
)
def test_a_requirement_of_openenv_is_pinned_under_either_name(
    package: Path, requirement: str, pinned: str
) -> None:
    text = (package / "pyproject.toml").read_text()
    (package / "pyproject.toml").write_text(
        text.replace(f'"{scaffold.own_requirement()}"', f'"{requirement}"')
    )
    expected = f'dependencies = ["{pinned.format(__version__)}"]'
    assert expected in (prepared(package).directory / "pyproject.toml").read_text()


def test_what_locks_another_openenv_stays_out_and_that_is_told(package: Path) -> None:
    (package / "uv.lock").write_text("version = 1\n")
    context = prepared(package)
    assert not (context.directory / "uv.lock").exists()
    assert [note.partition(":")[0] for note in context.notes] == ["uv.lock stays out"]
    assert (package / "uv.lock").exists()


def test_a_dockerfile_s_own_list_of_what_to_ignore_counts(package: Path) -> None:
    (package / "server" / "Dockerfile.dockerignore").write_text("private\n")
    context = prepared(package)
    told = (context.directory / ".dockerignore").read_text()
    assert told.splitlines() == ["private", "", "!openenv_wheel"]
    assert "private" not in (package / ".dockerignore").read_text()


def test_caches_and_environments_are_not_copied(package: Path) -> None:
    for name in (".venv", ".git", "__pycache__", "x.egg-info", ".mypy_cache"):
        (package / name).mkdir()
        (package / name / "file").write_text("x")
    copied = {path.name for path in prepared(package).directory.iterdir()}
    assert copied & {".venv", ".git", "__pycache__", "x.egg-info", ".mypy_cache"} == set()


# ── Dockerfiles ───────────────────────────────────────────────────────────────────────────────────


def test_each_stage_that_installs_finds_the_wheel() -> None:
    text = dockerfile.with_wheels(
        "ARG BASE=a\n"
        "FROM ${BASE} AS one\nRUN uv sync\n"
        "from one\nRUN echo 1\n"
        "FROM x\nRUN pip install y\n"
    )
    given = "COPY openenv_wheel/ /opt/openenv/\n"
    assert text.startswith(f"ARG BASE=a\nFROM ${{BASE}} AS one\n{given}")
    assert "from one\nRUN echo 1\n" in text
    assert f"FROM x\n{given}" in text
    assert text.count("UV_FIND_LINKS=/opt/openenv") == 2


def test_a_fault_of_the_project_s_pyproject_is_told_where_the_author_finds_it(
    package: Path,
) -> None:
    (package / "pyproject.toml").write_text("[project\n")
    with pytest.raises(ManifestError, match=f"^{package}/pyproject.toml:1:9: "):
        prepared(package)


def test_what_only_looks_like_a_list_of_requirements_is_no_obstacle(package: Path) -> None:
    (package / "tools").mkdir()
    (package / "tools" / "pyproject.toml").write_text("[tool.ruff]\n")
    (package / "requirements-old.txt").symlink_to("nowhere")
    (package / "requirements.txt").mkdir()
    context = prepared(package)
    assert (context.directory / "tools" / "pyproject.toml").read_text() == "[tool.ruff]\n"
    [note] = context.notes
    assert note.startswith("tools/pyproject.toml is left as it is"), note


def test_caches_are_left_out_for_a_builder_that_has_none() -> None:
    text = "RUN --mount=type=cache,target=/var/cache/uv \\\n    uv sync\n"
    assert dockerfile.without_cache_mounts(text) == "RUN \\\n    uv sync\n"


def test_a_dockerfile_s_arguments_are_known() -> None:
    assert dockerfile.arguments("ARG A=1\n  arg B\nRUN echo ARG C\n") == {"A", "B"}


def test_the_dockerfile_is_the_usual_one_or_the_named_one(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "Dockerfile").write_text("FROM x\n")
    assert find_dockerfile(package, None) == package / "server/Dockerfile"
    assert find_dockerfile(package, Path("Dockerfile")) == package / "Dockerfile"
    (package / "server/Dockerfile").unlink()
    assert find_dockerfile(package, None) == package / "Dockerfile"
    monkeypatch.chdir(package.parent)
    assert find_dockerfile(package / "server", Path("my_env/Dockerfile")) == package / "Dockerfile"
    with pytest.raises(UsageProblem, match="there is no Dockerfile 'other'"):
        find_dockerfile(package, Path("other"))
    (package / "Dockerfile").unlink()
    with pytest.raises(ProjectError, match="neither server/Dockerfile nor Dockerfile"):
        find_dockerfile(package, None)


# ── what is asked for ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("folder", "tag"),
    [
        ("echo_env", "openenv-echo"),
        ("My.Env-2", "openenv-my.env-2"),
        ("_env", "openenv-env"),
        ("a..b-.c", "openenv-a-b-c"),
        ("環境", "openenv-environment"),
    ],
)
def test_an_image_is_called_after_its_folder(folder: str, tag: str) -> None:
    assert default_tag(Path("/somewhere") / folder) == tag


def test_build_arguments_are_pairs() -> None:
    assert parse_build_args(["A=1", "B=x=y", "C="]) == {"A": "1", "B": "x=y", "C": ""}
    for wrong in ("A", "=1", "1A=2", "a b=c"):
        with pytest.raises(UsageProblem, match="takes NAME=VALUE"):
            parse_build_args([wrong])


def test_a_folder_without_a_manifest_is_no_environment(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"openenv.yaml: there is no such file"):
        build(BuildOptions(directory=tmp_path))


def test_a_context_must_be_a_folder(package: Path) -> None:
    with pytest.raises(UsageProblem, match="--context"):
        build(BuildOptions(directory=package, context=package / "nowhere"))


def test_without_an_engine_there_is_no_image(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(package))
    with pytest.raises(NotAvailable, match="docker and podman not found on PATH"):
        build(BuildOptions(directory=package))


def fake_docker(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "docker"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("pull access denied for nowhere", "name another one with --base-image"),
        ("Temporary failure in name resolution", "try --network host"),
        ("error: it is broken", "it is broken"),
    ],
)
def test_a_build_that_fails_is_told_with_the_end_of_its_log(
    package: Path, monkeypatch: pytest.MonkeyPatch, said: str, advice: str
) -> None:
    script = (
        f'test "$1" = build || exit 0\nseq 100\nprintf "\\033[91m{said}\\033[0m\\n" >&2\nexit 1'
    )
    fake_docker(package.parent, script, monkeypatch)
    with pytest.raises(ProjectError) as caught:
        build(BuildOptions(directory=package, engine="docker"))
    text = str(caught.value)
    assert text.startswith("docker could not build openenv-my:\n72\n")
    assert said in text and advice in text and "\x1b" not in text


def test_the_engine_is_asked_for_all_that_was_asked_for(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = package.parent / "log"
    script = (
        f'echo "$@" >>{log}\n'
        'if [ "$1" = image ]; then echo \'[{"Id": "sha256:1", "Size": 5}]\'; fi'
    )
    fake_docker(package.parent, script, monkeypatch)
    image = build(
        BuildOptions(
            directory=package,
            tag="mine:1",
            no_cache=True,
            base_image="base:2",
            build_args={"MORE": "3"},
            engine="docker",
            network="host",
        )
    )
    assert (image.name, image.id, image.size_bytes, image.engine) == (
        "mine:1",
        "sha256:1",
        5,
        "docker",
    )
    [asked] = [line for line in log.read_text().splitlines() if line.startswith("build ")]
    for part in (
        "--tag mine:1",
        "--no-cache",
        "--network host",
        "--build-arg BASE_IMAGE=base:2",
        "--build-arg MORE=3",
    ):
        assert part in asked
    assert "BUILD_MODE" not in asked
    assert not Path(asked.split()[-1]).exists()


def test_a_base_image_needs_an_argument_for_it(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_docker(package.parent, "exit 0", monkeypatch)
    (package / "server/Dockerfile").write_text("FROM python:3.11-slim\n")
    with pytest.raises(UsageProblem, match="ARG BASE_IMAGE"):
        build(BuildOptions(directory=package, base_image="base:2", engine="docker"))


def test_what_is_no_text_comes_through_unharmed(package: Path) -> None:
    content = b"# caf\xe9\nopenenv>=0.2\n"
    (package / "requirements-dev.txt").write_bytes(content)
    copied = (prepared(package).directory / "requirements-dev.txt").read_bytes()
    assert copied == content.replace(b"openenv>=0.2", f"openenv-core=={__version__}".encode())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_build_that_is_ended_leaves_nothing(
    package: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    pid = package.parent / "pid"
    script = f'test "$1" = build || exit 0\necho $$ >{pid}.new; mv {pid}.new {pid}\nexec sleep 60'
    fake_docker(package.parent, script, monkeypatch)
    (scratch := package.parent / "scratch").mkdir()
    command = [sys.executable, "-m", "openenv.cli", "build", str(package), "--engine", "docker"]
    with subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(scratch)},
        stderr=subprocess.DEVNULL,
    ) as process:
        eventually(pid.exists)
        process.send_signal(number)
        assert process.wait(15) == code
    assert os.listdir(scratch) == []
    eventually(lambda: not Path(f"/proc/{pid.read_text().strip()}").exists())
