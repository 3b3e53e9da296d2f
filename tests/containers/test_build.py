"""Images that `openenv build` makes, from base images made here, played in containers."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from openenv import GenericEnvClient, __version__
from openenv.project import scaffold
from openenv.project.names import EnvName
from openenv.providers import Launch, LocalDockerProvider
from openenv.providers.docker import Container
from openenv.providers.engine import Engine

ROOT = Path(__file__).parents[2]
PYTHON = "openenv-base"
"""Python and nothing else; the package index is reached over the machine's own network."""
BUILD_S = 300

pytestmark = pytest.mark.timeout(BUILD_S + 120)


@contextmanager
def image(engine: Engine) -> Iterator[str]:
    """A name for an image, which is removed when the block ends."""
    name = f"openenv-test-build:{uuid.uuid4().hex[:8]}"
    try:
        yield name
    finally:
        engine.call("rmi", "--force", name, check=False)


@contextmanager
def playing(name: str) -> Iterator[Container]:
    """A container of an image that answers."""
    provider = LocalDockerProvider(engine="docker")
    with provider.launch(Launch(image=name, ready_timeout_s=90)) as running:
        assert isinstance(running, Container)
        yield running


def openenv_build(
    directory: Path, *options: str, code: int = 0
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "openenv.cli", "build", str(directory), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_S, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def said(url: str, message: str) -> Any:
    """What an environment that echoes answers."""
    with GenericEnvClient(base_url=url) as env:
        env.reset()
        return env.step({"message": message}).observation["echoed_message"]


def inside(engine: Engine, container: Container, *command: str) -> str:
    return engine.call("exec", container.name, *command).stdout.strip()


@pytest.fixture(scope="module")
def base(engine: Engine) -> Iterator[str]:
    """The base image of environments."""
    with image(engine) as name:
        options = ("--network", "host", "--build-arg", f"PYTHON_IMAGE={PYTHON}", "--tag", name)
        file = str(ROOT / "docker/base/Dockerfile")
        engine.call("build", *options, "--file", file, str(ROOT), timeout_s=BUILD_S)
        yield name


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return scaffold.create(EnvName("my_env"), tmp_path)


def test_a_new_environment_is_built_and_played(engine: Engine, base: str, package: Path) -> None:
    with image(engine) as name:
        done = openenv_build(package, "--tag", name, "--base-image", base, "--network", "host")
        answer = json.loads(done.stdout)
        assert answer["name"] == name
        assert answer["size_bytes"] > 1e7
        assert f"docker run --rm --init -p 127.0.0.1:8000:8000 {name}" in done.stderr
        with playing(name) as container:
            assert said(container.url, "hello") == "hello"
            holds_what_it_should(engine, container, name)


def holds_what_it_should(engine: Engine, container: Container, name: str) -> None:
    """This version, for a user without rights, compiled, and a health check that works."""
    version = "from importlib.metadata import version as v; print(v('openenv-core'))"
    assert inside(engine, container, "python", "-c", version) == __version__
    assert inside(engine, container, "id", "-u") == "1000"
    compiled = "import my_env, os; print(os.path.exists(my_env.__cached__))"
    assert inside(engine, container, "python", "-c", compiled) == "True"
    inside(engine, container, "touch", "/app/env/outputs/mine")
    found = engine.inspect("image", name)
    assert found is not None
    kind, *check = found["Config"]["Healthcheck"]["Test"]
    assert kind == "CMD"
    inside(engine, container, *check)


@pytest.mark.parametrize("buildkit", ["0", "1"], ids=["classic", "buildkit"])
def test_docker_alone_builds_it_on_the_base_image(
    engine: Engine, base: str, package: Path, buildkit: str
) -> None:
    old = engine.call("version", "--format", "{{.Client.Version}}").stdout.startswith("20.")
    if buildkit == "1" and not old and engine.call("buildx", "version", check=False).code != 0:
        pytest.skip("this client needs buildx, which is not installed")
    with image(engine) as name:
        options = ("--network", "host", "--build-arg", f"BASE_IMAGE={base}", "--tag", name)
        file = ("--file", str(package / "server/Dockerfile"), str(package))
        env = {"DOCKER_BUILDKIT": buildkit}
        engine.call("build", *options, *file, env=env, timeout_s=BUILD_S)
        with playing(name) as container:
            assert said(container.url, "hello") == "hello"


def test_echo_is_built_on_python_alone(engine: Engine) -> None:
    echo = ROOT / "envs/echo_env"
    with image(engine) as name:
        openenv_build(echo, "--tag", name, "--base-image", PYTHON, "--network", "host")
        with playing(name) as container:
            assert said(container.url, "hello") == "hello"


def test_an_app_that_cannot_be_imported_is_found_out_when_it_is_built(
    engine: Engine, base: str, package: Path
) -> None:
    app = package / "server/app.py"
    app.write_text(app.read_text() + "\nraise LookupError('no such game')\n")
    with image(engine) as name:
        options = ("--tag", name, "--base-image", base, "--network", "host")
        done = openenv_build(package, *options, code=1)
        assert f"Error: docker could not build {name}:" in done.stderr
        assert "LookupError: no such game" in done.stderr
        assert engine.inspect("image", name) is None


def test_a_base_image_that_is_not_there_is_told(engine: Engine, package: Path) -> None:
    done = openenv_build(package, "--base-image", "127.0.0.1:1/nowhere:1", code=1)
    assert "The base image cannot be had; name another one with --base-image." in done.stderr


def test_an_engine_that_does_not_run_is_told(engine: Engine, package: Path) -> None:
    socket = f"unix://{package}/docker.sock"
    command = [sys.executable, "-m", "openenv.cli", "build", str(package), "--engine", "docker"]
    done = subprocess.run(
        command,
        env={**os.environ, "DOCKER_HOST": socket},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "Error: docker does not answer" in done.stderr
