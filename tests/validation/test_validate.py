"""`openenv validate` as a whole: its targets, its report, its exit codes."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from openenv.cli.__main__ import app, main
from openenv.validation import (
    Check,
    Finding,
    Level,
    Status,
    Target,
    registry,
    validate,
)
from openenv.validation import run as running
from tests.serving import serving
from tests.validation import broken
from tests.validation.broken import Sound
from tests.validation.packages import APP, MANIFEST, package
from tests.validation.reports import statuses

ROOT = Path(__file__).parents[2]
BROKEN = Path(broken.__file__)
OPENENV = [sys.executable, "-m", "openenv"]


def called(*arguments: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*OPENENV, "validate", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


@pytest.mark.timeout(90)
@pytest.mark.parametrize(
    ("target", "level"),
    [
        (str(ROOT / "envs" / "echo_env"), Level.RUNTIME),
        (str(ROOT / "envs" / "blackjack_env"), Level.SEMANTIC),
        ("gym:CartPole-v1", Level.RUNTIME),
    ],
)
def test_sound_environments_pass_every_check(target: str, level: Level) -> None:
    report = validate(target, level)
    assert statuses(report, "warn", "fail", "skip", "error") == {}
    assert report.verdict == "pass"
    assert report.levels_run[-1] == level
    seen = {result.check_id for result in report.results} | set(report.not_applicable)
    assert seen == {check.id for check in registry.own_checks() if check.level <= level}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("options", [[], ["--minimal"]])
def test_what_init_makes_passes(tmp_path: Path, options: list[str]) -> None:
    subprocess.run(
        [*OPENENV, "init", "made_env", *options, "-o", str(tmp_path)], check=True, timeout=60
    )
    files = sorted(tmp_path.rglob("*.py"))
    target = str(files[0]) if options else str(tmp_path / "made_env")
    report = validate(target, Level.RUNTIME if options else Level.SEMANTIC)
    assert statuses(report, "warn", "fail", "skip", "error") == {}


@pytest.mark.timeout(90)
def test_a_package_is_played_by_its_own_plan_and_held_to_what_it_declares(tmp_path: Path) -> None:
    plan = {"plan_schema_version": "1", "actions": [{"by": 5}, {"by": -5}]}
    greedy = MANIFEST.replace("memory_mb: 1024", "memory_mb: 1").replace("[0.0, 1.0]", "[0.9, 1.0]")
    report = validate(str(package(tmp_path, plan=json.dumps(plan), manifest=greedy)))
    told = {result.check_id: result for result in report.results}
    assert told["runtime.episode"].finding.measured["steps"] == 2
    assert told["runtime.episode"].finding.measured["actions"] == "given"
    assert statuses(report, "fail") == {
        "runtime.reward_well_formed": "fail",
        "semantic.resource_envelope": "fail",
    }
    assert "its reward 0.5 is outside of [0.9, 1.0]" in " ".join(
        told["runtime.reward_well_formed"].finding.evidence
    )
    assert "MB, 1 are declared" in told["semantic.resource_envelope"].finding.evidence[0]
    assert told["semantic.resource_envelope"].remediation


@pytest.mark.timeout(90)
def test_a_plan_that_is_wrong_or_refused_fails(tmp_path: Path) -> None:
    for number, actions in enumerate(([], [{"by": "far"}])):
        plan = json.dumps({"plan_schema_version": "1", "actions": actions})
        report = validate(str(package(tmp_path / str(number), plan=plan)), Level.RUNTIME)
        assert statuses(report, "fail") == {"runtime.episode": "fail"}


@pytest.mark.timeout(90)
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("env", "status"),
    [
        (broken.Misspells, "fail"),
        (broken.ReturnsNothing, "fail"),
        (broken.ExitsSometimes, "fail"),
        (broken.TakesNothing, "skip"),
        (broken.RaisesSometimes, "warn"),
    ],
)
def test_an_environment_whose_steps_fail_is_told_from_made_up_actions_that_mean_nothing(
    env: type[Any], status: str
) -> None:
    report = validate(f"{BROKEN}:{env.__name__}", Level.RUNTIME)
    assert statuses(report, "fail", "skip", "warn")["runtime.episode"] == status
    assert (report.verdict == "fail") == (status == "fail")


def test_what_depends_on_what_failed_is_skipped() -> None:
    report = validate(f"{BROKEN}:ResetRaises", Level.RUNTIME)
    assert statuses(report, "fail") == {"runtime.episode": "fail"}
    skipped = {r.check_id: r for r in report.results if r.status is Status.SKIP}
    assert "runtime.seed_control" in skipped
    assert skipped["runtime.seed_control"].finding.evidence == (
        "unmet dependency: runtime.episode",
    )
    assert report.verdict == "fail"


@pytest.mark.timeout(60)
def test_a_server_that_dies_is_told_of_with_the_end_of_its_log(tmp_path: Path) -> None:
    fatal = "        print('I', 'die', flush=True)\n        os._exit(3)\n"
    app = "import os\n" + APP.replace("        self.level += action.by\n", fatal)
    root = package(tmp_path, app=app)
    report = validate(str(root), Level.RUNTIME)
    told = {result.check_id: result for result in report.results}["runtime.episode"]
    assert told.status == "fail"
    assert "ended with exit code" in "\n".join(told.finding.evidence)
    assert "I die" in told.finding.evidence


# ── targets ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        (
            "https://huggingface.co/spaces/Some_One/My.Env",
            "url",
            "https://some-one-my-env.hf.space",
        ),
        ("huggingface.co/spaces/a/b/", "url", "https://a-b.hf.space"),
        ("https://hf.co/spaces/a/b", "url", "https://a-b.hf.space"),
        ("http://localhost:8000/prefix/", "url", "http://localhost:8000/prefix"),
        ("HTTPS://example.org", "url", "https://example.org"),
        ("image:openenv-echo", "image", "openenv-echo"),
        ("openenv-echo:latest", "image", "openenv-echo:latest"),
        ("registry.example.org/a/b:1.2", "image", "registry.example.org/a/b:1.2"),
        ("localhost:5000/a@sha256:" + "0" * 64, "image", "localhost:5000/a@sha256:" + "0" * 64),
        ("gym:CartPole-v1", "source", "gym:CartPole-v1"),
        (f"{__file__}:Echo", "source", f"{__file__}:Echo"),
        ("echo_env.server.app:app", "source", "echo_env.server.app:app"),
        ("openenv-echo-env", "package", str(ROOT / "envs" / "echo_env")),
        ("blackjack", "package", str(ROOT / "envs" / "blackjack_env")),
    ],
)
def test_what_a_target_means(text: str, kind: str, place: str) -> None:
    target = Target.named(text)
    assert (target.kind, target.place) == (kind, place)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["nosuch.py:Env"], 2, "there is no file 'nosuch.py'"),
        (["nosuch"], 2, "there is no package directory 'nosuch'"),
        (["tests"], 2, "it holds no openenv.yaml"),
        (["image:"], 2, "an image has a name"),
        (["--image", "-rm"], 2, "an image has a name"),
        (["http://user:secret@localhost:8000"], 2, "the address has a password in it"),
        (["--timeout", "0"], 2, "Invalid value"),
        (["envs/echo_env", "--level", "deep"], 3, "the levels are static, runtime, semantic"),
        (["envs/echo_env", "--policy", "v9"], 3, "the policies are v1, v2"),
        (["envs/echo_env", "--url", "http://127.0.0.1:9"], 1, "one thing at a time"),
        (["--local", "http://127.0.0.1:9"], 1, "is a running server; leave out --local"),
        (["http://"], 1, "base_url must be a server's address"),
        (
            ["envs/echo_env", "--level", "static", "--output", "no/x"],
            1,
            "cannot be written to no/x",
        ),
    ],
)
def test_what_is_asked_wrongly_is_told_with_its_exit_code(
    arguments: list[str],
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["openenv", "validate", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == code
    assert told in capsys.readouterr().err


@pytest.mark.timeout(90)
def test_the_table_says_what_was_seen_and_how_to_mend_it(tmp_path: Path) -> None:
    lying = APP.replace("random.Random(seed)", "random.Random()")
    root = package(tmp_path, app=lying)
    result = called(str(root), "--skip-build", "--local", "-v")
    told = result.stdout
    assert result.returncode == 1
    assert "pass   runtime.startup: healthy after" in told
    assert "FAIL   runtime.seed_control: after a second reset with seed 7, reset: level" in told
    assert "       → Take `seed` in `reset`" in told
    assert "skip   not looked at, since runtime.episode_determinism did not pass: semantic" in (
        told
    )
    assert '       measured: {"modes": {"docker": true' in told
    assert told.rstrip().splitlines()[-1].startswith("FAIL: ")


def test_the_table_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = package(tmp_path, pyproject=None)
    for arguments in (["--level", "static"], ["--level", "static", "-v"]):
        monkeypatch.setattr(sys, "argv", ["openenv", "validate", str(root), *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        assert exit_.value.code in (0, None)
        said = capsys.readouterr()
        assert said.out.splitlines()[2].startswith("pass   static.manifest: the manifest is valid")
        assert "WARN   static.deployment: " in said.out
        assert "       → Do what each line says" in said.out
        assert said.out.endswith("WARN: 2 pass, 1 warn\n")
        assert f"openenv push {root}" in said.err
        assert "  static.manifest\n  static.deployment\n" in said.err, "so far it has come"
        assert ("measured: " in said.out) is ("-v" in arguments)


def test_the_report_is_json_on_stdout_and_in_a_file(tmp_path: Path) -> None:
    root = package(tmp_path)
    output = tmp_path / "report.json"
    result = called("--level", "static", "--json", "--output", str(output), cwd=root)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report == json.loads(output.read_text())
    assert list(report) == [
        "report_schema_version",
        "target",
        "source_digest",
        "signature",
        "manifest",
        "policy_version",
        "lane",
        "levels_run",
        "results",
        "not_applicable",
        "verdict",
    ]
    assert report["results"][0].keys() == {
        "check_id",
        "status",
        "measured",
        "evidence",
        "remediation",
        "duration_s",
    }
    assert report["verdict"] == "pass"


def test_where_nothing_could_be_looked_at_a_warning_says_so() -> None:
    report = validate("gym:CartPole-v1", Level.STATIC)
    assert (report.verdict, report.results) == ("warn", [])
    with serving(Sound) as server:
        assert validate(f"http://127.0.0.1:{server.port}", Level.STATIC).verdict == "pass"


@pytest.mark.timeout(90)
def test_a_missing_image_or_engine_is_told() -> None:
    report = validate("image:openenv-no-such-image:0", Level.RUNTIME)
    assert statuses(report, "fail") == {"runtime.startup": "fail"}


def test_help_names_every_option() -> None:
    told = CliRunner().invoke(app, ["validate", "--help"]).output
    for option in ("--url", "--image", "--level", "--skip-build", "--local", "--policy", "--json"):
        assert option in told


# ── checks of other packages ──────────────────────────────────────────────────────────────────────


def _has_charm(subject: Any) -> Finding:
    return Finding.judged(["it has none"], "it has some", mild=True)


CHARM = Check("charm.some", Level.STATIC, "It has charm.", "Add some.", _has_charm)
CLUMSY = Check("charm.clumsy", Level.STATIC, "It asks.", "Ask.", lambda _subject: 1 / 0)  # type: ignore[arg-type, return-value]


PRICKLY = Check("charm.prickly", Level.STATIC, "It asks.", "Ask.", _has_charm, applies=[].pop)  # type: ignore[arg-type]


def test_other_packages_add_checks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    points = [
        EntryPoint("charm", f"{__name__}:CHARM", registry.GROUP),
        EntryPoint("clumsy", f"{__name__}:CLUMSY", registry.GROUP),
        EntryPoint("prickly", f"{__name__}:PRICKLY", registry.GROUP),
        EntryPoint("gone", "no_such_package:CHECK", registry.GROUP),
        EntryPoint("odd", "json:dumps", registry.GROUP),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    report = running.validate(str(package(tmp_path)), Level.STATIC)
    told = {result.check_id: result for result in report.results}
    assert told["charm.some"].status == "warn"
    assert told["charm.some"].remediation == "Add some."
    assert told["charm.clumsy"].status == "error"
    assert "ZeroDivisionError" in told["charm.clumsy"].finding.evidence[0]
    assert told["charm.prickly"].status == "error"
    assert told["gone (no_such_package:CHECK)"].status == "skip"
    assert "must be a Check" in told["odd (json:dumps)"].finding.evidence[0]
    assert report.verdict == "fail"
