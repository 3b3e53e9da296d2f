"""`openenv collect`: episodes on disk, and what a run that was cut off leaves to the next."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from typer.testing import CliRunner

from openenv import Action, Environment, Observation
from openenv.cli.__main__ import app
from openenv.client.results import StepResult
from openenv.harness.collecting.collection import Collection
from openenv.harness.collecting.records import EpisodeRecord, RolloutSerializer
from openenv.project.collection import write
from openenv.project.errors import ProjectError
from openenv.rollout import EnvironmentSpec, RandomPolicy, ScriptedPolicy, load_trajectories
from openenv.rollout.collecting.crew import Terms
from openenv.testing import Call, Failure, ModelServer, Reply
from tests.rollout.players import collection
from tests.serving import Served, serving

OPENAI = ["--provider", "openai", "--model", "m"]
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENENV_LLM_API_KEY")


class Move(Action):
    direction: Literal["left", "right"]


class Place(Observation):
    position: int
    legal_actions: list[str] = []


class Walk(Environment[Move, Place]):
    """Ends to the right of 2 with 1, to the left of -2 with -1; breaks where it is told to."""

    def reset(self, seed: int | None = None, **options: Any) -> Place:
        self._position = 0
        self._reward = options.get("reward")
        self._breaks = seed in options.get("breaks", ())
        self._only = options.get("only")
        return self._place()

    def step(self, action: Move) -> Place:
        if self._breaks:
            raise RuntimeError("a step that breaks")
        self._position += 1 if action.direction == "right" else -1
        if self._reward is not None:
            return self._place(reward=float(self._reward), done=True)
        end = abs(self._position) > 2
        return self._place(reward=float(self._position > 0) * 2 - 1 if end else 0.0, done=end)

    def _place(self, **outcome: Any) -> Place:
        legal = [self._only] if self._only else ["left", "right"]
        return Place(position=self._position, legal_actions=legal, **outcome)


@pytest.fixture
def server() -> Iterator[Served]:
    with serving(Walk) as served:
        yield served


def collect(server: Served, folder: Path, *arguments: str) -> dict[str, Any]:
    """Runs the command; what it answers."""
    url = f"http://127.0.0.1:{server.port}"
    run = CliRunner().invoke(
        app, ["collect", "walk", "--base-url", url, "-o", str(folder), "--json", *arguments]
    )
    assert run.exit_code == 0, (run.output, run.exception)
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def refused(*arguments: str) -> tuple[int, str]:
    """The exit code and the words of a run that does not begin."""
    run = CliRunner().invoke(app, ["collect", *arguments])
    error = run.exception
    if error is None or isinstance(error, SystemExit):
        return run.exit_code, run.output
    return getattr(error, "exit_code", 1), str(error)


def records(folder: Path) -> list[dict[str, Any]]:
    """The records, which were written as their episodes ended, by their names."""
    lines = (folder / "results.jsonl").read_text().splitlines()
    return sorted(map(json.loads, lines), key=lambda record: str(record["episode_id"]))


def config(**options: Any) -> tuple[str, str]:
    return "--dataset-config", json.dumps(options)


def test_episodes_are_written_with_all_that_happened(server: Served, tmp_path: Path) -> None:
    folder = tmp_path / "new/folder"
    answer = collect(server, folder, "-n", "3", *config(only="right"))
    assert (answer["num_collected"], answer["avg_reward"], answer["success_rate"]) == (3, 1.0, 1.0)
    first = records(folder)[0]
    assert first["episode_id"] == "ep-000000"
    assert [m["role"] for m in first["messages"]] == ["user", *["assistant", "user"] * 3]
    assert [json.loads(m["content"]).get("position") for m in first["messages"][::2]] == [
        0,
        1,
        2,
        3,
    ]
    assert first["tool_trace"][-1] == {
        "tool_name": "step",
        "arguments": {"direction": "right"},
        "result": {"reward": 1.0, "done": True},
    }
    assert (first["reward"], first["done"]) == (1.0, True)
    assert first["metrics"] == {"turns": 3, "truncated": False, "stopped_by": "environment"}
    metadata = json.loads((folder / "metadata.json").read_text())
    assert (metadata["env"], metadata["provider"]) == ("walk", "scripted")
    assert metadata["dataset_config"] == {"only": "right"}


def test_the_same_seed_plays_the_same(server: Served, tmp_path: Path) -> None:
    for name in ("one", "other"):
        collect(server, tmp_path / name, "--keep-losses")
    assert records(tmp_path / "one") == records(tmp_path / "other")
    assert len({json.dumps(record["tool_trace"]) for record in records(tmp_path / "one")}) > 1


def test_losses_are_dropped_unless_they_are_wanted(server: Served, tmp_path: Path) -> None:
    lost = collect(server, tmp_path, "-n", "2", *config(only="left"))
    assert (lost["num_collected"], lost["num_dropped"]) == (0, 2)
    kept = collect(server, tmp_path, "-n", "2", "--keep-losses", *config(only="left"))
    assert (kept["num_collected"], kept["avg_reward"]) == (2, -1.0)


def test_what_the_figures_leave_out_is_said(server: Served, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{server.port}"
    asked = ["collect", "walk", "--base-url", url, "-o", str(tmp_path), "-n", "20"]
    dropping = CliRunner().invoke(app, asked).stdout
    assert "with a reward below 0 were dropped: --keep-losses keeps them" in dropping
    cut = CliRunner().invoke(app, [*asked, "--no-resume", "--max-turns", "2"]).stdout
    assert "20 ended before the environment ended them: after --max-turns 2" in cut


def test_a_limit_of_turns_ends_an_episode(server: Served, tmp_path: Path) -> None:
    collect(server, tmp_path, "-n", "1", "--max-turns", "2")
    [record] = records(tmp_path)
    assert record["done"] is False
    assert record["metrics"] == {"turns": 2, "truncated": True, "stopped_by": "limit"}
    assert server.active() == 0


@pytest.mark.expects_error_log
def test_an_episode_that_fails_is_counted_and_tried_again(server: Served, tmp_path: Path) -> None:
    answer = collect(server, tmp_path, "-n", "3", *config(only="right", breaks=[1]))
    assert (answer["num_collected"], answer["num_failed"]) == (2, 1)
    again = collect(server, tmp_path, "-n", "3", *config(only="right"))
    assert (again["num_collected"], again["num_skipped"]) == (1, 2)
    assert [record["episode_id"] for record in records(tmp_path)] == [
        "ep-000000",
        "ep-000001",
        "ep-000002",
    ]


def test_an_episode_without_a_number_for_a_reward_is_not_written(
    server: Served, tmp_path: Path
) -> None:
    answer = collect(server, tmp_path, "-n", "1", *config(reward="nan"))
    assert (answer["num_unscored"], answer["num_failed"], answer["avg_reward"]) == (1, 0, None)
    assert not (tmp_path / "results.jsonl").exists()


def test_a_record_that_was_cut_off_is_written_again_from_its_trajectory(
    server: Served, tmp_path: Path
) -> None:
    collect(server, tmp_path, "-n", "2", *config(only="right"))
    results = tmp_path / "results.jsonl"
    whole = results.read_bytes()
    results.write_bytes(whole[:-20])
    answer = collect(server, tmp_path, "-n", "2", *config(only="right"))
    assert (answer["num_collected"], answer["num_skipped"]) == (0, 2)
    assert results.read_bytes() == whole


def test_a_record_and_a_trajectory_that_were_cut_off_are_played_again(
    server: Served, tmp_path: Path
) -> None:
    collect(server, tmp_path, "-n", "2", *config(only="right"))
    for name in ("results.jsonl", "trajectories.jsonl"):
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-20])
    answer = collect(server, tmp_path, "-n", "2", *config(only="right"))
    assert (answer["num_collected"], answer["num_skipped"]) == (1, 1)
    assert [record["episode_id"] for record in records(tmp_path)] == ["ep-000000", "ep-000001"]
    names = {each.episode_id for each in load_trajectories(tmp_path)}
    assert names == {"ep-000000", "ep-000001"}


def test_a_last_record_without_a_line_s_end_is_kept(tmp_path: Path) -> None:
    serializer = RolloutSerializer(tmp_path)
    serializer.results_path.write_bytes(b'{"episode_id": "ep-000001"}\n{"episode_id": "other"}')
    assert serializer.collected_episode_ids() == {"ep-000001", "other"}
    serializer.write_episode(
        EpisodeRecord(
            episode_id="ep-000002", messages=[], reward=0.0, done=True, tool_trace=[], metrics={}
        )
    )
    assert serializer.collected_episode_ids() == {"ep-000001", "other", "ep-000002"}


def test_without_resume_what_was_there_is_set_aside(server: Served, tmp_path: Path) -> None:
    collect(server, tmp_path, "-n", "1", *config(only="right"))
    before = records(tmp_path)
    answer = collect(server, tmp_path, "-n", "2", "--no-resume", *config(only="right"))
    assert answer["num_skipped"] == 0
    [aside] = tmp_path.glob("results.*.bak.jsonl")
    assert [json.loads(line) for line in aside.read_text().splitlines()] == before


@pytest.mark.parametrize(
    ("content", "line"),
    [('{"episode_id": "a"}\n[1]\n', 2), ('{"score": 3}', 1), ("my only copy", 1)],
)
def test_a_file_of_something_else_is_not_touched(
    server: Served, tmp_path: Path, content: str, line: int
) -> None:
    results = tmp_path / "results.jsonl"
    results.write_text(content)
    url = f"http://127.0.0.1:{server.port}"
    code, words = refused("walk", "--base-url", url, "-o", str(tmp_path))
    assert (code, f"{results}:{line} is no record" in words) == (1, True), words
    assert results.read_text() == content


def test_a_password_in_the_address_is_refused_and_not_shown(tmp_path: Path) -> None:
    url = "http://ada:correct-horse@127.0.0.1:9"
    code, words = refused("walk", "--base-url", url, "-o", str(tmp_path))
    assert (code, "OPENENV_CLIENT_TOKEN" in words) == (2, True), words
    assert "correct-horse" not in words


def test_episodes_of_another_environment_are_kept_apart(server: Served, tmp_path: Path) -> None:
    collect(server, tmp_path, "-n", "1", *config(only="right"))
    place = ("--base-url", f"localhost:{server.port}", "-o", str(tmp_path), "-n", "2")
    code, words = refused("run", *place, *config(only="right"))
    assert (code, "has episodes of walk, not of run" in words) == (1, True), words
    assert len(records(tmp_path)) == 1
    assert refused("run", *place, "--no-resume", *config(only="right"))[0] == 0
    assert [record["task"] for record in records(tmp_path)] == ["run", "run"]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--provider", "openai"], 2, "--model"),
        (["--provider", "openai", "--model", "m"], 2, "OPENAI_API_KEY"),
        (["--provider", "anthropic", "--model", "m"], 2, "ANTHROPIC_API_KEY"),
        ([*OPENAI, "--llm-endpoint", "localhost:1"], 2, "--llm-endpoint"),
        ([*OPENAI, "--llm-endpoint", "http://u:secret@h"], 2, "credentials"),
        ([*OPENAI, "--llm-port", "8000"], 2, "--llm-endpoint"),
        ([*OPENAI, "--llm-endpoint", "http://h", "--max-tokens", "0"], 2, "max_tokens"),
        ([*OPENAI, "--llm-endpoint", "http://h"], 1, "is it the address of a server that runs?"),
        (["--provider", "nobody"], 2, "provider"),
        (["--model", "m"], 2, "--model"),
        (["--temperature", "0.5"], 2, "--temperature"),
        (["--push-to-hub", "a/b"], 1, "is it the address of a server that runs?"),
        (["--private"], 2, "--push-to-hub"),
        (["--dataset-config", "{"], 2, "JSON"),
        (["--dataset-config", "[1]"], 2, "object"),
        (["--dataset-config", '{"seed": 1}'], 2, "seed"),
        (["-n", "0"], 2, "num-episodes"),
        (["--base-url", "ftp://localhost"], 2, "--base-url: base_url must be a server's address"),
        (["--base-url", "localhost:9"], 1, "is it the address of a server that runs?"),
        ([], 1, "is it the address of a server that runs?"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    told: str,
) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    place = ["--base-url", "http://127.0.0.1:9", "-o", str(tmp_path / "none")]
    exit_code, words = refused("walk", *place, *arguments)
    assert (exit_code, told in words) == (code, True), words
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_model_plays(
    server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-vendor")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-the-vendor")
    monkeypatch.setenv("OPENENV_LLM_API_KEY", "of-this-server")
    with ModelServer(Reply(calls=[Call("act", {"direction": "right"})])) as llm:
        played = ("--provider", provider, "--model", "m", "--llm-endpoint", llm.url)
        answer = collect(server, tmp_path, "-n", "2", "--system-prompt", "Go right.", *played)
        again = collect(server, tmp_path, "-n", "3", *played)
    assert (answer["num_collected"], answer["avg_reward"]) == (2, 1.0)
    assert (again["num_collected"], again["num_skipped"]) == (1, 2)
    first = records(tmp_path)[0]
    assert (first["episode_id"], first["reward"], first["task"]) == ("ep-000000", 1.0, "walk")
    assert [m["role"] for m in first["messages"]] == ["user", *["assistant", "tool"] * 3]
    assert json.loads((tmp_path / "metadata.json").read_text())["provider"] == provider
    sent = [json.dumps([dict(request.headers), request.body]) for request in llm.requests]
    assert all("of-this-server" in request for request in sent)
    assert not any("of-the-vendor" in request for request in sent)
    assert "Go right." in sent[0]
    assert server.active() == 0


def test_a_model_that_fails_is_counted(server: Served, tmp_path: Path) -> None:
    with ModelServer(Failure(401, "no such key")) as llm:
        answer = collect(
            server, tmp_path, "-n", "2", *OPENAI, "--llm-endpoint", llm.url, "--keep-losses"
        )
    assert (answer["num_failed"], answer["failures"]) == (2, {"ModelRejected": 2})
    assert answer["avg_reward"] is None
    assert server.active() == 0


def test_a_server_that_goes_away_is_told(tmp_path: Path) -> None:
    nobody = Collection(
        spec=EnvironmentSpec(name="walk", base_url="http://127.0.0.1:9"),
        policy=ScriptedPolicy(lambda seen: seen),
        terms=Terms(reconnect_s=0.0),
    )
    with pytest.raises(ProjectError, match="run the same command again"):
        write(nobody, tmp_path, resume=True)


def test_a_server_that_wants_a_token_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Walk, token="of-the-test") as served:
        url = f"http://127.0.0.1:{served.port}"
        code, words = refused("walk", "--base-url", url, "-o", str(tmp_path))
        assert (code, "OPENENV_CLIENT_TOKEN" in words) == (1, True), words
        monkeypatch.setenv("OPENENV_CLIENT_TOKEN", "of-the-test")
        assert collect(served, tmp_path, "-n", "1", *config(only="right"))["num_collected"] == 1


def test_a_second_run_is_kept_out(server: Served, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{server.port}"
    second: list[str] = []

    def policy_that_starts_another(seed: int) -> Callable[[dict[str, Any]], Any]:
        with pytest.raises(ProjectError, match="another run writes") as refused:
            write(replace(first, policy=ScriptedPolicy(lambda seen: seen)), tmp_path, resume=True)
        second.append(str(refused.value))
        return lambda seen: {"direction": "right"}

    first = collection(url, policy_that_starts_another, num_episodes=1)
    assert write(first, tmp_path, resume=True)["num_collected"] == 1
    assert len(second) == 1


def test_a_folder_that_is_a_file_is_told(server: Served, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    url = f"http://127.0.0.1:{server.port}"
    code, words = refused("walk", "--base-url", url, "-o", str(tmp_path / "file"))
    assert (code, "--output-dir" in words) == (1, True), words


def test_records_and_metadata_are_whole_or_not_there(tmp_path: Path) -> None:
    serializer = RolloutSerializer(tmp_path)
    assert serializer.collected_episode_ids() == set()
    assert serializer.set_aside() is None
    record = EpisodeRecord(
        episode_id="ö-1",
        messages=[{"role": "user", "content": "\ud800"}],
        reward=None,
        done=False,
        tool_trace=[],
        metrics={},
    )
    serializer.write_episode(record)
    serializer.write_metadata({"a": 1})
    assert serializer.collected_episode_ids() == {"ö-1"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["metadata.json", "results.jsonl"]


def test_legal_actions_by_their_id() -> None:
    schema = {
        "type": "object",
        "properties": {"action_id": {"type": "integer"}, "game": {"const": "go"}},
        "required": ["action_id", "game"],
    }
    act = RandomPolicy().episode(1, EnvironmentSpec(name="go", action_schema=schema))
    chosen: list[Any] = [act(StepResult({"legal_actions": [70, 71]})) for _ in range(20)]
    assert {action["action_id"] for action in chosen} == {70, 71}
    assert {action["game"] for action in chosen} == {"go"}
