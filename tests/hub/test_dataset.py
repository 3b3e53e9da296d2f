"""Collections as data sets on a hub."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from openenv import Action, Environment, Observation
from tests.hub.api import TOKEN, FakeHub, Json, Request
from tests.hub.server import fake_hub
from tests.serving import serving

Collect = Callable[..., "subprocess.CompletedProcess[str]"]


class DatasetHub(FakeHub):
    """A Hub of data sets instead of Spaces."""

    def _routes(self) -> list[tuple[str, str, Callable[..., Json | list[Json]]]]:
        return [
            (method, pattern.replace("/spaces/", "/datasets/"), perform)
            for method, pattern, perform in super()._routes()
        ]

    def _create(self, request: Request) -> Json:
        body = request.json()
        repo_id = f"{body['organization']}/{body['name']}"
        self._may_write(request, repo_id)
        assert body["type"] == "dataset"
        if repo_id not in self.spaces:
            self._new(repo_id, body, {})
        return {"url": f"{self.url}/datasets/{repo_id}"}

    def _validate_yaml(self, request: Request) -> Json:
        assert request.json()["repoType"] == "dataset"
        return {"errors": [], "warnings": []}


class Move(Action):
    steps: int


class Walk(Environment[Move, Observation]):
    def reset(self, **options: Any) -> Observation:
        return Observation()

    def step(self, action: Move) -> Observation:
        return Observation(reward=1.0, done=True)


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with fake_hub(DatasetHub()) as hub:
        yield hub


@pytest.fixture
def collect(hub: FakeHub, tmp_path: Path) -> Iterator[Collect]:
    """Collects two episodes in a process of its own, which alone knows the hub."""
    with serving(Walk) as served:

        def run(*arguments: str, token: str = TOKEN) -> "subprocess.CompletedProcess[str]":
            environ = {n: value for n, value in os.environ.items() if not n.startswith("HF_")}
            home = {"HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hf")}
            at = {"HF_ENDPOINT": hub.url, "HF_TOKEN": token, "HF_HUB_DISABLE_XET": "1"}
            place = ["--base-url", f"http://127.0.0.1:{served.port}", "-o", "walks", "-n", "2"]
            return subprocess.run(
                [sys.executable, "-m", "openenv.cli", "collect", "walk", *place, *arguments],
                env={**environ, **home, **at},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )

        yield run


def test_a_collection_becomes_a_data_set(hub: FakeHub, collect: Collect) -> None:
    done = collect("--push-to-hub", "ada/walks", "--private", "--commit-message", "all", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["dataset"] == f"{hub.url}/datasets/ada/walks"
    dataset = hub.spaces["ada/walks"]
    assert dataset.private
    assert dataset.files.keys() - {".gitattributes"} == {
        "README.md",
        "metadata.json",
        "results.jsonl",
    }
    lines = dataset.files["results.jsonl"].decode().splitlines()
    assert [json.loads(line)["episode_id"] for line in lines] == ["ep-000000", "ep-000001"]
    assert b"path: results.jsonl" in dataset.files["README.md"]
    [[header, *_]] = dataset.commits
    assert header["value"]["summary"] == "all"
    assert collect("-n", "3", "--push-to-hub", "ada/walks").returncode == 0
    assert hub.spaces["ada/walks"].files["results.jsonl"].count(b"\n") == 3


@pytest.mark.parametrize(
    ("repo_id", "token", "words"),
    [("ada/walks", "hf_wrong", "401"), ("bob/walks", TOKEN, "403"), ("a/b/c", TOKEN, "a/b/c")],
)
def test_an_upload_that_is_refused_loses_nothing(
    collect: Collect, tmp_path: Path, repo_id: str, token: str, words: str
) -> None:
    done = collect("--push-to-hub", repo_id, token=token)
    assert done.returncode == 1
    assert "could not be uploaded" in done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert token not in done.stderr
    assert (tmp_path / "walks/results.jsonl").read_text().count("\n") == 2
