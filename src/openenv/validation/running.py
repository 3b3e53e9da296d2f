"""What is asked of every running server: six criteria, over HTTP alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from openenv.client.endpoint import normalised
from openenv.validation.web import Answer, Site

Json = dict[str, Any]
CONTROL = ("/reset", "/step", "/state")
"""The paths that control episodes: in simulation mode a server has all, in production none."""


@dataclass(frozen=True)
class _Outcome:
    passed: bool
    expected: Json
    actual: Json | None
    details: str | None = None


def validate_running_environment(
    base_url: str, timeout_s: float = 5.0, headers: Mapping[str, str] | None = None
) -> Json:
    """Whether a running server has the endpoints that clients and tools rely on.

    Args:
        base_url: its address; a path in it comes before those of the endpoints.
        timeout_s: how long each request may take, in seconds.
        headers: of every request, for example `Authorization`.

    Returns:
        a report as JSON takes it: `target`, `validation_type`, `standard_version`,
        `standard_profile`, `mode`, `passed`, `summary` and `criteria`. A server that does not
        answer meets none of them.

    Raises:
        ConfigurationError: `base_url` is no address.
    """
    site = Site(normalised(base_url), timeout_s, headers or {})
    openapi = site.get("/openapi.json")
    version = _version(openapi)
    criteria = [_told(identity, *_CRITERIA[identity], site, openapi) for identity in _CRITERIA]
    failed = [criterion["id"] for criterion in criteria if not criterion["passed"]]
    total = len(criteria)
    profile = "1.x" if (version or "").startswith("1.") else "unknown"
    return {
        "target": site.url,
        "validation_type": "running_environment",
        "standard_version": version or "unknown",
        "standard_profile": f"openenv-http/{profile}",
        "mode": _mode(openapi),
        "passed": not failed,
        "summary": {
            "passed_count": total - len(failed),
            "total_count": total,
            "failed_criteria": failed,
            "required_passed_count": total - len(failed),
            "required_total_count": total,
        },
        "criteria": criteria,
    }


Judge = Callable[[Site, Answer], _Outcome]


def _told(identity: str, description: str, judge: Judge, site: Site, openapi: Answer) -> Json:
    outcome = judge(site, openapi)
    told: Json = {
        "id": identity,
        "description": description,
        "passed": outcome.passed,
        "required": True,
    }
    if outcome.details is not None:
        told["details"] = outcome.details
    told["expected"] = outcome.expected
    if outcome.actual is not None:
        told["actual"] = outcome.actual
    return told


def _version(openapi: Answer) -> str | None:
    information = openapi.field("info")
    version = information.get("version") if isinstance(information, dict) else None
    return version if isinstance(version, str) else None


def _paths(openapi: Answer) -> dict[str, bool] | None:
    paths = openapi.field("paths")
    return {path: path in paths for path in CONTROL} if isinstance(paths, dict) else None


def _mode(openapi: Answer) -> str:
    served = _paths(openapi)
    if served is None or len(set(served.values())) > 1:
        return "unknown"
    return "simulation" if all(served.values()) else "production"


def _outcome(answer: Answer, expected: Json, actual: Json, *, holds: bool) -> _Outcome:
    """How an endpoint has answered; one that gave no JSON has met nothing."""
    expected = {"status_code": 200, **expected}
    if answer.problem is not None:
        seen = None if answer.status is None else {"status_code": answer.status}
        return _Outcome(False, expected, seen, answer.problem)
    return _Outcome(
        answer.status == 200 and holds, expected, {"status_code": answer.status, **actual}
    )


def _has_version(_site: Site, openapi: Answer) -> _Outcome:
    version = _version(openapi)
    return _outcome(
        openapi,
        {"info.version": "string"},
        {"info.version": version},
        holds=version is not None,
    )


def _is_healthy(site: Site, _openapi: Answer) -> _Outcome:
    answer = site.get("/health")
    status = answer.field("status")
    return _outcome(answer, {"status": "healthy"}, {"status": status}, holds=status == "healthy")


def _has_metadata(site: Site, _openapi: Answer) -> _Outcome:
    answer = site.get("/metadata")
    told = {name: answer.field(name) for name in ("name", "description")}
    holds = all(isinstance(value, str) for value in told.values())
    return _outcome(answer, {"fields": list(told)}, told, holds=holds)


def _has_schemas(site: Site, _openapi: Answer) -> _Outcome:
    answer = site.get("/schema")
    names = ["action", "observation", "state"]
    has = {f"has_{name}": isinstance(answer.field(name), dict) for name in names}
    return _outcome(answer, {"fields": names}, has, holds=all(has.values()))


def _speaks_json_rpc(site: Site, _openapi: Answer) -> _Outcome:
    answer = site.post("/mcp", {})
    version = answer.field("jsonrpc")
    return _outcome(answer, {"jsonrpc": "2.0"}, {"jsonrpc": version}, holds=version == "2.0")


def _is_of_one_mode(_site: Site, openapi: Answer) -> _Outcome:
    served = _paths(openapi)
    if served is None:
        return _Outcome(
            False,
            {"openapi.paths": "present"},
            {"openapi.paths": "missing"},
            "the OpenAPI document lists no paths, which tell the mode",
        )
    expected = dict.fromkeys(CONTROL, any(served.values()))
    return _Outcome(served == expected, expected, dict(served))


_CRITERIA: dict[str, tuple[str, Judge]] = {
    "openapi_version_available": (
        "GET /openapi.json has a version of the API, info.version",
        _has_version,
    ),
    "health_endpoint": ("GET /health says that the server is healthy", _is_healthy),
    "metadata_endpoint": ("GET /metadata tells a name and a description", _has_metadata),
    "schema_endpoint": (
        "GET /schema has the schemas of actions, observations and the state",
        _has_schemas,
    ),
    "mcp_endpoint": ("POST /mcp answers in JSON-RPC", _speaks_json_rpc),
    "mode_endpoint_consistency": (
        "OpenAPI lists all of /reset, /step and /state, or none",
        _is_of_one_mode,
    ),
}
