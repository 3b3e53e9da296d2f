"""`openenv skills`: what it writes, where, and what it leaves alone."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from openenv import local
from openenv.cli.__main__ import app
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.skills import install

SKILL = Path(".agents/skills/openenv-cli/SKILL.md")


def preview() -> str:
    result = CliRunner().invoke(app, ["skills", "preview"])
    assert result.exit_code == 0
    return result.output


def test_the_skill_says_when_to_use_it_and_names_every_command() -> None:
    text = preview()
    assert re.match(r"---\nname: openenv-cli\ndescription: .{20,1024}\n---\n", text)
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert [name for name in commands if f"| `openenv {name}` | " not in text] == []
    assert "130 interrupted" in text


def test_its_environment_can_be_played() -> None:
    block = re.findall(r"```python\n(.*?)```", preview(), re.DOTALL)[0]
    names: dict[str, Any] = {"__name__": "skill"}
    exec(block, names)
    with local(names["GuessNumber"]) as env:
        env.reset(seed=3)
        result = env.step(names["Guess"](number=42))
    assert (result.reward, result.done) == (1.0, True)


def test_add_writes_it_once_and_links_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    added = CliRunner().invoke(app, ["skills", "add", "--claude", "--cursor", "--json"])
    assert added.exit_code == 0, added.output
    assert json.loads(added.stdout)["path"] == str(tmp_path / SKILL)
    assert SKILL.read_text() == preview()
    for agent in ("claude", "cursor"):
        link = tmp_path / f".{agent}/skills/openenv-cli"
        assert link.is_symlink()
        assert not os.path.isabs(os.readlink(link))
        assert (link / "SKILL.md").read_text() == preview()


def test_what_is_there_stays_without_force(tmp_path: Path) -> None:
    install("mine", root=tmp_path)
    with pytest.raises(ProjectError, match="--force"):
        install("mine", root=tmp_path)
    with pytest.raises(ProjectError, match="--force"):
        install("new", root=tmp_path, agents=["claude"])
    assert (tmp_path / SKILL).read_text() == "mine"
    assert not (tmp_path / ".claude").exists()
    install("mine", root=tmp_path, agents=["claude"])
    install("new", root=tmp_path, agents=["claude"], force=True)
    assert (tmp_path / ".claude/skills/openenv-cli/SKILL.md").read_text() == "new"


def test_force_deletes_nothing_of_one_s_own(tmp_path: Path) -> None:
    own = tmp_path / ".codex/skills/openenv-cli"
    own.mkdir(parents=True)
    (own / "notes.md").write_text("mine")
    with pytest.raises(ProjectError):
        install("new", root=tmp_path, agents=["codex"])
    assert not (tmp_path / SKILL).exists()
    install("new", root=tmp_path, agents=["codex"], force=True)
    assert (own / "notes.md").read_text() == "mine"
    assert (own / "SKILL.md").read_text() == "new"


def test_force_replaces_a_file_in_the_link_s_place(tmp_path: Path) -> None:
    place = tmp_path / ".claude/skills/openenv-cli"
    place.parent.mkdir(parents=True)
    place.write_text("a file")
    with pytest.raises(ProjectError, match="--force replaces it"):
        install("new", root=tmp_path, agents=["claude"])
    install("new", root=tmp_path, agents=["claude"], force=True)
    assert (place / "SKILL.md").read_text() == "new"


def test_at_home_the_folders_have_their_own_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    added = CliRunner().invoke(app, ["skills", "add", "-g", "--opencode"])
    assert added.exit_code == 0, added.output
    assert (tmp_path / SKILL).is_file()
    assert (tmp_path / ".config/opencode/skills/openenv-cli").is_symlink()


def test_dest_takes_the_place_of_every_other_folder(tmp_path: Path) -> None:
    install("text", dest=tmp_path / "skills")
    assert (tmp_path / "skills/openenv-cli/SKILL.md").read_text() == "text"
    with pytest.raises(UsageProblem):
        install("text", dest=tmp_path, agents=["claude"])
    for other in ("--claude", "--global"):
        run = CliRunner().invoke(app, ["skills", "add", "--dest", str(tmp_path), other])
        assert getattr(run.exception, "exit_code", 0) == 2


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "skills").write_text("")
    with pytest.raises(ProjectError, match="cannot be written.*--dest"):
        install("text", dest=tmp_path / "skills")
