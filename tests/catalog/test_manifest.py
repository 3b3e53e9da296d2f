"""What is read of a package's two files, and where a fault in them is said to be."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from openenv.catalog.manifest import ManifestError, read_manifest, read_pyproject

BOMB = "a0: &a0 [x]\n" + "".join(
    f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]\n" for i in range(9)
)
"""Some hundred bytes that are a billion values."""


def refusal(read: Callable[[Path], object], path: Path, content: str | bytes) -> ManifestError:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ManifestError) as caught:
        read(path.parent)
    assert str(caught.value).startswith(str(path))
    return caught.value


def test_a_manifest_needs_a_name_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "openenv.yaml").write_text("name: my_env\n")
    manifest = read_manifest(tmp_path)
    assert manifest.name == "my_env"
    assert (manifest.app, manifest.port, manifest.type) == ("server.app:app", 8000, "space")


def test_a_manifest_may_repeat_itself(tmp_path: Path) -> None:
    (tmp_path / "openenv.yaml").write_text("name: &it x\ndescription: *it\n")
    assert read_manifest(tmp_path).description == "x"


def test_a_published_manifest_is_read_whole_and_unknown_keys_are_left_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "openenv.yaml").write_text(
        "spec_version: 1\nname: echo\nversion: 0.2\ntype: space\nruntime: fastapi\n"
        "app: server.app:app\nport: 9000\naction: EchoAction\nobservation: EchoObservation\n"
        "variables:\n  WORKERS: 4\n  FAST: yes\nvalidation:\n  reward:\n    range: [0, 1]\n"
        "later: [1, 2]\n",
        encoding="utf-8-sig",
    )
    manifest = read_manifest(tmp_path)
    assert (manifest.version, manifest.port, manifest.action) == ("0.2", 9000, "EchoAction")
    assert manifest.variables == {"WORKERS": "4", "FAST": "true"}
    assert manifest.validation == {"reward": {"range": [0, 1]}}


@pytest.mark.parametrize(
    ("content", "line", "column", "reason"),
    [
        ("", 1, 1, "holds None"),
        ("- a\n", 1, 1, "it takes `key: value` lines"),
        ("app: server.app:app\n", 1, 1, "has no name; add one"),
        ("name: x\napp: {\n", 3, 1, "no YAML: "),
        ("name: x\n\tport: 1\n", 2, 1, "no YAML: "),
        ("name: *nobody\n", 1, 7, "no YAML: "),
        ("name: !!python/object:os.system x\n", 1, 7, "no YAML: "),
        ("name: x\nport: many\n", 2, 7, "port: 'many'; "),
        ("name: x\nport: 70000\n", 2, 7, "port: 70000; "),
        ("name: x\napp: server.app\n", 2, 6, "app: 'server.app'; it takes module:name"),
        ("name: x\nvariables:\n  A:\n    - 1\n", 4, 5, "variables.A: [1]; "),
        ("name: 2020-13-45\n", None, None, "no YAML: "),
        ("[" * 5000, None, None, "no YAML: "),
        ("a: &a {b: *a}\nname: x\n", None, None, "no YAML: aliases repeat"),
        (BOMB + "name: *a9\n", None, None, "no YAML: aliases repeat"),
        (b"name: x\ndescription: \xff\n", 2, None, "is not UTF-8"),
    ],
)
def test_a_fault_of_a_manifest_is_told_with_its_place(
    tmp_path: Path, content: str | bytes, line: int | None, column: int | None, reason: str
) -> None:
    error = refusal(read_manifest, tmp_path / "openenv.yaml", content)
    assert (error.line, error.column) == (line, column)
    place = "".join(f":{number}" for number in (line, column) if number is not None)
    assert f"openenv.yaml{place}: " in str(error)
    assert reason in str(error)


def test_a_manifest_that_is_not_there_says_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="no such file.*openenv init"):
        read_manifest(tmp_path)


def test_what_is_far_too_large_is_not_read_as_a_manifest(tmp_path: Path) -> None:
    error = refusal(read_manifest, tmp_path / "openenv.yaml", "# " + "x" * (1 << 20))
    assert "is larger than" in str(error)


def test_a_pyproject_is_read_for_what_it_says_of_its_package(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "my-env"\nversion = "1.0"\nrequires-python = ">=3.10"\n'
        'dependencies = ["openenv-core>=0.11"]\n[project.optional-dependencies]\n'
        'dev = ["pytest"]\n[project.scripts]\nserver = "my_env.server.app:main"\n'
        '[project.entry-points."openenv.environments"]\nmy_env = "my_env:MyEnv"\n'
        "[tool.uv]\nmanaged = true\n"
    )
    pyproject = read_pyproject(tmp_path)
    assert (pyproject.name, pyproject.version) == ("my-env", "1.0")
    assert pyproject.requires_python == ">=3.10"
    assert pyproject.dependencies == ["openenv-core>=0.11"]
    assert pyproject.optional_dependencies == {"dev": ["pytest"]}
    assert pyproject.scripts == {"server": "my_env.server.app:main"}
    assert pyproject.entry_points == {"openenv.environments": {"my_env": "my_env:MyEnv"}}
    assert pyproject.tool == {"uv": {"managed": True}}


@pytest.mark.parametrize(
    ("content", "line", "column", "reason"),
    [
        ("[project\n", 1, 9, "no TOML: "),
        ("[project]\nname = x\n", 2, 8, "no TOML: "),
        ('[project]\nname = "x"\ndependencies = [\n', 4, 1, "no TOML: "),
        ('[project]\nname = "x"\ndependencies = 3\n', 3, 1, "project.dependencies: 3; "),
        ('[project]\nname = "x"\n[project.scripts]\n  server = 4\n', 4, 3, "project.scripts"),
        ("project = 3\n", 1, 1, "project.name"),
        ("", None, None, "has no project.name; add one"),
    ],
)
def test_a_fault_of_a_pyproject_is_told_with_its_place(
    tmp_path: Path, content: str, line: int | None, column: int | None, reason: str
) -> None:
    error = refusal(read_pyproject, tmp_path / "pyproject.toml", content)
    assert (error.line, error.column) == (line, column)
    assert re.search(re.escape(reason), str(error))
