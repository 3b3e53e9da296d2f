"""`openenv eval`: tables for people, JSON for programs, exit codes for pipelines."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from openenv.cli.__main__ import app
from openenv.cli.output import Exit
from openenv.project.errors import ProjectError, UsageProblem
from openenv.testing import Call, ModelServer, Reply
from tests.evals.lottery import Lottery
from tests.serving import serving

PLAYERS = """
def sells(seen):
    return {"ticket": "sell"}


def keeps(seen):
    return {"ticket": "keep"}


def tears(seen):
    return {"ticket": "tear"}
"""
SELLS, KEEPS, TEARS = (f"scripted:lottery_players:{name}" for name in ("sells", "keeps", "tears"))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(Lottery) as served:
        yield f"http://127.0.0.1:{served.port}"


@pytest.fixture(autouse=True)
def players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "lottery_players.py").write_text(PLAYERS, encoding="utf-8")


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, ["eval", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def answered(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    said: dict[str, Any] = json.loads(result.stdout)
    return said


def test_a_table_says_what_each_achieves(url: str) -> None:
    result = run("--base-url", url, "-p", SELLS, "-p", TEARS, "-n", 4, "--success", "text=sold")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0][0] == "Lottery"
    sold = next(line for line in lines if line[:1] == [SELLS])
    assert sold[1:6] == ["0.500", "0.500", "…", "0.500", "100.0"]
    assert f"{TEARS}: 4 × VALIDATION_ERROR: tickets are not torn" in result.stderr
    assert result.exit_code == Exit.FAILED  # one of them played nothing to its end
    assert f"{TEARS}: every episode failed" in result.stderr


def test_programs_read_the_same(url: str, tmp_path: Path) -> None:
    out, page = tmp_path / "new" / "result.json", tmp_path / "page.html"
    said = answered(
        "--base-url", url, "-p", SELLS, "--seeds", "0-2,9", "-n", 2,
        "--options", '{"chance": 1}', "--output", out, "--html", page,
    )  # fmt: skip
    assert said["seeds"] == [0, 0, 1, 1, 2, 2, 9, 9]
    assert said["options"] == {"chance": 1}
    assert (said["policies"][0]["scored"], said["policies"][0]["mean_reward"]) == (8, 0.5)
    assert json.loads(out.read_text()) == said
    assert "Evaluation of Lottery" in page.read_text()


def test_policies_are_compared_seed_by_seed(url: str) -> None:
    said = answered(
        "--base-url", url, "--compare", SELLS, KEEPS, "-n", 8, "--options", '{"chance": 0}'
    )
    assert [card["policy"] for card in said["policies"]] == [SELLS, KEEPS]
    assert said["comparison"]["better"] == SELLS
    assert said["comparison"]["mean_difference"] == 0.5


def test_saved_results_are_compared_without_a_server(url: str, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    for path, steps in ((old, 5), (new, 6)):
        answered("--base-url", url, "-p", SELLS, "-p", KEEPS, "-n", 8, "--max-steps", steps,
                 "--options", '{"chance": 0}', "--output", path)  # fmt: skip
    page = tmp_path / "page.html"
    result = run("--compare", f"{old}#{KEEPS}", f"{new}#{SELLS}", "--html", page)
    assert f"{new}#{SELLS} is better than {old}#{KEEPS}" in result.stdout
    assert "max_steps differs: 5 and 6" in result.stderr
    assert "is better than" in page.read_text()
    with pytest.raises(ValueError, match="name one of them"):
        run("--compare", old, new)


def test_a_policy_is_compared_with_a_saved_result(url: str, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    answered("--base-url", url, "-p", SELLS, "-n", 8, "--output", saved)
    said = answered("--base-url", url, "-n", 8, "--compare", saved, SELLS)
    assert said["comparison"]["better"] is None


def test_a_threshold_makes_the_exit_code(url: str) -> None:
    good = run("--base-url", url, "-p", SELLS, "-n", 2, "--fail-under", 0.5)
    bad = run("--base-url", url, "-p", SELLS, "-n", 2, "--fail-under", 0.51)
    assert (good.exit_code, bad.exit_code) == (Exit.OK, Exit.FAILED)
    assert "lower than --fail-under 0.51" in bad.stderr


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--fail-under", "nan"), "--fail-under takes a finite number, got nan"),
        (("--options", '{"level": NaN}'), "--options is no JSON (NaN is none of its numbers)"),
    ],
    ids=["threshold", "options"],
)
def test_what_is_no_number_is_refused(url: str, given: tuple[str, str], told: str) -> None:
    with pytest.raises(UsageProblem, match=re.escape(told)):
        run("--base-url", url, "-p", SELLS, *given)


def test_a_run_goes_on_in_its_folder(url: str, tmp_path: Path) -> None:
    first = answered("--base-url", url, "-p", KEEPS, "-n", 3, "--keep", tmp_path / "kept")
    again = answered("--base-url", url, "-p", KEEPS, "-n", 5, "--keep", tmp_path / "kept")
    assert again["policies"][0]["outcomes"][:3] == first["policies"][0]["outcomes"]


def test_a_server_that_went_away_is_said_with_how_to_go_on(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="run the same command again"):
        run("--base-url", "http://127.0.0.1:9", "--keep", tmp_path / "kept")


def test_a_model_plays(url: str) -> None:
    with ModelServer([Reply(calls=[Call("act", {"ticket": "sell"})])] * 2) as model:
        said = answered("--base-url", url, "-p", f"openai:m@{model.url}/v1", "-n", 2)
    assert said["policies"][0]["mean_reward"] == 0.5


def test_an_environment_is_served_for_the_run(tmp_path: Path) -> None:
    (tmp_path / "coin.py").write_text(
        "from openenv import Action, Environment, Observation\n\n\n"
        "class Toss(Action):\n    side: str\n\n\n"
        "class Coin(Environment[Toss, Observation]):\n"
        "    def reset(self, seed=None, **options):\n        return Observation()\n\n"
        "    def step(self, action):\n        return Observation(reward=1.0, done=True)\n"
    )
    said = answered(tmp_path / "coin.py", "-n", 2)
    assert said["policies"][0]["policy"] == "random"
    assert said["policies"][0]["mean_reward"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ([], "name an environment"),
        (["nothing_of_that_name"], "nothing_of_that_name"),
        (["--base-url", "ftp://x"], "--base-url"),
        (["--base-url", "http://x", "-p", "nobody"], "no policy 'nobody'"),
        (["--base-url", "http://x", "--seeds", "3-1"], "--seeds"),
        (["--base-url", "http://x", "--seeds", "a"], "--seeds"),
        (["--base-url", "http://x", "--seeds", "0-9999999999999999999"], "--seeds"),
        (["--base-url", "http://x", "--seeds", "1,3-2"], "--seeds"),
        (["--base-url", "http://x", "--options", "[]"], "--options"),
        (["--base-url", "http://x", "--options", '{"seed": 1}'], "--options"),
        (["--base-url", "http://x", "--options", "{"], "--options"),
    ],
)
def test_what_is_asked_wrongly_is_said(arguments: list[str], wrong: str) -> None:
    with pytest.raises(Exception, match=wrong) as caught:
        run(*arguments)
    assert getattr(caught.value, "exit_code", None) == Exit.USAGE
