"""The files of a new environment: which they are, and that they come all or not at all."""

import ast
import os
from pathlib import Path

import pytest
import yaml

from openenv.catalog.manifest import read_manifest, read_pyproject
from openenv.project import requirements, scaffold
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.names import EnvName

NAME = EnvName("my_game_env")
FILES = {
    ".dockerignore",
    ".github/workflows/test.yml",
    ".gitignore",
    "README.md",
    "__init__.py",
    "client.py",
    "models.py",
    "openenv.yaml",
    "outputs/evals/.gitkeep",
    "outputs/logs/.gitkeep",
    "pyproject.toml",
    "server/Dockerfile",
    "server/__init__.py",
    "server/app.py",
    "server/my_game_env_environment.py",
    "server/requirements.txt",
    "tests/test_my_game_env.py",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return scaffold.create(NAME, tmp_path)


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_package_has_the_usual_files_and_no_others(package: Path) -> None:
    assert package.name == "my_game_env"
    assert files(package) == FILES


def test_no_placeholder_is_left_and_lines_end_as_everywhere(package: Path) -> None:
    for path in package.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert b"{{" not in content.replace(b"${{", b"")
        assert b"\r" not in content
        assert path.name == ".gitkeep" or path.is_dir() or content.endswith(b"\n")


def test_its_modules_import_absolutely_and_need_no_second_try(package: Path) -> None:
    for path in package.rglob("*.py"):
        tree = ast.parse(path.read_text())
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert all(node.level == 0 for node in imports), path
        assert not any(isinstance(node, ast.Try) for node in ast.walk(tree)), path


def test_its_classes_are_named_after_it(package: Path) -> None:
    text = "".join(path.read_text() for path in package.rglob("*.py"))
    for suffix in ("Action(Action)", "Observation(Observation)", "Env(EnvClient[", "Environment("):
        assert f"class MyGame{suffix}" in text


def test_its_manifest_and_its_pyproject_can_be_read(package: Path) -> None:
    manifest = read_manifest(package)
    assert (manifest.name, manifest.app, manifest.port) == ("my_game_env", "server.app:app", 8000)
    assert (manifest.type, manifest.runtime, manifest.spec_version) == ("space", "fastapi", 1)
    assert manifest.validation is not None
    pyproject = read_pyproject(package)
    assert pyproject.name == "openenv-my-game-env"
    assert pyproject.dependencies == [scaffold.own_requirement()]
    assert pyproject.scripts == {"server": "my_game_env.server.app:main"}


def test_its_requirements_are_fresh(package: Path) -> None:
    requirements.check(package)


def test_its_readme_is_a_space_s_card(package: Path) -> None:
    _, card, _ = (package / "README.md").read_text().split("---\n", 2)
    values = yaml.safe_load(card)
    assert (values["sdk"], values["app_port"], values["base_path"]) == ("docker", 8000, "/web")
    assert values["tags"] == ["openenv"]
    assert values["emoji"] and values["colorFrom"] and values["colorTo"]


def test_the_same_name_gives_the_same_files(package: Path, tmp_path: Path) -> None:
    again = scaffold.create(NAME, tmp_path / "again")
    for path in FILES:
        assert (again / path).read_bytes() == (package / path).read_bytes()


def test_files_of_secrets_stay_out_of_its_image_wherever_they_are(package: Path) -> None:
    assert "**/.env*" in (package / ".dockerignore").read_text().splitlines()


def test_its_workflow_is_yaml(package: Path) -> None:
    jobs = yaml.safe_load((package / ".github/workflows/test.yml").read_text())["jobs"]
    commands = [step.get("run") for step in jobs["test"]["steps"]]
    assert "pytest" in commands


def test_one_file_is_one_file(tmp_path: Path) -> None:
    path = scaffold.create(NAME, tmp_path, minimal=True)
    assert path == tmp_path / "my_game_env.py"
    assert os.listdir(tmp_path) == ["my_game_env.py"]
    assert "class MyGameEnvironment(Environment[" in path.read_text()


# ── a place that is taken, or cannot be written ───────────────────────────────────────────────────


def test_an_empty_folder_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "my_game_env").mkdir()
    assert files(scaffold.create(NAME, tmp_path)) == FILES


def test_folders_above_are_made(tmp_path: Path) -> None:
    assert files(scaffold.create(NAME, tmp_path / "a/b")) == FILES
    assert os.listdir(tmp_path / "a/b") == ["my_game_env"]


@pytest.mark.parametrize("minimal", [False, True])
def test_what_is_there_stays_as_it_is(tmp_path: Path, minimal: bool) -> None:
    there = scaffold.create(NAME, tmp_path, minimal=minimal)
    kept = there if minimal else there / "README.md"
    kept.write_text("mine")
    with pytest.raises(UsageProblem, match="is there already and stays as it is"):
        scaffold.create(NAME, tmp_path, minimal=minimal)
    assert kept.read_text() == "mine"


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "my_game_env").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageProblem):
        scaffold.create(NAME, tmp_path)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("place", ["/proc/nowhere", "README/below"])
def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, place: str) -> None:
    (tmp_path / "README").write_text("a file")
    with pytest.raises(ProjectError, match="cannot be written: .*--output-dir") as caught:
        scaffold.create(NAME, tmp_path / place)
    assert caught.value.exit_code == 1
    assert os.listdir(tmp_path) == ["README"]


def test_a_failure_takes_nothing_of_others_away(tmp_path: Path) -> None:
    target = tmp_path / "envs" / "mine" / "my_game_env"
    files = {"a": "a file", "../../../theirs": "meanwhile", "a/b": "below a file"}
    with pytest.raises(ProjectError, match="cannot be written"):
        scaffold.write_new(target, files)
    assert [path.name for path in (tmp_path / "envs").rglob("*")] == ["theirs"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    written = Path.write_bytes

    def fail(path: Path, content: bytes) -> int:
        if path.name == "app.py":
            raise error
        return written(path, content)

    monkeypatch.setattr(Path, "write_bytes", fail)
    (tmp_path / "neighbour").mkdir()
    with pytest.raises((ProjectError, KeyboardInterrupt)):
        scaffold.create(NAME, tmp_path / "made/for/it")
    with pytest.raises((ProjectError, KeyboardInterrupt)):
        scaffold.create(NAME, tmp_path)
    assert os.listdir(tmp_path) == ["neighbour"]
