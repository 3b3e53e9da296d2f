"""`openenv replay`, and what `openenv collect` does without a server of one's own."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from openenv.cli import progress
from openenv.cli.__main__ import app
from openenv.rollout import TrajectoryWriter, load_trajectories
from openenv.rollout.collecting.collected import Collected
from tests.rollout.halls import halls, recorded
from tests.serving import eventually

STROLL = ("--policy", "scripted:tests.rollout.halls:stroll")
WALK = """
import random
from openenv import Action, Environment, Observation

class Step(Action):
    right: bool = True

class Place(Observation):
    position: int

class Walk(Environment[Step, Place]):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Place:
        self._position = random.Random(seed).randrange(1000)
        return Place(position=self._position)

    def step(self, action: Step) -> Place:
        self._position += 1
        return Place(position=self._position, reward=1.0, done=self._position % 5 == 0)
"""


@pytest.fixture
def walk(tmp_path: Path) -> str:
    """A file with an environment."""
    path = tmp_path / "walk.py"
    path.write_text(WALK)
    return str(path)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with halls() as (_, address):
        yield address


@pytest.fixture
def folder(url: str, tmp_path: Path) -> Path:
    """Episodes that were collected."""
    folder = tmp_path / "episodes"
    place = ("--base-url", url, "-o", str(folder), "-n", "5")
    code, answer, _ = ran("collect", "hall", *place, *STROLL, "--json")
    assert (code, json.loads(answer)["num_collected"]) == (0, 5)
    return folder


def ran(*arguments: str) -> tuple[int, str, str]:
    """The exit code, what was answered and what was told."""
    run = CliRunner().invoke(app, arguments)
    failure = run.exception
    if failure is None or isinstance(failure, SystemExit):
        return run.exit_code, run.stdout, run.stderr
    return getattr(failure, "exit_code", 1), run.stdout, str(failure)


def test_what_was_collected_is_replayed(folder: Path, url: str) -> None:
    assert ran("replay", str(folder), "--base-url", url)[:2] == (
        0,
        "5 episodes replayed, all the same\n",
    )
    path = str(folder / "trajectories.jsonl")
    one = ran("replay", path, "--base-url", url, "--episode", "ep-000003")
    assert one[1] == "1 episode replayed, all the same\n"


def tampered(folder: Path, line: int, change: Any) -> None:
    path = folder / "trajectories.jsonl"
    lines = path.read_text().splitlines()
    said = json.loads(lines[line])
    change(said)
    lines[line] = json.dumps(said)
    path.write_text("\n".join(lines) + "\n")


def test_a_tampered_line_is_named(folder: Path, url: str) -> None:
    def change(said: dict[str, Any]) -> None:
        said["steps"][0]["observation"]["number"] += 1

    tampered(folder, 3, change)
    name = list(load_trajectories(folder))[3].episode_id
    code, told, _ = ran("replay", str(folder), "--base-url", url)
    assert code == 1
    assert told.startswith(f"{name}, step 1: observation.number was ")
    assert "the same before it: 3 episodes" in told
    code, told, _ = ran("replay", str(folder), "--base-url", url, "--json")
    difference = json.loads(told)["difference"]
    assert (code, difference["step"], difference["path"]) == (1, 1, "observation.number")
    assert difference["expected"] == difference["got"] + 1


def test_a_line_without_one_of_its_steps_is_named(folder: Path, url: str) -> None:
    tampered(folder, 1, lambda said: said["steps"].pop(0))
    code, _, told = ran("replay", str(folder), "--base-url", url)
    assert (code, f"{folder / 'trajectories.jsonl'}:2" in told) == (1, True), told
    assert "step 1 is missing" in told


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["FILE"], 2, "--base-url"),
        (["FILE", "no_such_environment"], 2, "no_such_environment"),
        (["FILE", "--base-url", "http://127.0.0.1:9"], 1, "127.0.0.1:9"),
        (["FILE", "--base-url", "URL", "--episode", "ep-9"], 1, "none of the episodes ep-9"),
        (["EMPTY", "--base-url", "URL"], 1, "has no trajectories; openenv collect writes some"),
        (["NONE", "--base-url", "URL"], 1, "cannot be read: No such file"),
        (["FOLDER", "--base-url", "URL"], 1, "cannot be read: No such file"),
    ],
    ids=str,
)
def test_what_cannot_be_replayed_is_told(
    tmp_path: Path, url: str, arguments: list[str], code: int, told: str
) -> None:
    with TrajectoryWriter(tmp_path / "some.jsonl") as writer:
        writer.write(recorded())
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "folder").mkdir()
    places = {
        "FILE": str(tmp_path / "some.jsonl"),
        "EMPTY": str(tmp_path / "empty.jsonl"),
        "NONE": str(tmp_path / "none.jsonl"),
        "FOLDER": str(tmp_path / "folder"),
        "URL": url,
    }
    exit_code, _, words = ran("replay", *(places.get(word, word) for word in arguments))
    assert (exit_code, told in words) == (code, True), words


def test_an_environment_is_served_for_the_run_and_stopped(walk: str, tmp_path: Path) -> None:
    folder = tmp_path / "episodes"
    code, answer, told = ran(
        *("collect", walk, "-o", str(folder), "-n", "6", "--sessions", "3", "--seed", "10"),
        *("--format", "parquet", "--json"),
    )
    assert (code, json.loads(answer)["num_collected"]) == (0, 6), told
    assert {each.seed for each in load_trajectories(folder)} == set(range(10, 16))
    metadata = json.loads((folder / "metadata.json").read_text())
    assert (metadata["seed"], metadata["policy"]) == (10, "random")
    address = metadata["base_url"]
    assert ran("replay", str(folder), "--base-url", address)[0] == 1, "its server has ended"
    assert ran("replay", str(folder), walk)[1] == "6 episodes replayed, all the same\n"
    again = ran("collect", walk, "-o", str(folder), "-n", "6", "--seed", "10")
    assert "are in" in again[2]
    assert "--format" in again[2]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--policy", "best"], "there is no policy 'best'"),
        (["--policy", "random", "--provider", "openai"], "leave out --provider"),
        (["--policy", "random", "--model", "m"], "leave out --provider"),
        (["--sessions", "0"], "sessions"),
        (["--seed", "-1"], "seed"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_told(
    tmp_path: Path, arguments: list[str], told: str
) -> None:
    place = ("--base-url", "http://127.0.0.1:9", "-o", str(tmp_path / "none"))
    code, _, words = ran("collect", "hall", *place, *arguments)
    assert (code, told in words) == (2, True), words
    assert not (tmp_path / "none").exists()


def test_episodes_of_other_seeds_are_kept_apart(folder: Path, url: str) -> None:
    place = ("--base-url", url, "-o", str(folder), "-n", "5")
    code, _, told = ran("collect", "hall", *place, *STROLL, "--seed", "3")
    assert code == 1
    assert re.search(r"has an episode ep-00000(\d) of the seed \1, not \d; give another", told), (
        told
    )
    assert ran("collect", "hall", *place, *STROLL, "--seed", "3", "--no-resume")[0] == 0
    assert {each.seed for each in load_trajectories(folder)} == set(range(3, 8))
    assert len(list(folder.glob("trajectories.*.bak.jsonl"))) == 1


def test_ctrl_c_ends_a_run_and_the_server_that_it_started(walk: str, tmp_path: Path) -> None:
    (tmp_path / "slowly.py").write_text(
        "import time\n\ndef act(seen):\n    time.sleep(0.05)\n    return {'right': True}\n"
    )
    folder = tmp_path / "episodes"
    command = [
        *(sys.executable, "-m", "openenv", "collect", walk, "-o", str(folder), "-n", "500"),
        *("--policy", "scripted:slowly:act", "--sessions", "2"),
    ]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as run:
        eventually((folder / "results.jsonl").exists)
        run.send_signal(signal.SIGINT)
        _, told = run.communicate(timeout=30)
    assert run.returncode == 130
    address = told.partition("episodes on ")[2].split()[0]
    assert ran("replay", str(folder), "--base-url", address)[0] == 1, "its server has ended"
    assert ran("replay", str(folder), walk)[0] == 0, "what was played is whole"


def test_progress_without_a_terminal_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines: list[str] = []
    monkeypatch.setattr(progress, "say", lines.append)
    collected = Collected()
    collected.skipped = 4
    collected.add(recorded(0))
    collected.add(recorded(1, steps=[], end="error", error={"type": "HostCrashed"}))
    shown = progress.Lines("hall", every_s=0.01)
    shown.begin(10, collected)
    eventually(lambda: lines)
    shown.close()
    assert lines[0].startswith("  hall: 6/10 episodes, ")
    assert "left, mean reward 1.000, 1 HostCrashed" in lines[0]


def test_progress_on_a_terminal_is_a_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    collected = Collected()
    shown = progress.Bar("[hall]")
    shown.begin(2, collected)
    collected.add(recorded(0))
    shown.episode(recorded(0))
    shown.close()
    progress.Bar("hall").close()
    assert "[hall]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "words"), [(3.4, "3 s"), (61, "1 min 1 s"), (3600 * 2 + 60 * 5, "2 h 5 min")]
)
def test_time_in_words(seconds: float, words: str) -> None:
    assert progress._duration(seconds) == words
