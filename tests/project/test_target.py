"""What each spelling of a target names, and what is said when it names nothing."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from openenv.catalog.manifest import ManifestError
from openenv.project.target import TargetError, resolve

ECHO = """
    from openenv import Action, Environment, Observation

    class Say(Action):
        message: str

    class Heard(Observation):
        message: str = ""

    class Echo(Environment[Say, Heard]):
        def reset(self, **options) -> Heard:
            return Heard(message="ready")

        def step(self, action: Say) -> Heard:
            return Heard(message=action.message)
"""
MORE = """
    class Louder(Echo):
        pass

    def make():
        return Echo()

    async def app(scope, receive, send):
        pass

    class Other:
        pass

    number = 3
"""


@pytest.fixture(autouse=True)
def interpreter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Forgets what a test has imported of its own files, and from where."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__path__", sys.modules[name])):
            del sys.modules[name]


def write(path: Path, *parts: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(dedent(part) for part in parts))
    return path


def refusal(target: str | Path) -> str:
    with pytest.raises(TargetError) as caught:
        resolve(str(target))
    return str(caught.value)


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_means_the_one_environment_that_it_defines(tmp_path: Path) -> None:
    target = resolve(str(write(tmp_path / "echo.py", ECHO)))
    assert target.served.__name__ == "Echo"
    assert not target.is_app


def test_a_file_may_import_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path / "neighbour.py", "GREETING = 'hello'\n")
    path = write(tmp_path / "echo.py", "from neighbour import GREETING\n", ECHO)
    assert resolve(str(path)).served.__name__ == "Echo"


def test_a_file_inside_a_package_may_import_relatively(tmp_path: Path) -> None:
    write(tmp_path / "some_env/__init__.py")
    write(tmp_path / "some_env/words.py", "GREETING = 'hello'\n")
    write(tmp_path / "some_env/server/__init__.py")
    path = write(tmp_path / "some_env/server/echo.py", "from ..words import GREETING\n", ECHO)
    assert resolve(str(path)).served.__module__ == "some_env.server.echo"


def test_a_file_with_the_name_of_a_loaded_module_leaves_that_module_alone(tmp_path: Path) -> None:
    import json

    assert resolve(str(write(tmp_path / "json.py", ECHO))).served.__name__ == "Echo"
    assert sys.modules["json"] is json


def test_of_several_environments_one_must_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "echo.py", ECHO, MORE)
    text = refusal(path)
    assert "defines 2 environments (Echo, Louder)" in text
    assert f"{path}:Echo" in text
    assert resolve(f"{path}:Louder").served.__name__ == "Louder"


def test_an_unfinished_environment_is_told_what_it_lacks(tmp_path: Path) -> None:
    half = """
        from openenv import Action, Environment, Observation

        class Half(Environment[Action, Observation]):
            def reset(self):
                return Observation()
    """
    assert "Half in" in (text := refusal(write(tmp_path / "half.py", half)))
    assert "does not define step" in text


def test_an_imported_environment_is_not_one_that_the_file_defines(tmp_path: Path) -> None:
    write(tmp_path / "library.py", ECHO)
    path = write(tmp_path / "user.py", "from library import Echo\n")
    assert "defines no subclass of Environment" in refusal(path)
    assert resolve(f"{path}:Echo").served.__name__ == "Echo"


def test_what_is_named_may_be_a_factory_or_an_app(tmp_path: Path) -> None:
    path = write(tmp_path / "echo.py", ECHO, MORE)
    assert not resolve(f"{path}:make").is_app
    assert resolve(f"{path}:app").is_app


@pytest.mark.parametrize("name", ["Other", "number"])
def test_what_cannot_be_served_is_refused(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "echo.py", ECHO, MORE)
    assert "it takes a subclass of Environment" in refusal(f"{path}:{name}")


def test_a_name_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    path = write(tmp_path / "echo.py", ECHO)
    assert re.search(r"has no 'Eco'.*: Echo$", refusal(f"{path}:Eco"))


@pytest.mark.parametrize("target", ["nowhere.py", "nowhere.py:Echo", "nowhere", "./no/where"])
def test_what_does_not_exist_is_answered_with_the_spellings(target: str) -> None:
    text = refusal(target)
    assert "there is no file" in text
    assert "module:Class" in text


# ── modules ───────────────────────────────────────────────────────────────────────────────────────


def test_a_module_is_found_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "pack/echo.py", ECHO)
    monkeypatch.chdir(tmp_path)
    assert resolve("pack.echo:Echo").served.__module__ == "pack.echo"


def test_a_module_that_is_not_there_is_named() -> None:
    text = refusal("no_such_module:Echo")
    assert "ModuleNotFoundError: No module named 'no_such_module'" in text
    assert "File" not in text


# ── directories ───────────────────────────────────────────────────────────────────────────────────


def package(directory: Path, manifest: str = "name: sample_env\n") -> Path:
    """A package as environments are published: `models`, `server/app`, a manifest."""
    write(directory / "openenv.yaml", manifest)
    write(directory / "__init__.py")
    write(directory / "models.py", ECHO)
    write(directory / "server/__init__.py")
    write(directory / "server/app.py", "from ..models import Echo\n", MORE)
    return directory


@pytest.mark.parametrize("name", ["sample_env", "sample-env"])
def test_a_directory_is_a_package_of_its_own_name(tmp_path: Path, name: str) -> None:
    target = resolve(str(package(tmp_path / name)))
    assert target.is_app
    assert target.served.__module__ == f"{name}.server.app"


@pytest.mark.parametrize(
    "imports", ["from models import Echo\n", "from loose.models import Echo\n"]
)
def test_a_directory_may_import_absolutely(tmp_path: Path, imports: str) -> None:
    directory = package(tmp_path / "loose")
    write(directory / "server/app.py", imports, MORE)
    assert resolve(str(directory)).is_app


def test_a_directory_need_not_be_a_package(tmp_path: Path) -> None:
    directory = package(tmp_path / "plain")
    (directory / "__init__.py").unlink()
    write(directory / "server/app.py", "from models import Echo\n", MORE)
    assert resolve(str(directory)).served.__module__ == "server.app"


def test_the_working_directory_is_a_directory_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(package(tmp_path / "sample_env"))
    assert resolve(".").served.__module__ == "sample_env.server.app"


@pytest.mark.parametrize("name", ["sample_env", "sample-env", "a copy of it"])
def test_a_package_keeps_its_own_name_whatever_its_directory_is_called(
    tmp_path: Path, name: str
) -> None:
    directory = package(tmp_path / name)
    command = '[project]\nname = "x"\n[project.scripts]\nserver = "sample_env.server.app:main"\n'
    write(directory / "pyproject.toml", command)
    write(directory / "server/app.py", "from sample_env.models import Echo\n", MORE)
    target = resolve(str(directory))
    assert target.served.__module__ == "sample_env.server.app"
    assert sys.modules["sample_env"].__file__ == str(directory / "__init__.py")


@pytest.mark.parametrize(
    "pyproject",
    [
        "broken",
        '[project]\nname = "x"\n',
        '[project]\nname = "x"\n[project.scripts]\nserver = "server.app:main"\n',
        '[project]\nname = "x"\n[project.scripts]\nserver = "json.server.app:main"\n',
    ],
)
def test_a_package_without_a_name_of_its_own_has_its_directory_s(
    tmp_path: Path, pyproject: str
) -> None:
    directory = package(tmp_path / "sample_env")
    write(directory / "pyproject.toml", pyproject)
    assert resolve(str(directory)).served.__module__ == "sample_env.server.app"


def test_a_manifest_may_name_an_environment(tmp_path: Path) -> None:
    directory = package(tmp_path / "sample_env", "name: sample_env\napp: models:Echo\n")
    target = resolve(str(directory))
    assert target.served.__name__ == "Echo"
    assert not target.is_app


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        ("- a\n- b\n", "openenv.yaml:1:1: holds ['a', 'b']"),
        (
            "name: echo\napp: server.app\n",
            "openenv.yaml:2:6: app: 'server.app'; it takes module:name",
        ),
        ("app: {\n", "openenv.yaml:2:1: no YAML"),
    ],
)
def test_a_wrong_manifest_is_refused_where_it_is_wrong(
    tmp_path: Path, manifest: str, reason: str
) -> None:
    directory = package(tmp_path / "sample_env", manifest)
    with pytest.raises(ManifestError, match=re.escape(reason)):
        resolve(str(directory))


def test_a_directory_without_a_manifest_is_refused(tmp_path: Path) -> None:
    assert "holds no openenv.yaml" in refusal(tmp_path)


# ── code that fails ───────────────────────────────────────────────────────────────────────────────


def test_what_the_code_raises_is_told_with_its_own_lines_alone(tmp_path: Path) -> None:
    write(tmp_path / "helper.py", "def fail():\n    raise KeyError('gone')\n")
    path = write(tmp_path / "echo.py", "from helper import fail\n\nfail()\n", ECHO)
    text = refusal(path)
    assert text.splitlines()[0] == f"{path} could not be imported; correct what it raises:"
    assert text.splitlines()[-1] == "KeyError: 'gone'"
    assert re.findall(r'File "(.*)", line (\d+)', text) == [
        (str(path), "3"),
        (str(tmp_path / "helper.py"), "2"),
    ]


def test_the_frames_of_libraries_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "echo.py", "import json\n\njson.loads('{')\n")
    assert re.findall(r'File "(.*)"', refusal(path)) == [str(path)]


def test_a_module_that_the_code_lacks_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "echo.py", "import no_such_library\n")
    assert "ModuleNotFoundError: No module named 'no_such_library'" in refusal(path)


def test_a_package_that_is_needed_and_missing_is_told_in_a_line(tmp_path: Path) -> None:
    code = "from openenv import needs\nwith needs('game[server]'):\n    import no_such_engine\n"
    path = write(tmp_path / "echo.py", code)
    assert refusal(path) == (
        f"{path} could not be imported: No module named 'no_such_engine'; "
        "pip install 'game[server]'"
    )


def test_code_that_python_cannot_read_is_shown(tmp_path: Path) -> None:
    path = write(tmp_path / "echo.py", "class Echo(:\n")
    text = refusal(path)
    assert f'File "{path}", line 1' in text
    assert "SyntaxError" in text


def test_code_that_exits_is_told(tmp_path: Path) -> None:
    assert "SystemExit: 3" in refusal(write(tmp_path / "echo.py", "raise SystemExit(3)\n"))


# ── Gymnasium's environments ──────────────────────────────────────────────────────────────────────


def test_an_environment_of_gymnasium_is_named_by_its_id() -> None:
    target = resolve("gym:CartPole-v1")
    assert target.served.__name__ == "CartPole-v1"
    assert not target.is_app


def test_an_environment_of_gymnasium_may_be_registered_by_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registers = """
        import gymnasium
        gymnasium.register("ours/Cart-v3", "gymnasium.envs.classic_control:CartPoleEnv")
    """
    write(tmp_path / "our_envs.py", registers)
    monkeypatch.chdir(tmp_path)
    try:
        assert resolve("gym:our_envs:ours/Cart-v3").served.__name__ == "ours/Cart-v3"
    finally:
        import gymnasium

        del gymnasium.registry["ours/Cart-v3"]


def test_an_id_that_gymnasium_does_not_know_is_answered_with_those_that_it_does() -> None:
    assert "Did you mean: `CartPole`" in refusal("gym:Cartpole-v1")
    assert "[ `v0`, `v1` ]" in refusal("gym:CartPole-v2")


def test_without_gymnasium_a_target_of_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("openenv.gym")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    assert "pip install 'openenv-core[gymnasium]'" in refusal("gym:CartPole-v1")


@pytest.mark.parametrize("name", ["blackjack", "blackjack_env", "openenv-blackjack-env"])
def test_an_installed_environment_by_its_name(name: str) -> None:
    found = resolve(name)
    assert found.is_app
    assert found.served.state.openenv.env_name == "blackjack_env"
