"""A package made of a one-file environment: what it holds, and what is refused."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from openenv.catalog.manifest import read_manifest, read_pyproject
from openenv.project.eject import Ejected, eject
from openenv.project.errors import ProjectError, UsageProblem
from openenv.protocol.errors import ConfigurationError
from tests.project.test_scaffold import FILES

WALK = '''
"""A walk.

Of some length.
"""
import random

from openenv import Action, Environment, Observation, State, create_app, serve

LIMIT = 3  # both halves need it


class Move(Action):
    by: int = LIMIT


class Position(Observation):
    at: int = 0


class WalkState(State):
    furthest: int = 0


class Walk(Environment[Move, Position, WalkState]):
    """Walks: to the "right"."""

    def __init__(self) -> None:
        super().__init__()
        self._state = WalkState()

    def reset(self, seed=None, episode_id=None, **options) -> Position:
        self._state = WalkState(episode_id=episode_id, furthest=random.Random(seed).randint(0, 0))
        return Position()

    def step(self, action: Move) -> Position:
        self._state.step_count += 1
        self._state.furthest += action.by
        return Position(at=self._state.furthest, done=self._state.furthest >= LIMIT)

    @property
    def state(self) -> WalkState:
        return self._state


app = create_app(Walk)

if __name__ == "__main__":
    serve(Walk)
'''


@pytest.fixture(autouse=True)
def interpreter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Forgets what a test has imported of its own files, and from where."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__path__", sys.modules[name])):
            del sys.modules[name]


def ejected(folder: Path, source: str = WALK, name: str | None = None) -> Ejected:
    path = folder / "walk.py"
    path.write_text(dedent(source).lstrip())
    return eject(path, name, folder)


def refusal(folder: Path, source: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        ejected(folder, source)
    assert not (folder / "walk").exists()
    return str(caught.value)


def test_the_package_is_the_usual_one(tmp_path: Path) -> None:
    made = ejected(tmp_path, name="walk_env")
    assert made.path == tmp_path / "walk_env"
    files = {path.relative_to(made.path).as_posix() for path in made.path.rglob("*")}
    assert {file.replace("my_game_env", "walk_env") for file in FILES} <= files
    assert (tmp_path / "walk.py").read_text() == WALK.lstrip()


def test_the_author_s_code_and_words_are_kept(tmp_path: Path) -> None:
    folder = ejected(tmp_path).path
    models = (folder / "models.py").read_text()
    environment = (folder / "server/walk_environment.py").read_text()
    assert "LIMIT = 3  # both halves need it" in models
    assert "class WalkState(State):" in models
    assert environment.startswith('"""A walk.\n\nOf some length.\n"""\nimport random\n')
    assert "from walk.models import LIMIT, Move, Position, WalkState\n" in environment
    assert (
        "class WalkEnv(EnvClient[Move, Position, WalkState])" in (folder / "client.py").read_text()
    )


def test_what_the_application_does_now_is_left_out_and_told(tmp_path: Path) -> None:
    made = ejected(tmp_path)
    environment = (made.path / "server/walk_environment.py").read_text()
    assert "create_app" not in environment and "serve" not in environment
    assert [note.partition(" stays out")[0] for note in made.notes] == [
        "`app = create_app(Walk)`",
        "`if __name__ == '__main__':`",
    ]


def test_its_files_can_be_read_and_speak_of_it(tmp_path: Path) -> None:
    folder = ejected(tmp_path).path
    assert read_manifest(folder).description == "Walks: to the right."
    assert read_pyproject(folder).name == "openenv-walk"


@pytest.mark.timeout(60)
def test_its_own_test_passes(tmp_path: Path) -> None:
    assert "1 passed" in _tested(ejected(tmp_path).path)


def _tested(folder: Path) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"]
    run = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=50, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


TOOLS = '''
from openenv import Environment, Observation, tool


class Board(Observation):
    cells: list[int] = [0]


class Game(Environment):
    """Nothing but tools."""

    def reset(self, seed=None) -> {first}:
        return {first}()

    @tool
    def move(self, cell: int, why: str = "") -> list[int]:
        """Takes a cell."""
        return [cell]
'''


@pytest.mark.timeout(60)
@pytest.mark.parametrize("first", ["Board", "Observation"])
def test_one_of_tools_has_a_client_that_calls_them(tmp_path: Path, first: str) -> None:
    folder = ejected(tmp_path, TOOLS.format(first=first)).path
    client = (folder / "client.py").read_text()
    assert f"class WalkEnv(MCPToolClient[CallToolAction, {first}, State])" in client
    readme = (folder / "README.md").read_text()
    assert "from walk import WalkEnv\n" in readme
    assert '# env.call_tool("move", cell=…)' in readme
    assert "1 passed" in _tested(folder)


def test_what_it_imports_becomes_a_dependency(tmp_path: Path) -> None:
    made = ejected(tmp_path, "import numpy as np\nimport yaml\nfrom typing import Any\n" + WALK)
    names = [re.split(r"[>=]", each)[0] for each in read_pyproject(made.path).dependencies]
    assert names == ["openenv-core", "PyYAML", "numpy"]


def test_types_of_openenv_itself_need_no_class_of_the_file(tmp_path: Path) -> None:
    made = ejected(
        tmp_path,
        """
        from openenv import Action, Environment, Observation

        class Nothing(Environment[Action, Observation]):
            def reset(self) -> Observation:
                return Observation()

            def step(self, action: Action) -> Observation:
                return Observation(reward=0.0)
        """,
    )
    assert "from openenv import Action as Action\n" in (made.path / "models.py").read_text()


def test_imports_from_the_future_stay_the_first_ones(tmp_path: Path) -> None:
    made = ejected(
        tmp_path,
        """
        from __future__ import annotations

        from openenv import Action, Environment, Observation

        class Count(Observation):
            number: int = 0

        class Counting(Environment[Action, Count]):
            def reset(self) -> Count:
                return Count()

            def step(self, action: Action) -> Count:
                return Count(reward=0.0)
        """,
    )
    models = (made.path / "models.py").read_text()
    compile(models, "models.py", "exec")
    assert "from openenv import Action as Action\n" in models


def test_a_folder_with_one_file_is_as_good_as_the_file(tmp_path: Path) -> None:
    (tmp_path / "only").mkdir()
    (tmp_path / "only/walk.py").write_text(WALK)
    assert eject(tmp_path / "only", "walk_env", tmp_path).path == tmp_path / "walk_env"


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


def test_neighbours_are_not_taken_along(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text("LIMIT = 3\n")
    text = refusal(tmp_path, "from rules import LIMIT as L\n" + WALK)
    assert "walk.py imports rules, a neighbour that is not taken along" in text


def test_a_file_of_a_package_is_not_alone(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "rules.py").write_text("LIMIT = 3\n")
    assert "a neighbour" in refusal(tmp_path, "from .rules import LIMIT as L\n" + WALK)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1\n", "defines no subclass of Environment"),
        ("import nowhere_to_be_found\n" + WALK, "could not be imported"),
        ("def broken(:\n", "could not be imported"),
        (WALK + "class Second(Walk):\n    pass\n", "defines 2 environments (Walk, Second)"),
        (WALK.replace("[Move, Position, WalkState]", "[Move | Position, Position]"), "no class"),
        (WALK.replace("by: int = LIMIT", "walk: 'Walk | None' = None"), "need Walk"),
    ],
)
def test_what_cannot_be_cut_is_refused_with_its_reason(
    tmp_path: Path, source: str, reason: str
) -> None:
    assert reason in refusal(tmp_path, source)


def test_a_package_is_a_package_already(tmp_path: Path) -> None:
    made = ejected(tmp_path)
    with pytest.raises(UsageProblem, match="is a package already"):
        eject(made.path, None, tmp_path)


def test_of_several_files_one_must_be_named(tmp_path: Path) -> None:
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(WALK)
    with pytest.raises(UsageProblem, match=re.escape("2 files of Python (one.py, two.py)")):
        eject(tmp_path, None, tmp_path)
    with pytest.raises(UsageProblem, match="there is no file"):
        eject(tmp_path / "three.py", None, tmp_path)


def test_a_file_whose_name_no_package_can_have_needs_another_one(tmp_path: Path) -> None:
    path = tmp_path / "my-walk.py"
    path.write_text(WALK)
    with pytest.raises(UsageProblem, match="try my_walk"):
        eject(path, None, tmp_path)
    assert eject(path, "my_walk", tmp_path).path == tmp_path / "my_walk"


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    made = ejected(tmp_path)
    (made.path / "models.py").write_text("mine")
    with pytest.raises(ProjectError, match="is there already"):
        ejected(tmp_path)
    assert (made.path / "models.py").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["walk", "walk.py"]


def test_a_file_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    path = tmp_path / "walk.py"
    path.write_bytes(b"# -*- coding: latin-1 -*-\n# \xe4\n" + WALK.encode())
    with pytest.raises(ProjectError, match="save it as UTF-8"):
        eject(path, None, tmp_path)
