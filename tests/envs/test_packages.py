"""What holds for every example environment: how it is packed, imported and started."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.metadata import entry_points, requires
from pathlib import Path

import pytest
import yaml

from openenv.project import requirements, scaffold
from openenv.project.names import EnvName

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENTS = sorted(path.parent for path in ROOT.glob("envs/*/openenv.yaml"))

Serving = Callable[..., AbstractContextManager[str]]


@pytest.fixture(params=ENVIRONMENTS, ids=lambda path: path.name)
def package(request: pytest.FixtureRequest) -> Path:
    """The directory of an environment."""
    directory: Path = request.param
    return directory


def test_every_usual_file_is_there(package: Path) -> None:
    name = package.name
    expected = {
        "__init__.py",
        "models.py",
        "client.py",
        "openenv.yaml",
        "pyproject.toml",
        "README.md",
        ".dockerignore",
        "server/__init__.py",
        "server/app.py",
        f"server/{name.removesuffix('_env')}_environment.py",
        "server/Dockerfile",
        "server/requirements.txt",
    }
    assert {file for file in expected if not (package / file).is_file()} == set()


def test_the_manifest_says_what_to_serve(package: Path) -> None:
    manifest = yaml.safe_load((package / "openenv.yaml").read_text())
    assert manifest["spec_version"] == 1
    assert manifest["name"] == package.name
    assert (manifest["type"], manifest["runtime"]) == ("space", "fastapi")
    assert (manifest["app"], manifest["port"]) == ("server.app:app", 8000)


def test_the_package_brings_a_command_of_its_own(package: Path) -> None:
    commands = {command.name: command.value for command in entry_points(group="console_scripts")}
    name = package.name.replace("_", "-")
    assert commands[f"{name}-server"] == f"{package.name}.server.app:main"
    assert "openenv-core" in " ".join(requires(f"openenv-{name}") or [])


def test_a_client_needs_no_server_packages(package: Path) -> None:
    code = f"import {package.name}, sys; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=15
    )
    assert {"fastapi", "starlette", "uvicorn"} & set(run.stdout.split()) == set()


@pytest.mark.parametrize("layout", ["installed", "repository", "standalone"])
def test_the_app_is_found_from_everywhere(
    package: Path, layout: str, serving: Serving, tmp_path: Path
) -> None:
    app, directory = {
        "installed": (f"{package.name}.server.app:app", tmp_path),
        "repository": (f"envs.{package.name}.server.app:app", ROOT),
        "standalone": ("server.app:app", package),
    }[layout]
    with (
        serving("uvicorn", app, "--port", "0", cwd=directory) as url,
        urllib.request.urlopen(f"{url}/health", timeout=10) as reply,
    ):
        assert json.load(reply)["status"] == "healthy"


def test_every_layout_has_the_same_classes(package: Path) -> None:
    installed = import_module(package.name)
    repository = import_module(f"envs.{package.name}")
    for name in installed.__all__:
        assert getattr(repository, name) is getattr(installed, name)


def test_its_image_is_made_as_a_new_package_s(package: Path) -> None:
    name = EnvName(package.name)
    made = scaffold.package(name, scaffold.echo(name))
    assert (package / "server/Dockerfile").read_text() == made["server/Dockerfile"]
    requirements.check(package)
