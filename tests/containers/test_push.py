"""`openenv push --registry` with a real engine, to a registry of our own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openenv.cli.__main__ import app
from openenv.providers.engine import Engine
from tests.hub.commands import invoke
from tests.hub.conftest import FILES, write
from tests.hub.registry import FakeRegistry, fake_registry

pytestmark = pytest.mark.timeout(120)

DOCKERFILE = {"server/Dockerfile": 'FROM openenv-base\nCOPY . /app\nCMD ["true"]\n'}


@pytest.fixture
def registry(engine: Engine) -> Iterator[FakeRegistry]:
    with fake_registry() as registry:
        try:
            yield registry
        finally:
            engine.call("image", "rm", "--force", image_in(registry), check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny_env", {**FILES, **DOCKERFILE, "prod.env": "KEY=1"})


def image_in(registry: FakeRegistry) -> str:
    return f"{registry.host}/me/tiny_env"


def push(registry: FakeRegistry, project: Path, *arguments: str) -> tuple[int, str]:
    return invoke("push", str(project), "--registry", f"{registry.host}/me", *arguments)


def test_an_image_is_built_of_what_is_published_and_pushed(
    engine: Engine, registry: FakeRegistry, project: Path
) -> None:
    run = CliRunner().invoke(
        app, ["push", str(project), "--registry", f"{registry.host}/me", "--interface"]
    )
    assert run.exit_code == 0, run.output
    assert run.stdout.splitlines()[0] == image_in(registry)
    assert list(registry.manifests) == ["me/tiny_env:latest"]
    inside = engine.call("run", "--rm", image_in(registry), "ls", "-a", "/app").stdout.split()
    assert "client.py" in inside
    assert "prod.env" not in inside
    variables = engine.call("run", "--rm", image_in(registry), "env").stdout.split()
    assert "ENABLE_WEB_INTERFACE=true" in variables


def test_the_interface_stays_off_unless_asked_for(
    engine: Engine, registry: FakeRegistry, project: Path
) -> None:
    code, words = push(registry, project)
    assert code == 0, words
    variables = engine.call("run", "--rm", image_in(registry), "env").stdout
    assert "ENABLE_WEB_INTERFACE" not in variables


def test_a_registry_that_refuses_says_how_to_log_in(registry: FakeRegistry, project: Path) -> None:
    registry.refuses = True
    code, words = push(registry, project)
    assert code == 1
    assert f"docker login {registry.host}" in words
    assert "was built" in words
    assert registry.manifests == {}


def test_a_registry_that_is_not_there(registry: FakeRegistry, project: Path) -> None:
    code, words = invoke("push", str(project), "--registry", "127.0.0.1:9/me")
    engine = Engine("docker")
    engine.call("image", "rm", "--force", "127.0.0.1:9/me/tiny_env", check=False)
    assert (code, "check the registry's name" in words) == (1, True), words


def test_a_dry_run_builds_nothing(engine: Engine, registry: FakeRegistry, project: Path) -> None:
    code, words = push(registry, project, "--dry-run")
    assert code == 0, words
    assert image_in(registry) in words
    assert engine.inspect("image", image_in(registry)) is None
