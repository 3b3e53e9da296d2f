"""What a package's files say: its manifest's `validation:` block, its plan, how it is started."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from openenv.testing.finding import Finding
from openenv.validation import (
    Level,
    Subject,
    Target,
    get_deployment_modes,
    validate,
    validate_multi_mode_deployment,
)
from openenv.validation.plan import PlanError, plan_for, read_plan
from openenv.validation.policy import Policy
from openenv.validation.registry import own_checks
from tests.validation.packages import APP, MANIFEST, PYPROJECT, package

CHECKS = {check.id: check for check in own_checks()}
POLICY = Policy.chosen(None, Level.STATIC)


def looked(check: str, root: Path) -> Finding:
    return CHECKS[check].look(Subject(Target.named(str(root)), POLICY))


def test_a_sound_package_passes(tmp_path: Path) -> None:
    report = validate(str(package(tmp_path)), Level.STATIC)
    assert report.verdict == "pass"
    assert report.levels_run == [1]
    told = report.to_json()
    assert told["report_schema_version"] == "1"
    assert told["policy_version"] == "v1"
    assert told["manifest"] == {
        "manifest_schema_version": "1",
        "name": "counted",
        "version": "0.1.0",
        "signature": "openenv.yaml",
        "reward": {
            "range": [0.0, 1.0],
            "oracle_tolerance": 0.0,
            "floor_margin": 0.1,
            "variance_tolerance": None,
        },
        "judge": None,
        "resources": {
            "cpu": 1.0,
            "memory_mb": 1024,
            "disk_mb": 512,
            "episode_timeout_s": 60.0,
            "gpus": 0,
            "gpu_types": [],
        },
        "task_distribution": None,
        "network": {"mode": "public", "allowed_hosts": []},
        "capabilities": {
            "oracle": None,
            "verifier": {"kind": "reward_channel", "entry": None},
            "set_state": False,
            "llm_judged": False,
            "rubric_tree": False,
            "task_api": False,
            "canaries": None,
            "declared_tools": [],
            "declared_task_count": {},
        },
        "types": {"tags": ["demo"]},
    }


@pytest.mark.parametrize(
    ("line", "instead", "told"),
    [
        ("range: [0.0, 1.0]", "range: [1.0, 0.0]", ":6:12: reward.range: the range must go up"),
        ("range: [0.0, 1.0]", "range: [0, .inf]", ":6:16: reward.range.1: Input should be a fin"),
        ("floor_margin: 0.1", "floor_margin: 0.05", ":7:19: reward.floor_margin: must be at least"),
        ("floor_margin: 0.1", "oracle: 1", ":6:5: reward.floor_margin: Field required"),
        ("floor_margin: 0.1", "floor_margin: 1\n    bogus: 1", ":8:12: reward.bogus: Extra inputs"),
        (
            "floor_margin: 0.1",
            "floor_margin: 0.1\n    oracle_tolerance: 0.2",
            ":8:23: reward.oracle_tolerance: must be at most 0.1",
        ),
        (
            "floor_margin: 0.1",
            "floor_margin: 0.1\n    variance_tolerance: 0.5",
            ":8:25: reward.variance_tolerance: must be at most 0.2",
        ),
        ("cpu: 1.0", "cpu: 0", ":9:10: resources.cpu: Input should be greater than 0"),
        ("memory_mb: 1024", "memory_mb: 1.5", ":10:16: resources.memory_mb: Input should be a va"),
        (
            "episode_timeout_s: 60.0",
            "episode_timeout_s: 4000",
            ":12:24: resources.episode_timeout_s: must be at most 3600",
        ),
        ("kind: reward_channel", "kind: script", ":15:7: capabilities.verifier: a verifier of kin"),
        ("tags: [demo]", "tags: []", ":17:11: types.tags: List should have at least 1 item"),
        (
            "tags: [demo]",
            "tags: [demo]\n  network: {mode: allowlist}",
            ":18:12: network: the mode allowlist takes at least one host",
        ),
        (
            "tags: [demo]",
            "tags: [demo]\n  network: {allowed_hosts: [a]}",
            ":18:12: network: allowed_hosts belongs to the mode allowlist alone",
        ),
        (
            "tags: [demo]",
            "tags: [demo]\n  judge: {model: m, version: '1'}",
            ":5:3: validation: there is a judge if capabilities.llm_judged is true",
        ),
        ("app: server.app:app", "app: [1]", "openenv.yaml:3:6: app: [1]"),
        ("name: counted", "name: [counted", "openenv.yaml:3:4: no YAML"),
    ],
)
def test_what_is_wrong_in_a_manifest_is_told_with_its_line(
    tmp_path: Path, line: str, instead: str, told: str
) -> None:
    root = package(tmp_path, manifest=MANIFEST.replace(line, instead))
    finding = looked("static.manifest", root)
    assert finding.status == "fail"
    assert any(told in fault for fault in finding.evidence), finding.evidence


def test_all_faults_of_a_block_are_told_at_once(tmp_path: Path) -> None:
    root = package(tmp_path, manifest="name: counted\nvalidation: {}\n")
    finding = looked("static.manifest", root)
    names = [fault.split(": ")[1] for fault in finding.evidence]
    assert names == ["reward", "resources", "capabilities", "types"]


def test_a_package_need_not_declare_anything(tmp_path: Path) -> None:
    root = package(tmp_path, manifest="name: counted\n")
    finding = looked("static.manifest", root)
    assert finding.status == "pass"
    assert "it has no validation: block" in finding.evidence[0]


@pytest.mark.parametrize(
    ("changed", "issue"),
    [
        ({"pyproject": None}, "there is no such file"),
        ({"pyproject": "[project"}, "pyproject.toml:1:"),
        ({"pyproject": "[tool.poetry]\n"}, "has no project.name"),
        ({"pyproject": PYPROJECT.replace("server =", "serve =")}, "no script server"),
        ({"pyproject": PYPROJECT.replace(":main", ":run")}, "it takes module:main"),
        ({"pyproject": PYPROJECT.replace("openenv-core", "openenvy")}, "no dependency on openenv"),
        ({"app": None}, "server/app.py is missing"),
        ({"app": APP.replace("def main", "def run")}, "server/app.py has no function main()"),
        ({"app": APP.replace("    main()\n", "    pass\n")}, "does not call main()"),
        ({"lock": None}, "uv.lock is missing"),
    ],
)
def test_what_keeps_a_package_from_being_started_is_told(
    tmp_path: Path, changed: dict[str, str | None], issue: str
) -> None:
    root = package(tmp_path, **changed)
    works, issues = validate_multi_mode_deployment(root)
    assert not works
    assert len(issues) == 1
    assert issue in issues[0]
    status = {"uv.lock is missing": "pass", "pyproject.toml:1:": "fail"}.get(issue, "warn")
    assert looked("static.deployment", root).status == status


def test_the_ways_in_which_a_package_can_be_started(tmp_path: Path) -> None:
    root = package(tmp_path)
    assert validate_multi_mode_deployment(root) == (True, [])
    every = ("docker", "openenv_serve", "uv_run", "python_module")
    assert get_deployment_modes(root) == dict.fromkeys(every, True)
    (root / "server" / "Dockerfile").unlink()
    (root / "server" / "app.py").unlink()
    assert get_deployment_modes(root) == dict.fromkeys(every, False) | {"openenv_serve": True}


def test_a_dockerfile_that_installs_openenv_is_a_dependency_on_it(tmp_path: Path) -> None:
    bare = PYPROJECT.replace('dependencies = ["openenv-core>=0.11"]\n', "")
    root = package(tmp_path, pyproject=bare, dockerfile="RUN pip install 'openenv-core>=0.11'\n")
    assert validate_multi_mode_deployment(root) == (True, [])


def test_an_app_that_binds_to_every_network_is_warned_of(tmp_path: Path) -> None:
    root = package(tmp_path, app=APP + '\nHOST = "0.0.0.0"  # "::"\n')
    finding = looked("static.public_bind", root)
    assert finding.status == "warn"
    assert len(finding.evidence) == 1
    assert "server/app.py:37: serves every network" in finding.evidence[0]
    assert looked("static.public_bind", package(tmp_path / "other")).status == "pass"


PLAN: dict[str, Any] = {
    "plan_schema_version": "1",
    "reset": {"episode_id": "mine", "seed": 3, "options": {"hard": True}},
    "actions": [{"by": 1}, {"by": 2}],
}


def _nobody() -> Any:
    raise AssertionError("a plan asks no server")


def test_a_plan_is_what_is_done(tmp_path: Path) -> None:
    plan = plan_for(package(tmp_path, plan=json.dumps(PLAN)), None, {}, _nobody)
    assert list(plan.actions) == [{"by": 1}, {"by": 2}]
    assert plan.reset() == {"seed": 3, "episode_id": "mine", "hard": True}
    assert not plan.generated


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "runtime.json:1:2: no JSON"),
        ("[" * 50_000, "no JSON"),
        (
            json.dumps(PLAN | {"plan_schema_version": "2"}),
            "plan_schema_version: Input should be '1'",
        ),
        (json.dumps(PLAN | {"actions": []}), "actions: List should have at least 1 item"),
        (json.dumps(PLAN | {"actions": [{}] * 101}), "actions: List should have at most 100 items"),
        (json.dumps(PLAN | {"actions": [1]}), "actions.0: Input should be a valid dictionary"),
        (json.dumps(PLAN | {"reset": {"seed": -1}}), "reset.seed: Input should be greater"),
        (json.dumps(PLAN | {"more": 1}), "more: Extra inputs"),
        (
            json.dumps(PLAN | {"reset": {"options": {"x": "x" * 70_000}}}),
            "a plan has at most 65536",
        ),
    ],
)
def test_what_is_wrong_in_a_plan_is_told(tmp_path: Path, text: str, told: str) -> None:
    root = package(tmp_path, plan=text)
    with pytest.raises(PlanError) as error:
        read_plan(root / "validation" / "runtime.json")
    assert told in str(error.value)


def test_a_file_whose_name_is_no_text_is_digested_too(tmp_path: Path) -> None:
    root = package(tmp_path / "odd_env")
    before = Target.named(str(root)).digest()
    os.close(os.open(os.fsencode(root) + b"/\xff.txt", os.O_CREAT))
    assert Target.named(str(root)).digest() != before


def test_the_digest_is_that_of_the_sources_alone(tmp_path: Path) -> None:
    first, second = package(tmp_path / "a"), package(tmp_path / "b")
    (second / "__pycache__").mkdir()
    (second / "__pycache__" / "app.pyc").write_bytes(b"\0")
    (second / ".venv").mkdir()
    (second / ".venv" / "x.py").write_text("")
    digests = {Target.named(str(root)).digest() for root in (first, second)}
    assert len(digests) == 1
    (second / "server" / "app.py").write_text(APP + "\n")
    assert Target.named(str(second)).digest() not in digests
