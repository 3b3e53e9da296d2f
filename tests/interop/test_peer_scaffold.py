"""A package as the peer's own scaffold makes it, untouched: served, and built into an image."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from openenv import GenericEnvClient
from openenv.providers import Launch, LocalDockerProvider
from openenv.providers.docker import Container
from openenv.providers.engine import Engine
from tests.containers import conftest
from tests.interop.serving import OURS, PEER_VENV, served

pytestmark = pytest.mark.interop
engine = conftest.engine
CALL_S = 120
BUILD_S = 300
BASE = """\
FROM openenv-base
COPY uv /usr/local/bin/uv
RUN printf '#!/bin/sh\\n' >/usr/local/bin/apt-get && chmod +x /usr/local/bin/apt-get
"""
"""What that Dockerfile takes for granted: uv, and an apt-get, which has nothing left to install."""


@pytest.fixture(scope="module")
def package(peer: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `openenv init my_env` of the peer makes."""
    folder = tmp_path_factory.mktemp("peer")
    command = [str(PEER_VENV / "bin/openenv"), "init", "my_env"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=CALL_S)
    return folder / "my_env"


def files(package: Path) -> dict[Path, bytes]:
    """What the author sees of a package."""
    return {
        path: path.read_bytes()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def echoes(url: str) -> None:
    with GenericEnvClient(base_url=url).sync() as env:
        env.reset(seed=1, episode_id="mine")
        result = env.step({"message": "hello"})
        assert result.observation["echoed_message"] == "hello"
        assert result.reward == pytest.approx(0.5)
        state = env.state()
        assert (state["episode_id"], state["step_count"]) == ("mine", 1)


@pytest.mark.timeout(CALL_S + 60)
@pytest.mark.parametrize(
    "command",
    [
        ("-m", "openenv.cli", "serve", "PACKAGE", "--port", "PORT"),
        ("-m", "uvicorn", "my_env.server.app:app", "--app-dir", "ABOVE", "--port", "PORT"),
        ("-m", "uvicorn", "server.app:app", "--app-dir", "PACKAGE", "--port", "PORT"),
    ],
    ids=["openenv serve", "uvicorn above", "uvicorn inside"],
)
def test_it_is_served(package: Path, command: tuple[str, ...]) -> None:
    places = {"PACKAGE": str(package), "ABOVE": str(package.parent)}
    with served(OURS, *(places.get(word, word) for word in command)) as url:
        echoes(url)


@pytest.mark.timeout(CALL_S + 60)
def test_it_is_a_valid_environment(package: Path) -> None:
    command = [OURS, "-m", "openenv.cli", "validate", str(package), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=CALL_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    results = {
        result["check_id"]: result["status"] for result in json.loads(done.stdout)["results"]
    }
    assert results["runtime.startup"] == results["runtime.episode"] == "pass"
    assert {"fail", "error"} & set(results.values()) == set(), results


@pytest.fixture(scope="module")
def base(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A base image with what the peer's has, as far as its Dockerfile needs it."""
    from uv import find_uv_bin

    folder = tmp_path_factory.mktemp("base")
    (folder / "Dockerfile").write_text(BASE)
    (folder / "uv").write_bytes(Path(find_uv_bin()).read_bytes())
    (folder / "uv").chmod(0o755)
    name = "openenv-test-peer-base:latest"
    engine.call("build", "--tag", name, str(folder), timeout_s=BUILD_S)
    try:
        yield name
    finally:
        engine.call("rmi", "--force", name, check=False)


@pytest.mark.timeout(BUILD_S + 120)
def test_it_is_built_and_runs_on_this_version(engine: Engine, base: str, package: Path) -> None:
    before = files(package)
    name = "openenv-test-peer:latest"
    command = [OURS, "-m", "openenv.cli", "build", str(package), "--json", "--tag", name]
    command += ["--base-image", base, "--network", "host"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_S, check=False)
    try:
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["name"] == name
        provider = LocalDockerProvider(engine="docker")
        with provider.launch(Launch(image=name, ready_timeout_s=90)) as running:
            echoes(running.url)
            assert isinstance(running, Container)
            code = "from openenv.client import transports; print(transports.__name__)"
            said = engine.call("exec", running.name, "python", "-c", code).stdout
            assert said == "openenv.client.transports\n"
    finally:
        engine.call("rmi", "--force", name, check=False)
    assert files(package) == before
