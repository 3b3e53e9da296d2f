"""CollectRunner: every episode once, whatever ends a run."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from openenv.harness import (
    CLIHarnessAdapter,
    CollectResult,
    CollectRunner,
    EpisodeRecord,
    FolderBusy,
    HarnessRolloutResult,
    HarnessRunLimits,
    MCPHarnessAdapter,
    RolloutSerializer,
    ToolResult,
    VerifyResult,
)
from openenv.protocol.errors import ConfigurationError, ConnectFailed
from tests.harness.trainer.worlds import (
    NOT_A_NUMBER,
    UNSCORED,
    Calling,
    Game,
    Script,
    Stepping,
    counting,
    stepping,
    turn,
)
from tests.serving import Served, eventually, serving


def runner(url: str, folder: Path, **options: Any) -> CollectRunner:
    given: dict[str, Any] = {
        "session_factory": Stepping(url),
        "harness_adapter": MCPHarnessAdapter(),
        "serializer": RolloutSerializer(folder),
    }
    return CollectRunner(**{**given, **options})


def collect(url: str, folder: Path, episodes: int = 3, **options: Any) -> CollectResult:
    """Episodes in which a model counts up to the number."""
    run = {"model_step": counting, "num_episodes": episodes, **options}
    return runner(url, folder, limits=HarnessRunLimits(max_turns=12)).run(**run)


def records(folder: Path, name: str = "results.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def ids(folder: Path) -> list[str]:
    return [record["episode_id"] for record in records(folder)]


@pytest.mark.parametrize("factory", [Stepping, Calling], ids=["steps", "tools"])
def test_an_episode_is_written_with_all_that_happened(
    url: str, tmp_path: Path, game: Served, factory: Any
) -> None:
    collecting = runner(url, tmp_path, session_factory=factory(url), tasks=["find it"])
    result = collecting.run(model_step=counting, num_episodes=3)
    assert (result.num_collected, result.avg_reward, result.success_rate) == (3, 1.0, 1.0)
    assert result.episode_ids == ["ep-000000", "ep-000001", "ep-000002"] == ids(tmp_path)
    last = records(tmp_path)[2]
    assert [m["role"] for m in last["messages"]] == ["user", *["assistant", "tool"] * 3]
    assert [call["arguments"] for call in last["tool_trace"]] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert [call["result"]["metadata"]["reward"] for call in last["tool_trace"]] == [0.0, 0.0, 1.0]
    assert (last["reward"], last["done"], last["task"]) == (1.0, True, "find it")
    assert (last["extra"], last["verify_metrics"]) == ({"seed": 2}, {})
    assert last["metrics"]["turns"] == 3
    assert last["artifacts"]["final_state"]["episode_id"] == "ep-000002"
    assert game.active() == 0


def test_a_run_goes_on_where_another_stopped(url: str, tmp_path: Path) -> None:
    assert collect(url, tmp_path, 2).num_collected == 2
    again = collect(url, tmp_path, 5)
    assert (again.num_skipped, again.num_collected) == (2, 3)
    assert again.episode_ids == ["ep-000002", "ep-000003", "ep-000004"]
    assert ids(tmp_path) == [f"ep-{number:06d}" for number in range(5)]
    nothing = collect(url, tmp_path, 5)
    assert (nothing.num_skipped, nothing.num_collected) == (5, 0)
    assert nothing.to_dict()["avg_reward"] is None


def test_a_run_begins_anew(url: str, tmp_path: Path) -> None:
    collect(url, tmp_path, 2)
    assert collect(url, tmp_path, 3, resume=False, episode_id_prefix="new").num_collected == 3
    assert ids(tmp_path) == ["new-000000", "new-000001", "new-000002"]
    [aside] = tmp_path.glob("results.*.bak.jsonl")
    assert len(aside.read_text().splitlines()) == 2


def test_episodes_that_nobody_wants_are_dropped(url: str, tmp_path: Path) -> None:
    def keep(record: EpisodeRecord) -> bool:
        return len(record.tool_trace) > 1

    result = collect(url, tmp_path, 3, should_keep=keep)
    assert (result.num_collected, result.num_dropped) == (2, 1)
    assert ids(tmp_path) == ["ep-000001", "ep-000002"]


def test_an_error_in_ones_own_filter_is_raised(url: str, tmp_path: Path, game: Served) -> None:
    with pytest.raises(ZeroDivisionError):
        collect(url, tmp_path, should_keep=lambda record: bool(1 / 0))
    assert game.active() == 0


@pytest.mark.parametrize("number", [UNSCORED, NOT_A_NUMBER])
def test_a_broken_verifier_never_counts_as_zero(url: str, tmp_path: Path, number: int) -> None:
    model = Script([("guess", {"n": number})], [("guess", {"n": 1})])
    limits = HarnessRunLimits(max_turns=1)
    result = runner(url, tmp_path, limits=limits).run(model_step=model, num_episodes=2)
    assert (result.num_collected, result.num_unscored, result.num_failed) == (1, 1, 0)
    assert (result.avg_reward, ids(tmp_path)) == (1.0, ["ep-000001"])
    [failed] = records(tmp_path, "failures.jsonl")
    assert (failed["reward"], failed["extra"]["error"]) == (None, "RewardInvalid")
    assert failed["tool_trace"][0]["arguments"] == {"n": number}
    model = Script([("guess", {"n": 0})])
    again = runner(url, tmp_path, limits=limits).run(model_step=model, num_episodes=2)
    assert (again.num_skipped, again.num_collected) == (1, 1)


def test_an_environment_without_rewards_has_none(url: str, tmp_path: Path) -> None:
    collecting = runner(url, tmp_path, session_factory=Calling(url))
    result = collecting.run(model_step=Script([("twice", {"n": 1})]), num_episodes=1)
    assert (result.num_collected, result.num_failed, result.rewards) == (1, 0, [])
    assert result.to_dict()["avg_reward"] is None
    assert records(tmp_path)[0]["reward"] is None


def test_failed_episodes_are_counted_by_their_errors_and_kept(
    url: str, tmp_path: Path, game: Served
) -> None:
    turns = count()

    def model(messages: Any, tools: Any, sampling: Any) -> Any:
        number = next(turns)
        if number == 1:
            raise TimeoutError("the model sleeps")
        return "nonsense" if number == 2 else turn(("guess", {"n": 8}))

    result = runner(url, tmp_path, limits=HarnessRunLimits(max_turns=2)).run(
        model_step=model, num_episodes=3
    )
    assert (result.num_collected, result.num_failed) == (1, 2)
    assert result.failures == {"TimeoutError": 1, "ProtocolError": 1}
    first, second = records(tmp_path, "failures.jsonl")
    assert (first["episode_id"], len(first["tool_trace"])) == ("ep-000000", 1)
    assert first["extra"]["seed"] == 0
    assert "the model sleeps" in first["extra"]["message"]
    assert (second["messages"][0]["role"], second["reward"]) == ("user", None)
    assert game.active() == 0


def test_a_record_that_has_no_json_is_a_failure(url: str, tmp_path: Path) -> None:
    circle: list[Any] = []
    circle.append(circle)

    class Circles(Stepping):
        def create(self, task: Any, seed: int | None = None, episode_id: str | None = None) -> Any:
            def result(*given: Any) -> ToolResult:
                bad = seed != 1
                data, extra = (circle if seed == 0 else 1), (circle if bad else 1)
                return ToolResult(data=data, done=True, metadata={"reward": 1.0, "extra": extra})

            return stepping(self.url, seed=seed, tool_result_builder=result, verify_builder=fine)

    def fine(*given: Any) -> VerifyResult:
        return VerifyResult(env_reward=1.0)

    result = runner(url, tmp_path, session_factory=Circles(url)).run(
        model_step=counting, num_episodes=3
    )
    assert (result.num_collected, result.num_failed, ids(tmp_path)) == (1, 2, ["ep-000001"])
    assert result.failures == {"PydanticSerializationError": 1, "ValueError": 1}
    in_the_loop, in_the_record = records(tmp_path, "failures.jsonl")
    assert "no JSON" in in_the_loop["tool_trace"]
    assert "no JSON" in in_the_record["tool_trace"]
    assert in_the_record["messages"][0]["role"] == "user"


@pytest.mark.parametrize("verdict", [None, 1.0, {"env_reward": 1.0}])
def test_a_verdict_that_is_none_is_a_failure(url: str, tmp_path: Path, verdict: Any) -> None:
    class Careless(Stepping):
        def create(self, task: Any, seed: int | None = None, episode_id: str | None = None) -> Any:
            return stepping(self.url, seed=seed, verify_builder=lambda *given: verdict)

    result = runner(url, tmp_path, session_factory=Careless(url)).run(
        model_step=counting, num_episodes=1
    )
    assert (result.num_failed, result.failures) == (1, {"ProtocolError": 1})
    assert len(records(tmp_path, "failures.jsonl")[0]["tool_trace"]) == 1


def test_an_agent_that_calls_its_model_itself(url: str, tmp_path: Path) -> None:
    def run(bridge: Any, *given: Any) -> HarnessRolloutResult:
        call = {"name": "guess", "arguments": {"n": 0}}
        bridge.handle_request({"jsonrpc": "2.0", "method": "tools/call", "params": call})
        return HarnessRolloutResult()

    collecting = runner(url, tmp_path, harness_adapter=CLIHarnessAdapter(run))
    result = collecting.run(model_step=None, num_episodes=2)
    assert (result.num_collected, result.avg_reward) == (2, 0.5)


def test_tasks_are_read_as_far_as_they_are_needed(url: str, tmp_path: Path) -> None:
    read: list[int] = []

    def endless() -> Iterator[int]:
        for number in count():
            read.append(number)
            yield number

    collecting = runner(url, tmp_path, tasks=endless())
    collecting.run(model_step=counting, num_episodes=2)
    collecting.run(model_step=counting, num_episodes=3)
    assert ([record["task"] for record in records(tmp_path)], read) == ([0, 1, 2], [0, 1, 2])


def test_tasks_begin_again(url: str, tmp_path: Path) -> None:
    runner(url, tmp_path, tasks=["a", "b"]).run(model_step=counting, num_episodes=3)
    assert [record["task"] for record in records(tmp_path)] == ["a", "b", "a"]
    with pytest.raises(ConfigurationError, match="tasks is empty"):
        runner(url, tmp_path, tasks=[]).run(model_step=counting, num_episodes=3)


def test_a_server_that_is_gone_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConnectFailed):
        collect("http://127.0.0.1:1", tmp_path)


def test_no_session_is_left_when_a_run_is_interrupted(
    url: str, tmp_path: Path, game: Served
) -> None:
    def model(messages: Any, tools: Any, sampling: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner(url, tmp_path).run(model_step=model, num_episodes=3)
    assert game.active() == 0


def test_a_second_run_is_kept_out(url: str, tmp_path: Path) -> None:
    def model(messages: Any, tools: Any, sampling: Any) -> Any:
        with pytest.raises(FolderBusy, match="another run writes"):
            collect(url, tmp_path)
        return turn(("guess", {"n": 0}))

    assert runner(url, tmp_path).run(model_step=model, num_episodes=1).num_collected == 1
    assert collect(url, tmp_path, 2).num_collected == 1


def test_fewer_than_no_episodes_are_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="num_episodes"):
        collect(url, tmp_path, -1)


COLLECTS = """
import sys
from pathlib import Path
from tests.harness.trainer.test_collect_runner import collect

print(collect(sys.argv[1], Path(sys.argv[2]), 4000).num_collected)
"""


def test_a_run_that_is_killed_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with serving(Game, max_concurrent_envs=16) as served:  # it keeps sessions of the dead a while
        url = f"http://127.0.0.1:{served.port}"
        for lines in (3, 9):
            with subprocess.Popen([sys.executable, "-c", COLLECTS, url, str(tmp_path)]) as process:
                try:
                    eventually(partial(has_more_than, lines, results))
                finally:
                    process.kill()
        with results.open("ab") as torn:
            torn.write(b'{"episode_id": "ep-000')
        there = written(results)
        result = collect(url, tmp_path, there + 2)
    assert (result.num_skipped, result.num_collected) == (there, 2)
    assert sorted(ids(tmp_path)) == [f"ep-{number:06d}" for number in range(there + 2)]


def has_more_than(lines: int, results: Path) -> bool:
    return results.exists() and written(results) > lines


def written(results: Path) -> int:
    return results.read_bytes().count(b"\n")
