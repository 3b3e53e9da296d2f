"""`openenv collect` of tools, and what it says at its end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field
from typer.testing import CliRunner

from openenv import Environment, Observation, tool
from openenv.cli.__main__ import app
from tests.rollout.test_collect import Walk, collect, config, records, refused
from tests.serving import Served, serving
from tests.tools.tools_only import Shop


@pytest.fixture
def walk() -> Iterator[Served]:
    with serving(Walk) as served:
        yield served


def test_tools_are_played_where_there_is_nothing_else(tmp_path: Path) -> None:
    with serving(Shop) as served:
        answer = collect(served, tmp_path, "-n", "12", "--keep-losses", "--max-turns", "20")
    assert (answer["num_collected"], answer["num_failed"]) == (12, 0)
    played = [call for record in records(tmp_path) for call in record["tool_trace"]]
    assert {call["tool_name"] for call in played} == {"price", "buy", "check_out"}
    assert all("item" in call["arguments"] for call in played if call["tool_name"] == "buy")
    assert any(record["done"] for record in records(tmp_path))


class Unplayable(Environment):
    def reset(self, **options: Any) -> Observation:
        return Observation()

    @tool
    def find(self, code: Annotated[str, Field(pattern="[a-f]{7}")]) -> str:
        """Finds."""
        return code


def test_tools_that_no_call_can_be_made_up_for_are_told_at_the_start(tmp_path: Path) -> None:
    with serving(Unplayable) as served:
        url = f"http://127.0.0.1:{served.port}"
        code, told = refused("find", "--base-url", url, "-o", str(tmp_path / "none"))
    assert code == 1
    assert "no action can be made up" in told
    assert "'find'" in told
    assert not (tmp_path / "none").exists()


def _ended(server: Served, folder: Path, *arguments: str) -> str:
    url = f"http://127.0.0.1:{server.port}"
    command = ["collect", "walk", "--base-url", url, "-o", str(folder), *arguments]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0, (run.output, run.exception)
    return run.output


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"breaks": [0, 1]}, "nothing was collected: episodes failed (EnvironmentFailed 2)"),
        ({"reward": -1}, "nothing was collected: every reward was below 0; --keep-losses"),
    ],
)
def test_a_run_that_collected_nothing_says_so(
    walk: Served, tmp_path: Path, options: dict[str, Any], why: str
) -> None:
    told = _ended(walk, tmp_path, "-n", "2", *config(**options))
    assert why in told
    assert "head -n 1" not in told


def test_a_run_that_collected_something_says_where_it_is(walk: Served, tmp_path: Path) -> None:
    for _ in range(2):
        told = _ended(walk, tmp_path, "-n", "2", *config(only="right"))
        assert f"head -n 1 {tmp_path / 'results.jsonl'}" in told.replace("\n", "")
        assert "nothing was collected" not in told
