"""Validation across both implementations: the peer's package here, our server under the peer's."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openenv.validation import Level, Report, validate, validate_running_environment
from tests.interop.serving import PEER, PEER_VENV, environment, served

pytestmark = [pytest.mark.interop, pytest.mark.timeout(120)]
OPENENV = str(PEER_VENV / "bin" / "openenv")


@pytest.fixture(scope="module")
def scaffold(peer: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package as the peer makes it."""
    folder = tmp_path_factory.mktemp("made")
    subprocess.run(
        [OPENENV, "init", "tiny_env", "-o", str(folder)],
        env=environment(PEER),
        check=True,
        capture_output=True,
        timeout=90,
    )
    return folder / "tiny_env"


@pytest.fixture(scope="module")
def peers_server(scaffold: Path) -> Iterator[str]:
    """That package, served by the peer."""
    folder = str(scaffold.parent)
    command = ("-m", "uvicorn", "tiny_env.server.app:app", "--app-dir", folder, "--port", "PORT")
    with served(PEER, *command) as url:
        yield url


def doubts(report: Report) -> dict[str, str]:
    """The checks that did not pass."""
    return {r.check_id: r.status.value for r in report.results if r.status.value != "pass"}


def test_the_peers_package_served_by_us_is_valid(scaffold: Path) -> None:
    report = validate(str(scaffold))
    assert doubts(report) == {"static.public_bind": "warn"}
    assert report.manifest is not None
    assert report.manifest["reward"]["range"] == [0.0, 1.0]


def test_the_peers_package_served_by_the_peer_is_valid(peers_server: str) -> None:
    report = validate(peers_server)
    assert doubts(report) == {"runtime.hostile_frames": "warn"}


def test_both_say_the_same_of_the_peers_server(peers_server: str) -> None:
    theirs, ours = peers_report(peers_server), validate_running_environment(peers_server)
    for criterion in (*theirs["criteria"], *ours["criteria"]):
        del criterion["description"]  # each in its own words
    assert ours == theirs


def test_the_peer_finds_our_server_valid(our_server: str) -> None:
    theirs = peers_report(our_server)
    assert theirs["passed"], theirs["summary"]
    ours = validate_running_environment(our_server)
    assert ours["summary"] == theirs["summary"]


def test_the_manifests_of_both_are_normalized_alike(scaffold: Path) -> None:
    theirs = called_by_peer("validate", str(scaffold), "--level", "static", "--json")
    ours = validate(str(scaffold), Level.STATIC).to_json()
    assert ours["manifest"] == theirs["manifest"]
    assert ours["results"][0].keys() == theirs["results"][0].keys()
    assert theirs.keys() <= ours.keys()


def peers_report(url: str) -> dict[str, Any]:
    return called_by_peer("validate", "--url", url, "--json")


def called_by_peer(*arguments: str) -> dict[str, Any]:
    """What the peer's command prints."""
    run = subprocess.run(
        [OPENENV, *arguments],
        env=environment(PEER),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    report: dict[str, Any] = json.loads(run.stdout)
    return report
