"""The card of an environment that says nothing of itself is what its package's manifest says."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.serving import serving

WORLD = """
from openenv import Action, Environment, Observation

class World(Environment[Action, Observation]):
    def reset(self, **options) -> Observation:
        return Observation()

    def step(self, action: Action) -> Observation:
        return Observation()
"""
MANIFEST = "name: carded_env\nversion: 0.3.0\ndescription: A world of cards.\n"
PACKAGE = "carded_env"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with an environment in `server/`, and one in a directory below."""
    folder = tmp_path / PACKAGE
    for place in (folder, folder / "server", folder / "server" / "deep"):
        place.mkdir()
        (place / "__init__.py").touch()
        (place / "world.py").write_text(WORLD)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]


def card(module: str, served: str = "class") -> dict[str, Any]:
    world = import_module(f"{PACKAGE}.{module}").World
    with serving(world if served == "class" else world()) as server:
        answer = server.http("GET", "/metadata")
    assert answer.status == 200
    told: dict[str, Any] = answer.json()
    return told


@pytest.mark.parametrize("module", ["world", "server.world"])
@pytest.mark.parametrize("served", ["class", "instance"])
def test_the_manifest_says_what_the_environment_does_not(
    package: Path, module: str, served: str
) -> None:
    (package / "openenv.yaml").write_text(MANIFEST)
    told = card(module, served)
    assert (told["name"], told["description"], told["version"]) == (
        "World",
        "A world of cards.",
        "0.3.0",
    )


@pytest.mark.parametrize(
    "text", [None, "", "[1, 2]", "{", "version: [", "name: x\n", "\x00", "description: ''"]
)
def test_a_manifest_that_says_nothing_leaves_a_card(package: Path, text: str | None) -> None:
    if text is not None:
        (package / "openenv.yaml").write_text(text)
    told = card("server.world")
    assert (told["description"], told["version"]) == ("World environment", "1.0.0")


def test_a_manifest_further_up_is_somebody_elses(package: Path) -> None:
    (package / "openenv.yaml").write_text(MANIFEST)
    assert card("server.deep.world")["description"] == "World environment"
