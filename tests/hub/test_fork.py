"""`openenv fork`: somebody's Space becomes one of your own."""

from typing import Any

import pytest

from openenv.project import fork as forking
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.hub import Hub, SpaceSettings
from openenv.project.hub_errors import NotLoggedIn
from tests.hub.api import ACCOUNT, FakeHub
from tests.hub.commands import invoke
from tests.hub.conftest import Openenv

SOURCE = "openenv/echo_env"
FILES = {"Dockerfile": b"FROM a\n", "README.md": b"# Echo\n"}
PASSWORD = "correct-horse-battery"


def fork(hub: Hub, repo_id: str | None = None, **settings: Any) -> dict[str, Any]:
    return forking.fork(hub, SOURCE, repo_id, SpaceSettings(**settings))


def test_a_copy_has_the_files_and_settings_of_its_own(served_hub: FakeHub, hub: Hub) -> None:
    served_hub.add(SOURCE, files=FILES, secrets={"THEIRS": "x"})
    copied = fork(
        hub, "mine", private=True, hardware="cpu-basic", variables={"A": "b"}, secrets={"KEY": "k"}
    )
    copy = served_hub.spaces[f"{ACCOUNT}/mine"]
    assert FILES.items() <= copy.files.items()
    assert (copy.private, copy.hardware) == (True, "cpu-basic")
    assert (copy.variables, copy.secrets) == ({"A": "b"}, {"KEY": "k"})
    assert copied["url"] == f"{served_hub.url}/spaces/{ACCOUNT}/mine"
    assert copied["app_url"] == "https://ada-mine.hf.space"


@pytest.mark.parametrize(
    ("repo_id", "expected"),
    [(None, "ada/echo_env"), ("mine", "ada/mine"), ("team/mine", "team/mine")],
)
def test_the_name_of_a_copy(
    served_hub: FakeHub, hub: Hub, repo_id: str | None, expected: str
) -> None:
    served_hub.add(SOURCE, files=FILES)
    served_hub.writable.add("team")
    assert fork(hub, repo_id)["repo_id"] == expected
    assert expected in served_hub.spaces


def test_what_exists_is_left_as_it_is(served_hub: FakeHub, hub: Hub) -> None:
    served_hub.add(SOURCE, files=FILES)
    mine = served_hub.add(f"{ACCOUNT}/echo_env", files={"a": b"mine"})
    with pytest.raises(ProjectError, match="exists already and is left as it is"):
        fork(hub)
    assert mine.files == {"a": b"mine"}
    with pytest.raises(UsageProblem, match="is yours already"):
        forking.fork(hub, f"{ACCOUNT}/echo_env", None, SpaceSettings())


@pytest.mark.parametrize(
    ("status", "way_out"),
    [
        (402, "billing"),
        (403, "settings/tokens"),
        (409, "--repo-id"),
        (429, "wait a few minutes"),
        (500, "run the same command again"),
    ],
)
def test_a_refused_copy_leaves_nothing(
    served_hub: FakeHub, hub: Hub, status: int, way_out: str
) -> None:
    served_hub.add(SOURCE, files=FILES)
    served_hub.fail("POST .*/duplicate", status, times=9)
    with pytest.raises(ProjectError, match=way_out):
        fork(hub)
    assert served_hub.spaces.keys() == {SOURCE}


def test_a_space_that_is_not_there(hub: Hub) -> None:
    with pytest.raises(ProjectError, match=r"cannot copy openenv/echo_env .*\(404.*check the name"):
        fork(hub)


def test_a_stranger_cannot_copy(served_hub: FakeHub) -> None:
    with pytest.raises(NotLoggedIn):
        fork(Hub(served_hub.url, "hf_wrong"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["echo_env"],
        ["a/b/c"],
        ["a/b c"],
        [f"{SOURCE}@main"],
        ["https://example.org/a/b"],
        [SOURCE, "--repo-id", "a/b/c"],
        [SOURCE, "-e", "novalue"],
        [SOURCE, "-s", "1A=b"],
        [SOURCE, "-e", "A=hf_" + "aB3" * 12],
    ],
    ids=str,
)
def test_bad_names_and_pairs_exit_with_2(arguments: list[str]) -> None:
    exit_code, words = invoke("fork", *arguments)
    assert exit_code == 2, words


def test_a_bad_variable_is_told_by_the_name_of_its_option() -> None:
    _, words = invoke("fork", SOURCE, "--set-env", "novalue")
    assert "--set-env takes NAME=VALUE" in words, words


@pytest.mark.timeout(60)
def test_the_command(served_hub: FakeHub, openenv: Openenv) -> None:
    served_hub.add(SOURCE, files=FILES)
    run = openenv("fork", SOURCE, "-e", "A=b", "-s", "KEY", "--private", typed=f"{PASSWORD}\n")
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{served_hub.url}/spaces/{ACCOUNT}/echo_env\n"
    assert PASSWORD not in run.stdout + run.stderr
    copy = served_hub.spaces[f"{ACCOUNT}/echo_env"]
    assert (copy.secrets, copy.hardware) == ({"KEY": PASSWORD}, "cpu-basic")
    again = openenv("fork", f"https://huggingface.co/spaces/{SOURCE}")
    assert again.returncode == 1
    assert "exists already" in again.stderr
