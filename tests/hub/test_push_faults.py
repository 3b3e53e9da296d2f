"""`openenv push` to a Hub that refuses, is busy, or goes away."""

from pathlib import Path

import pytest

from openenv.project.errors import ProjectError
from openenv.project.hub import Hub
from openenv.project.hub_errors import NotLoggedIn
from tests.hub.api import TOKEN, FakeHub
from tests.hub.conftest import PUBLISHED
from tests.hub.publishing import KEPT, SPACE, deployment, perform, push

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
