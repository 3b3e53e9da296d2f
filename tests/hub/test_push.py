"""`openenv push` to a Hub: what arrives, and what is refused before anything is asked."""

from pathlib import Path
from typing import Any

import pytest

from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.hub import Hub
from openenv.project.push import PushOptions, prepare, repo_ids
from tests.hub.api import ACCOUNT, FakeHub
from tests.hub.commands import invoke
from tests.hub.conftest import FILES, PUBLISHED, write
from tests.hub.publishing import KEPT, PASSWORD, SPACE, deployment, push

# ── what arrives ──────────────────────────────────────────────────────────────────────────────────


def test_a_new_space_has_the_files_and_the_settings_at_once(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    write(project, {"openenv.yaml": FILES["openenv.yaml"] + "variables:\n  A: one\n  B: two\n"})
    settings = {
        "private": True,
        "hardware": "t4-small",
        "variables": {"B": "mine"},
        "secrets": {"KEY": PASSWORD},
    }
    result = push(hub, project, settings=settings)
    space = served_hub.spaces[SPACE]
    assert set(space.files) == PUBLISHED | KEPT
    assert b"ENABLE_WEB_INTERFACE=true" in space.files["Dockerfile"]
    assert b"base_path: /web" in space.files["README.md"]
    assert (space.private, space.hardware) == (True, "t4-small")
    assert space.variables == {"A": "one", "B": "mine"}
    assert space.secrets == {"KEY": PASSWORD}
    assert result["created"]
    assert result["url"] == f"{served_hub.url}/spaces/{SPACE}"
    assert result["app_url"] == "https://ada-tiny-env.hf.space"
    assert len(space.commits) == 1


def test_a_second_push_sends_what_has_changed(served_hub: FakeHub, hub: Hub, project: Path) -> None:
    push(hub, project)
    write(project, {"models.py": "# new\n", "world.py": ""})
    push(hub, project)
    header, *operations = served_hub.spaces[SPACE].commits[1]
    assert header["value"]["summary"]
    assert {o["value"]["path"] for o in operations} == {"models.py", "world.py"}
    assert push(hub, project)["commit_url"] is None
    assert len(served_hub.spaces[SPACE].commits) == 2


def test_what_is_gone_here_stays_there_unless_a_glob_names_it(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    served_hub.add(
        SPACE, files={"old/a.py": b"", "old.py": b"", ".gitattributes": b"", "client.py": b""}
    )
    push(hub, project, delete=("old/*", "*.py", "*"))
    assert set(served_hub.spaces[SPACE].files) == PUBLISHED | KEPT
    served_hub.spaces[SPACE].files["old.py"] = b""
    push(hub, project)
    assert "old.py" in served_hub.spaces[SPACE].files


def test_an_existing_space_is_given_what_is_new_to_it(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    space = served_hub.add(SPACE, variables={"A": "one", "C": "kept"}, private=True)
    settings = {
        "variables": {"A": "one", "B": "two"},
        "secrets": {"KEY": PASSWORD},
        "hardware": "cpu-upgrade",
    }
    push(hub, project, settings=settings)
    assert space.variables == {"A": "one", "B": "two", "C": "kept"}
    assert (space.secrets, space.hardware) == ({"KEY": PASSWORD}, "cpu-upgrade")
    assert [r.json()["key"] for r in served_hub.asked("POST .*/variables")] == ["B"]
    assert not served_hub.asked("POST /api/repos/create")


def test_a_pull_request_leaves_the_space_as_it_is(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    space = served_hub.add("openenv/theirs", files={"client.py": b"theirs"})
    result = push(hub, project, repo_id="openenv/theirs", create_pr=True)
    assert result["pull_request"].endswith("/spaces/openenv/theirs/discussions/1")
    assert space.files == {"client.py": b"theirs"}
    assert set(space.pull_requests[0]) == PUBLISHED


def test_variables_are_only_set_where_there_is_a_space_of_one_s_own(project: Path) -> None:
    write(project, {"openenv.yaml": FILES["openenv.yaml"] + "variables: {A: one}\n"})
    for options, expected in (
        ({}, {"A": "one"}),
        ({"create_pr": True}, {}),
        ({"registry": "registry.example.org/me"}, {}),
    ):
        ready = prepare(PushOptions(directory=project, **options))
        assert ready.settings.variables == expected


def test_no_pull_request_without_a_space(served_hub: FakeHub, hub: Hub, project: Path) -> None:
    with pytest.raises(ProjectError, match="there is no Space openenv/none"):
        deployment(hub, project, repo_id="openenv/none", create_pr=True)


def test_a_private_push_never_goes_to_a_public_space(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    served_hub.add(SPACE)
    with pytest.raises(ProjectError, match="exists and is public"):
        deployment(hub, project, settings={"private": True})


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["ada/tiny_env"]),
        ({"repo_id": "other"}, ["ada/other"]),
        ({"repo_id": "team/other"}, ["team/other"]),
        ({"count": 1}, ["ada/tiny_env-1"]),
        ({"repo_id": "team/x", "count": 3}, ["team/x-1", "team/x-2", "team/x-3"]),
    ],
)
def test_the_names_of_spaces(project: Path, options: dict[str, Any], expected: list[str]) -> None:
    asked = PushOptions(directory=project, **options)
    assert repo_ids(asked, prepare(asked).manifest, ACCOUNT) == expected


# ── what is refused before anything is asked ──────────────────────────────────────────────────────


@pytest.mark.parametrize("path", sorted(set(FILES) - {"models.py", "openenv.yaml"}))
def test_a_missing_file_is_named(project: Path, path: str) -> None:
    (project / path).unlink()
    with pytest.raises(UsageProblem, match=f"lacks .*{path}"):
        prepare(PushOptions(directory=project))


def test_a_dockerfile_at_the_root_asks_for_no_server_folder(project: Path) -> None:
    for path in ("server/Dockerfile", "server/app.py", "server/__init__.py"):
        (project / path).unlink()
    write(project, {"Dockerfile": "FROM a\n"})
    assert prepare(PushOptions(directory=project)).staging.find("Dockerfile")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--interface", "--no-interface"], 1, "exclude each other"),
        (["--count", "2", "--create-pr"], 1, "--count"),
        (["--count", "2", "--registry", "r"], 1, "--count"),
        (["--count", "0"], 2, "--count"),
        (["-e", "A=b", "--registry", "r"], 2, "--env-var"),
        (["-e", "A=b", "--create-pr"], 2, "--env-var"),
        (["--secret", "A=b", "--registry", "r"], 2, "--secret"),
        (["--secret", "A=b", "--create-pr"], 2, "--secret"),
        (["--private", "--registry", "r"], 2, "--private"),
        (["--hardware", "t4", "--create-pr"], 2, "--hardware"),
        (["--delete", "*", "--registry", "r"], 2, "--delete"),
        (["--repo-id", "a/b", "--registry", "r"], 2, "--repo-id"),
        (["--create-pr", "--registry", "r"], 2, "--create-pr"),
        (["--repo-id", "a/b/c"], 2, "--repo-id"),
        (["--repo-id", "-a"], 2, "--repo-id"),
        (["-e", "novalue"], 2, "NAME=VALUE"),
        (["-e", "1A=b"], 2, "NAME=VALUE"),
        (["--base-image", ""], 2, "--base-image"),
        (["--base-image", "a\nRUN b"], 2, "--base-image"),
        (["--hardware", ""], 2, "--hardware"),
        (["--registry", ""], 2, "--registry"),
        (["--exclude", "nowhere"], 2, "--exclude"),
        (["-e", "A=hf_" + "aB3" * 12], 2, "--secret A"),
        (["--secret", "EMPTY"], 2, "EMPTY"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together(
    project: Path, arguments: list[str], code: int, told: str
) -> None:
    exit_code, words = invoke("push", str(project), *arguments)
    assert (exit_code, told in words) == (code, True), words
    assert "aB3aB3" not in words


@pytest.mark.parametrize(
    ("files", "code", "told"),
    [
        ({"openenv.yaml": None}, 1, "openenv.yaml"),
        ({"openenv.yaml": "app: server.app:app\n"}, 1, "name"),
        ({"openenv.yaml": "name: [\n"}, 1, "openenv.yaml:2:1"),
        ({"openenv.yaml": "name: not a name\n"}, 2, "--repo-id"),
        ({"openenv.yaml": "name: a\nvariables: {A: hf_" + "aB3" * 12 + "}\n"}, 2, "--secret A"),
        ({"server/app.py": "k = 'hf_" + "aB3" * 12 + "'\n"}, 1, "server/app.py:1"),
    ],
    ids=str,
)
def test_projects_that_are_refused(
    project: Path, files: dict[str, str | None], code: int, told: str
) -> None:
    for path, text in files.items():
        write(project, {path: text}) if text is not None else (project / path).unlink()
    exit_code, words = invoke("push", str(project), "--dry-run")
    assert (exit_code, told in words) == (code, True), words


def test_where_there_is_podman_alone_the_image_is_run_with_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    podman = tmp_path / "bin" / "podman"
    script = '#!/bin/sh\n[ "$1" = image ] && echo \'[{"Id": "sha256:1", "Size": 5}]\' || :\n'
    write(podman.parent, {"podman": script})
    podman.chmod(0o755)
    monkeypatch.setenv("PATH", str(podman.parent))
    exit_code, words = invoke("push", str(project), "--registry", "registry.example.org/me")
    assert exit_code == 0, words
    assert "podman run --rm --init -p 127.0.0.1:8000:8000 registry.example.org/me/tiny_env" in words
