"""`openenv push` to a Hub: the real client library against a server that speaks the Hub's API."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from openenv.project.deployment import Deployment
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.hub import Hub, SpaceSettings
from openenv.project.hub_errors import NotLoggedIn
from openenv.project.push import PushOptions, prepare, repo_ids
from tests.hub.commands import invoke
from tests.hub.conftest import FILES, PUBLISHED, Openenv, write
from tests.hub.server import ACCOUNT, TOKEN, FakeHub
from tests.serving import eventually

SPACE = f"{ACCOUNT}/tiny_env"
PASSWORD = "correct-horse-battery"
KEPT = {".gitattributes"}


def deployment(hub: Hub, project: Path, **options: Any) -> Deployment:
    """One Space on its way, looked at."""
    settings = SpaceSettings(**options.pop("settings", {}))
    asked = PushOptions(directory=project, settings=settings, **options)
    ready = prepare(asked)
    made = Deployment(
        hub,
        repo_ids(asked, ready.manifest, hub.account())[0],
        ready.staging,
        ready.settings,
        delete=asked.delete,
        create_pr=asked.create_pr,
    )
    made.look()
    return made


def perform(made: Deployment) -> dict[str, Any]:
    """All its steps, and what came of them."""
    for _, action in made.steps():
        action()
    return made.result()


def push(hub: Hub, project: Path, **options: Any) -> dict[str, Any]:
    return perform(deployment(hub, project, **options))


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


# ── what the Hub refuses ──────────────────────────────────────────────────────────────────────────

REFUSALS = [
    (401, "hf auth login"),
    (402, "billing"),
    (403, "settings/tokens"),
    (409, "--repo-id"),
    (413, "--exclude"),
    (429, "wait a few minutes"),
    (500, "run the same command again"),
    (503, "run the same command again"),
]


@pytest.mark.parametrize(("status", "way_out"), REFUSALS)
def test_a_refused_creation_leaves_nothing(
    served_hub: FakeHub, hub: Hub, project: Path, status: int, way_out: str
) -> None:
    served_hub.fail("POST /api/repos/create", status, times=9, message="said the Hub")
    made = deployment(hub, project)
    with pytest.raises(ProjectError) as refused:
        perform(made)
    told = str(refused.value)
    assert way_out in told
    assert "\n" not in told
    assert refused.value.exit_code == (2 if status == 401 else 1)
    assert str(status) in told
    assert status == 401 or "said the Hub" in told
    assert made.left_behind() is None
    assert served_hub.spaces == {}
    assert len(served_hub.asked("POST /api/repos/create")) == (
        3 if status in (429, 500, 503) else 1
    )


@pytest.mark.parametrize(
    ("status", "way_out"), [*REFUSALS, (404, "check the name"), (400, "correct")]
)
def test_a_refused_upload_says_what_exists_and_goes_on_later(
    served_hub: FakeHub, hub: Hub, project: Path, status: int, way_out: str
) -> None:
    served_hub.fail("POST .*/commit/main", status, times=3)
    made = deployment(hub, project)
    with pytest.raises(ProjectError, match=way_out):
        perform(made)
    left = made.left_behind()
    assert left is not None
    assert f"{served_hub.url}/spaces/{SPACE} exists now, without files" in left
    served_hub.faults.clear()
    assert push(hub, project)["created"] is False
    assert set(served_hub.spaces[SPACE].files) == PUBLISHED | KEPT


def test_a_refused_setting_says_that_the_files_are_there(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    served_hub.add(SPACE)
    served_hub.fail("POST .*/hardware", 402, message="t4-small is not free")
    made = deployment(hub, project, settings={"hardware": "t4-small"})
    with pytest.raises(ProjectError, match=r"402: t4-small is not free.*billing"):
        perform(made)
    assert "The files are on" in str(made.left_behind())


def test_someone_else_s_space_is_not_written_to(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    served_hub.add("openenv/theirs")
    with pytest.raises(ProjectError, match="403: You don't have the rights"):
        push(hub, project, repo_id="openenv/theirs")


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_hub_is_asked_again(
    served_hub: FakeHub, hub: Hub, project: Path, status: int
) -> None:
    for route in ("GET /api/whoami", "GET .*/tiny_env", "POST /api/repos", "POST .*/commit"):
        served_hub.fail(route, status, headers={"Retry-After": "0"})
    assert push(hub, project)["created"]
    assert set(served_hub.spaces[SPACE].files) == PUBLISHED | KEPT


def test_a_hub_that_wants_a_long_pause_is_not_waited_for(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    served_hub.fail("POST /api/repos/create", 429, headers={"Retry-After": "3600"})
    with pytest.raises(ProjectError, match="too many requests"):
        push(hub, project)
    assert len(served_hub.asked("POST /api/repos/create")) == 1


def test_a_commit_whose_answer_is_lost_is_made_once(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    served_hub.fail("POST .*/commit/main", 502, performed=True)
    push(hub, project)
    assert len(served_hub.spaces[SPACE].commits) == 1


def test_a_pull_request_whose_answer_is_lost_is_opened_once(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    space = served_hub.add(SPACE)
    served_hub.fail("POST .*/commit/main", 502, performed=True)
    with pytest.raises(ProjectError, match="502"):
        push(hub, project, create_pr=True)
    assert len(space.pull_requests) == 1


def test_a_connection_that_is_cut_in_the_upload(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    served_hub.fail("POST .*/commit/main", 0, times=3)
    made = deployment(hub, project)
    with pytest.raises(
        ProjectError, match=r"the connection to http://127\S+ failed .*run the same"
    ):
        perform(made)
    assert "without files" in str(made.left_behind())
    assert push(hub, project)["commit_url"]


def test_a_connection_that_is_cut_once(served_hub: FakeHub, hub: Hub, project: Path) -> None:
    for route in ("GET .*/tiny_env", "POST /api/repos", "POST .*/preupload", "POST .*/commit"):
        served_hub.fail(route, 0)
    assert push(hub, project)["commit_url"]
    assert set(served_hub.spaces[SPACE].files) == PUBLISHED | KEPT


def test_a_hub_that_nobody_runs(project: Path) -> None:
    with pytest.raises(ProjectError, match=r"the connection to http://127.0.0.1:9 failed"):
        Hub("http://127.0.0.1:9", TOKEN, pause_s=0.01).account()


def test_a_front_matter_that_the_hub_does_not_take(
    served_hub: FakeHub, hub: Hub, project: Path
) -> None:
    body = b'{"errors": [{"message": "emoji must be an emoji"}], "warnings": []}'
    served_hub.fail("POST /api/validate-yaml", 400, body=body)
    with pytest.raises(ProjectError, match="400: emoji must be an emoji"):
        push(hub, project)


def test_a_server_that_is_no_hub(served_hub: FakeHub, hub: Hub, project: Path) -> None:
    served_hub.fail("GET /api/whoami-v2", 200, body=b"<html>")
    with pytest.raises(ProjectError, match="did not answer as a Hub does"):
        hub.account()


def test_a_token_that_the_hub_does_not_know(served_hub: FakeHub) -> None:
    with pytest.raises(NotLoggedIn, match=r"does not know the token \(401\); run `hf auth login`"):
        Hub(served_hub.url, "hf_wrong").account()


# ── the command ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.timeout(60)
def test_the_command_ends_with_the_address_and_what_to_type(
    served_hub: FakeHub, openenv: Openenv, project: Path
) -> None:
    (project / "world.bin").write_bytes(os.urandom(3 << 20))
    write(project, {"prod.env": "A=1"})
    served_hub.fail("PUT /lfs/", 0)
    run = openenv("push", str(project), "-n", "2", "--secret", "KEY", typed=f"{PASSWORD}\n")
    assert run.returncode == 0, run.stderr
    pages = [f"{served_hub.url}/spaces/{SPACE}-{number}" for number in (1, 2)]
    assert run.stdout.splitlines() == pages
    assert "left out: prod.env" in run.stderr
    assert "Uploading 10 changes (3.1 MB)" in run.stderr
    assert "openenv validate https://ada-tiny-env-1.hf.space" in run.stderr
    assert PASSWORD not in run.stdout + run.stderr
    for space in served_hub.spaces.values():
        assert space.files["world.bin"] == (project / "world.bin").read_bytes()
        assert space.secrets == {"KEY": PASSWORD}
    assert served_hub.spaces.keys() == {f"{SPACE}-1", f"{SPACE}-2"}


@pytest.mark.timeout(60)
def test_a_dry_run_only_reads(served_hub: FakeHub, openenv: Openenv, project: Path) -> None:
    served_hub.add(
        SPACE, files={"client.py": FILES["client.py"].encode(), "models.py": b"", "old": b""}
    )
    run = openenv(
        *("push", str(project), "--dry-run", "--json", "--delete", "old"),
        *("-e", "A=one", "--secret", f"KEY={PASSWORD}"),
    )
    assert run.returncode == 0, run.stderr
    plan = json.loads(run.stdout)
    [space] = plan["spaces"]
    fates = {file["path"]: file["fate"] for file in space["files"]}
    assert (space["name"], space["exists"]) == (SPACE, True)
    assert (fates["client.py"], fates["models.py"]) == ("same", "change")
    assert (fates["Dockerfile"], fates["old"]) == ("add", "delete")
    assert (plan["variables"], plan["secrets"]) == ({"A": "one"}, ["KEY"])
    assert PASSWORD not in run.stdout + run.stderr
    assert {request.method for request in served_hub.requests} == {"GET"}


@pytest.mark.timeout(60)
def test_without_a_token_a_dry_run_asks_nobody_and_a_push_says_how_to_log_in(
    served_hub: FakeHub, openenv: Openenv, project: Path
) -> None:
    dry = openenv("push", str(project), "--dry-run", token=None)
    assert dry.returncode == 0, dry.stderr
    assert "server/app.py" in dry.stdout
    assert "no access token" in dry.stderr
    real = openenv("push", str(project), token=None)
    assert real.returncode == 2
    assert "hf auth login" in real.stderr
    assert not [r for r in served_hub.requests if "agent-harnesses" not in r.path]


@pytest.mark.timeout(60)
def test_the_second_of_several_spaces_fails(
    served_hub: FakeHub, openenv: Openenv, project: Path
) -> None:
    served_hub.add(f"{SPACE}-1")
    served_hub.fail("POST .*tiny_env-2/commit", 403)
    run = openenv("push", str(project), "-n", "3", "--secret", f"KEY={PASSWORD}")
    assert run.returncode == 1
    assert run.stdout == ""
    *_, complete, left, error = run.stderr.splitlines()
    assert complete == f"{served_hub.url}/spaces/{SPACE}-1 is complete."
    assert left.startswith(f"The Space {served_hub.url}/spaces/{SPACE}-2 exists now, without files")
    assert error.startswith(f"Error: cannot upload to {SPACE}-2 (403)")
    assert f"{SPACE}-3" not in served_hub.spaces
    assert PASSWORD not in run.stderr


@pytest.mark.timeout(60)
def test_an_interrupt_says_what_exists(
    served_hub: FakeHub, project: Path, openenv: Openenv, tmp_path: Path
) -> None:
    served_hub.fail("POST .*/commit/main", 503, after_s=60)
    environ = {**os.environ, "HF_ENDPOINT": served_hub.url, "HF_TOKEN": TOKEN}
    command = [sys.executable, "-m", "openenv.cli", "push", str(project)]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            eventually(lambda: f"POST /api/spaces/{SPACE}/commit/main" in served_hub.arrived, 30)
            child.send_signal(signal.SIGINT)
            _, words = child.communicate(timeout=15)
        finally:
            child.kill()
    assert child.returncode == 130
    assert "exists now, without files" in words


@pytest.mark.timeout(60)
def test_without_the_library_the_way_to_get_it_is_told(project: Path) -> None:
    code = (
        "import sys; sys.modules['huggingface_hub'] = None\n"
        "from openenv.cli.__main__ import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, "push", str(project)],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert run.returncode == 1
    assert "pip install 'openenv-core[hub]'" in run.stderr
