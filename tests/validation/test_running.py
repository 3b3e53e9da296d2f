"""Validation of a running server: six criteria over HTTP, then a player's view."""

from fastapi import FastAPI

from openenv.server.app import create_app
from openenv.validation import validate, validate_running_environment
from tests.serving import serving
from tests.validation import broken
from tests.validation.broken import Sound
from tests.validation.reports import statuses
from tests.validation.servers import serving_app

CRITERIA = [
    "openapi_version_available",
    "health_endpoint",
    "metadata_endpoint",
    "schema_endpoint",
    "mcp_endpoint",
    "mode_endpoint_consistency",
]


def test_a_running_server_is_held_to_six_criteria() -> None:
    with serving(Sound) as server:
        url = f"http://127.0.0.1:{server.port}"
        report = validate_running_environment(f"{url}/")
    assert {name: report[name] for name in list(report)[:7]} == {
        "target": url,
        "validation_type": "running_environment",
        "standard_version": "1.0.0",
        "standard_profile": "openenv-http/1.x",
        "mode": "simulation",
        "passed": True,
        "summary": {
            "passed_count": 6,
            "total_count": 6,
            "failed_criteria": [],
            "required_passed_count": 6,
            "required_total_count": 6,
        },
    }
    assert [criterion["id"] for criterion in report["criteria"]] == CRITERIA
    for criterion in report["criteria"]:
        assert criterion.keys() == {"id", "description", "passed", "required", "expected", "actual"}


def test_where_nobody_answers_no_criterion_is_met() -> None:
    report = validate_running_environment("http://127.0.0.1:9", timeout_s=1.0)
    assert not report["passed"]
    assert report["mode"] == "unknown"
    assert report["standard_version"] == "unknown"
    assert report["standard_profile"] == "openenv-http/unknown"
    assert report["summary"]["failed_criteria"] == CRITERIA
    assert "no answer" in report["criteria"][0]["details"]


def test_a_running_server_is_played_too() -> None:
    with serving(broken.IgnoresTheSeed) as server:
        report = validate(f"http://127.0.0.1:{server.port}")
    assert statuses(report, "fail") == {
        "runtime.seed_control": "fail",
        "runtime.episode_determinism": "fail",
    }
    assert report.not_applicable["runtime.capacity"] == (
        "a server of others is not filled with sessions"
    )
    told = report.to_json()
    assert told["validation_type"] == "running_environment"
    assert told["passed"] is True
    assert told["verdict"] == "fail"


def test_a_server_in_production_mode_is_not_played() -> None:
    with serving(Sound, mode="production") as server:
        report = validate(f"http://127.0.0.1:{server.port}")
    assert report.verdict == "pass"
    assert report.not_applicable["runtime.state_contract"] == (
        "episodes cannot be controlled in production mode"
    )
    assert report.to_json()["mode"] == "production"


def test_a_server_behind_a_path_is_reached() -> None:
    outer = FastAPI()
    outer.mount("/games/sound", create_app(Sound))
    with serving_app(outer) as url:
        report = validate(f"{url}/games/sound/")
    assert report.verdict == "pass", statuses(report, "fail", "warn", "skip")


def test_a_token_is_shown_where_one_is_asked_for() -> None:
    with serving(Sound, token="secret") as server:
        url = f"http://127.0.0.1:{server.port}"
        stranger = validate(url)
        assert statuses(stranger, "fail", "error") == {"runtime.startup": "fail"}
        assert "set OPENENV_CLIENT_TOKEN" in stranger.results[0].finding.evidence[0]
        assert validate(url, headers={"Authorization": "Bearer secret"}).verdict == "pass"
