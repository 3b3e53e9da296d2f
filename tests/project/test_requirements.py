"""`server/requirements.txt`, written and compared."""

from pathlib import Path

import pytest

from openenv.catalog.manifest import ManifestError
from openenv.project import requirements
from openenv.project.errors import ProjectError

PYPROJECT = """\
[project]
name = "x"
dependencies = ["openenv-core>=0.11", "numpy; python_version > '3'"]
[project.optional-dependencies]
server = ["uvicorn>=0.34"]
dev = ["pytest"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    return tmp_path


def test_the_file_holds_the_dependencies_and_those_of_the_server(project: Path) -> None:
    path = requirements.write(project)
    lines = path.read_text().splitlines()
    assert path == project / "server/requirements.txt"
    assert lines[0].startswith("# Written by")
    assert lines[1:] == ["openenv-core>=0.11", "numpy; python_version > '3'", "uvicorn>=0.34"]
    requirements.check(project)


def test_order_and_comments_do_not_make_a_file_stale(project: Path) -> None:
    path = requirements.write(project)
    path.write_text("# mine\n" + "\n".join(reversed(path.read_text().splitlines()[1:])))
    requirements.check(project)


def test_a_stale_file_is_told_line_by_line(project: Path) -> None:
    requirements.write(project).write_text("uvicorn>=0.34\ntorch\nopenenv-core>=0.11\n")
    with pytest.raises(ProjectError) as caught:
        requirements.check(project)
    assert "is stale; run openenv requirements" in str(caught.value)
    assert str(caught.value).endswith("\n  + numpy; python_version > '3'\n  - torch")


def test_a_missing_file_is_stale(project: Path) -> None:
    with pytest.raises(ProjectError, match="run openenv requirements"):
        requirements.check(project)


def test_a_project_without_a_pyproject_has_no_requirements(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"pyproject.toml: there is no such file"):
        requirements.write(tmp_path)


def test_a_place_that_cannot_be_written_is_told(project: Path) -> None:
    (project / "server").write_text("a file")
    with pytest.raises(ProjectError, match="cannot be written"):
        requirements.write(project)
