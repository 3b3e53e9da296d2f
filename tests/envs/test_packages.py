"""What holds for every example environment: how it is packed, imported and started."""

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

from openenv import EnvClient
from openenv.catalog.installed import find
from openenv.catalog.manifest import read_manifest
from openenv.project import requirements, scaffold
from openenv.project.names import EnvName
from openenv.validation.plan import PLAN, read_plan
from tests.docs.catalog_pages import HEADS, INDEX, page, page_of, row
from tests.docs.reader import Reader
from tests.envs.case import Case, case_of, cases, playable, wanted

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENTS = sorted(
    path.parent for path in ROOT.glob("envs/*/openenv.yaml") if wanted(path.parent.name)
)
TEST_TOOLS = {"pytest", "pytest-asyncio", "pytest-timeout"}

Serving = Callable[..., AbstractContextManager[str]]


@pytest.fixture(params=ENVIRONMENTS, ids=lambda path: path.name)
def package(request: pytest.FixtureRequest) -> Path:
    """The directory of an environment."""
    directory: Path = request.param
    return directory


@pytest.fixture(params=playable(), ids=lambda case: case.package)
def installed(request: pytest.FixtureRequest) -> Path:
    """The same, of those that are installed with their engines."""
    case: Case = request.param
    assert case.missing() is None, case.missing()
    return ROOT / "envs" / case.package


def _project(package: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    return project


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


def test_it_is_tested_as_all_are(package: Path) -> None:
    assert package.name in {case.package for case in cases()}, "it has no tests/envs/*/case.py"


def test_the_manifest_says_what_to_serve(package: Path) -> None:
    manifest = yaml.safe_load((package / "openenv.yaml").read_text())
    assert manifest["spec_version"] == 1
    assert manifest["name"] == package.name
    assert (manifest["type"], manifest["runtime"]) == ("space", "fastapi")
    assert (manifest["app"], manifest["port"]) == ("server.app:app", 8000)
    assert manifest["description"]


def test_the_manifest_and_a_plan_say_what_it_is_held_to(package: Path) -> None:
    declared = read_manifest(package).validation
    assert declared is not None, "openenv.yaml has no validation: block"
    assert declared["reward"]["range"]
    assert declared["resources"]
    assert declared["types"]["tags"]
    assert read_plan(package / PLAN).actions


def test_a_client_s_package_is_light_and_the_extras_have_the_rest(package: Path) -> None:
    project = _project(package)
    name = f"openenv-{package.name.replace('_', '-')}"
    extras = project["optional-dependencies"]
    assert project["name"] == name
    assert [_named(each) for each in project["dependencies"]] == ["openenv-core"]
    assert {"fastapi", "uvicorn"} <= {_named(each) for each in extras["server"]}
    assert {_named(each) for each in extras["dev"]} >= TEST_TOOLS
    assert any(each.startswith(f"{name}[server") for each in extras["dev"])


def _named(requirement: str) -> str:
    """What a requirement names, without extras and versions."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def test_the_package_is_found_by_its_names(installed: Path) -> None:
    commands = {command.name: command.value for command in entry_points(group="console_scripts")}
    dashed = installed.name.replace("_", "-")
    assert commands[f"{dashed}-server"] == f"{installed.name}.server.app:main"
    for name in (installed.name, dashed, f"openenv-{dashed}", installed.name.removesuffix("_env")):
        found = find(name)
        assert found.package == installed.name
        assert issubclass(found.get_client_class(), EnvClient)
        assert found.problem is None
    assert entry_points(group="openenv.environments")[installed.name].value == installed.name


def test_a_client_needs_no_server_packages(installed: Path) -> None:
    code = f"import {installed.name}, sys; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=15
    )
    assert {"fastapi", "starlette", "uvicorn"} & set(run.stdout.split()) == set()


@pytest.mark.parametrize("layout", ["installed", "repository", "standalone"])
def test_the_app_is_found_from_everywhere(
    installed: Path, layout: str, serving: Serving, tmp_path: Path
) -> None:
    app, directory = {
        "installed": (f"{installed.name}.server.app:app", tmp_path),
        "repository": (f"envs.{installed.name}.server.app:app", ROOT),
        "standalone": ("server.app:app", installed),
    }[layout]
    with (
        serving("uvicorn", app, "--port", "0", cwd=directory) as url,
        urllib.request.urlopen(f"{url}/health", timeout=10) as reply,
    ):
        assert json.load(reply)["status"] == "healthy"


def test_every_layout_has_the_same_classes(installed: Path) -> None:
    package = import_module(installed.name)
    repository = import_module(f"envs.{installed.name}")
    for name in package.__all__:
        assert getattr(repository, name) is getattr(package, name)


def test_its_image_is_made_as_a_new_package_s(package: Path) -> None:
    name = EnvName(package.name)
    made = scaffold.package(name, scaffold.echo(name))
    assert (package / "server/Dockerfile").read_text() == made["server/Dockerfile"]
    requirements.check(package)


def test_the_catalog_shows_it_as_it_is(installed: Path) -> None:
    case = case_of(installed.name)
    anew = "docs/environments is out of date; `make catalog` writes it anew"
    assert page_of(case).read_text(encoding="utf-8") == page(case), anew
    lines = INDEX.read_text(encoding="utf-8").splitlines()
    assert _unlicensed(row(case)) in map(_unlicensed, lines), anew


def _unlicensed(line: str) -> list[str]:
    """A row without its engine's licence, which each release words anew."""
    cells = line.split(" | ")
    del cells[HEADS.index("engine") : HEADS.index("engine") + 1]
    return cells


@pytest.mark.timeout(120)
def test_what_its_readme_shows_works(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Reader(installed / "README.md", tmp_path).read()


def test_its_readme_is_the_card_of_a_space(package: Path) -> None:
    _, head, text = (package / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    card = yaml.safe_load(head)
    assert {"title", "emoji", "sdk", "app_port", "tags"} <= card.keys()
    assert (card["sdk"], card["app_port"]) == ("docker", 8000)
    assert "openenv" in card["tags"]
    assert re.search(r"^# \w", text, re.MULTILINE)
