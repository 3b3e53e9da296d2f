"""InspectAIHarness: real evaluations, and a stand-in of Inspect's for what it seldom does."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from openenv.evals import (
    EvalConfig,
    EvalFailed,
    EvalHarness,
    EvalResult,
    InspectAIHarness,
    SampleCounts,
    Scores,
)
from openenv.protocol.errors import ConfigurationError, OpenEnvError
from openenv.protocol.extras import MissingPackage

pytestmark = pytest.mark.filterwarnings("ignore")  # Inspect's own, as in test_episodes


def scorer(name: str, reducer: str | None = None, **metrics: float) -> SimpleNamespace:
    values = {metric: SimpleNamespace(value=value) for metric, value in metrics.items()}
    return SimpleNamespace(name=name, reducer=reducer, metrics=values)


def finished(*scorers: Any, status: str = "success", **more: Any) -> SimpleNamespace:
    results = SimpleNamespace(scores=list(scorers))
    return SimpleNamespace(status=status, location="logs/a.eval", results=results, **more)


class StandIn(ModuleType):
    """In the place of `inspect_ai`: answers with what it is given."""

    def __init__(self, *logs: Any) -> None:
        super().__init__("inspect_ai")
        self.calls: list[tuple[Any, dict[str, Any]]] = []
        self._logs = list(logs)

    def eval(self, task: Any, **arguments: Any) -> list[Any]:
        self.calls.append((task, arguments))
        return self._logs


def run(
    monkeypatch: pytest.MonkeyPatch, *logs: Any, log_dir: str | None = None, **parameters: Any
) -> tuple[Scores, Any, dict[str, Any]]:
    """The scores, and what Inspect was called with."""
    stand_in = StandIn(*logs)
    monkeypatch.setitem(sys.modules, "inspect_ai", stand_in)
    scores = InspectAIHarness(log_dir=log_dir).run("0.3", {}, "data", parameters)
    ((task, arguments),) = stand_in.calls
    return scores, task, arguments


def test_the_dataset_is_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    log = finished(scorer("match", accuracy=0.5, stderr=0.1))
    scores, task, arguments = run(monkeypatch, log, model="m")
    assert scores == {"accuracy": 0.5, "stderr": 0.1}
    assert (task, arguments) == ("data", {"model": "m"})


def test_parameters_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = {
        **{"model": "m", "model_base_url": "http://x", "model_args": {"a": 1}, "epochs": 2},
        **{"task_args": {"b": 2}, "max_samples": 3, "max_connections": 4, "temperature": 0.0},
        **{"max_tokens": 5, "solver": object(), "scorer": object()},
    }
    _, task, arguments = run(monkeypatch, finished(), log_dir="logs", task="t", **passed)
    assert (task, arguments) == ("t", {**passed, "log_dir": "logs"})


def test_none_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    _, task, arguments = run(monkeypatch, finished(), model="m", temperature=None, task=None)
    assert (task, arguments) == ("data", {"model": "m"})


def test_colliding_metrics_are_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    log = finished(
        scorer("a", mean=1.0),
        scorer("b", mean=2.0, max=3.0),
        scorer("b", "median", mean=4.0),
        scorer("b", "median", mean=5.0),
        scorer("b", "median", mean=6.0),
    )
    assert run(monkeypatch, log, model="m")[0] == {
        **{"mean": 1.0, "b/mean": 2.0, "max": 3.0, "b/median/mean": 4.0},
        **{"b/mean#2": 5.0, "b/mean#3": 6.0},
    }


def test_a_metric_of_no_samples_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = scorer("judge", mean=0.0)
    broken.scored_samples, broken.unscored_samples = 0, 4
    scores = run(monkeypatch, finished(broken, scorer("match", accuracy=0.0)), model="m")[0]
    assert scores == {"mean": None, "accuracy": 0.0}
    assert scores.samples.unscored == {"judge": 4}


def test_a_log_without_results_has_no_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    log = SimpleNamespace(status="success", location="logs/a.eval", results=None)
    scores = run(monkeypatch, log, model="m")[0]
    assert scores == {}
    assert scores.log_path == "logs/a.eval"


@pytest.mark.parametrize(
    ("logs", "why", "path"),
    [
        ([], "returned no logs", None),
        ([finished(status="cancelled")], "status 'cancelled' ", "logs/a.eval"),
        (
            [finished(status="error", error=SimpleNamespace(message="no disk"))],
            "status 'error': no disk .log: logs/a.eval.",
            "logs/a.eval",
        ),
        ([finished(), finished()], "ran 2 tasks", "logs/a.eval"),
    ],
    ids=["no logs", "cancelled", "error", "two logs"],
)
def test_a_run_without_scores(
    monkeypatch: pytest.MonkeyPatch, logs: list[Any], why: str, path: str | None
) -> None:
    with pytest.raises(EvalFailed, match=why) as failed:
        run(monkeypatch, *logs, model="m")
    assert failed.value.log_path == path
    assert isinstance(failed.value, OpenEnvError)
    assert isinstance(failed.value, RuntimeError)


@pytest.mark.parametrize("parameters", [{}, {"model": None}, {"model": ""}])
def test_a_model_is_needed(monkeypatch: pytest.MonkeyPatch, parameters: dict[str, Any]) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", StandIn())
    with pytest.raises(ValueError, match="must have 'model'"):
        InspectAIHarness().run("0.3", {}, "data", parameters)


def test_a_parameter_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", StandIn())
    with pytest.raises(ConfigurationError, match="'temprature', which is none of: task, model"):
        InspectAIHarness().run("0.3", {}, "data", {"model": "m", "temprature": 1.0})


def test_inspect_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(ImportError, match=r"openenv-core\[inspect\]") as missing:
        InspectAIHarness().run("0.3", {}, "data", {"model": "m"})
    assert isinstance(missing.value, MissingPackage)


def test_inspect_is_loaded_by_a_run_alone() -> None:
    code = "import sys, openenv.core.evals; print('inspect_ai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


class Dice(EvalHarness):
    """Gives whatever it is to give."""

    def __init__(self, scores: dict[str, Any]) -> None:
        self.scores = scores

    def run(
        self,
        harness_version: str,
        library_versions: dict[str, str],
        dataset: str,
        eval_parameters: dict[str, Any],
    ) -> dict[str, Any]:
        assert (harness_version, library_versions) == ("1", {"numpy": "2"})
        assert (dataset, eval_parameters) == ("six", {"model": "m"})
        return self.scores


def config(**parameters: Any) -> EvalConfig:
    return EvalConfig(
        harness_name="Dice",
        harness_version="1",
        library_versions={"numpy": "2"},
        dataset="six",
        eval_parameters={"model": "m", **parameters},
    )


def test_a_harness_of_ones_own() -> None:
    harness = Dice({"mean": 3.5})
    assert harness.name == "Dice"
    result = harness.run_from_config(config())
    assert result == EvalResult(config=config(), scores={"mean": 3.5})
    counts = SampleCounts(total=6, completed=5)
    told = Dice(Scores({"mean": 3.5}, "a.log", counts)).run_from_config(config())
    assert (told.log_path, told.samples) == ("a.log", counts)


def test_a_configuration_and_a_result_survive_json() -> None:
    result = EvalResult(config=config(epochs=2), scores={"mean": None}, log_path="a.eval")
    assert EvalResult.model_validate_json(result.model_dump_json()) == result


def test_a_configuration_is_checked() -> None:
    with pytest.raises(ValueError, match="extra_forbidden"):
        EvalConfig.model_validate({**config().model_dump(), "more": 1})
    changed = config()
    with pytest.raises(ValueError, match="string_type"):
        changed.dataset = 3  # type: ignore[assignment]


class TestInspect:
    """The real one."""

    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        pytest.importorskip("inspect_ai", reason="Inspect is not installed (the extra inspect)")

    def test_an_evaluation(self, tmp_path: Path) -> None:
        from inspect_ai.log import read_eval_log

        from openenv.evals.inspect_task import episodes
        from tests.evals.worlds import Parrot, address, player
        from tests.serving import serving

        def policy(messages: Any, tools: Any) -> Any:
            broken = "seed 1," in messages[0].text
            return "act", {"word": "unjudged" if broken else "bye"}

        harness = InspectAIHarness(log_dir=str(tmp_path / "logs"))
        with serving(Parrot) as server:
            task = episodes(address(server), seeds=[1, 2, 4])
            asked = config(task=task, model=player(policy), epochs=2, max_samples=2)
            result = harness.run_from_config(asked)
        assert result.scores["mean"] == 2.0
        assert result.scores["accuracy"] == 1.0
        assert result.samples.total == 6
        assert result.samples.completed == 6
        assert set(result.samples.unscored) == {"episode_reward"}
        assert result.log_path is not None
        log = read_eval_log(result.log_path)
        assert Path(log.location).parent == tmp_path / "logs"
        assert log.samples is not None
        assert len(log.samples) == 6

    def test_all_episodes_without_a_reward(self) -> None:
        from openenv.evals.inspect_task import episodes
        from tests.evals.worlds import Parrot, address, saying
        from tests.serving import serving

        with serving(Parrot) as server:
            task = episodes(address(server), seeds=2)
            scores = InspectAIHarness(log_dir="logs").run(
                "0.3", {}, "parrot", {"task": task, "model": saying("unjudged")}
            )
        assert scores["mean"] is None
        assert scores["stderr"] is None

    @pytest.mark.expects_error_log
    def test_a_server_that_is_not_there(self) -> None:
        from openenv.evals.inspect_task import episodes
        from tests.evals.worlds import saying

        parameters = {"task": episodes("http://127.0.0.1:1", seeds=1), "model": saying("bye")}
        with pytest.raises(EvalFailed, match="Inspect ended with status 'error'") as failed:
            InspectAIHarness(log_dir="logs").run("0.3", {}, "parrot", parameters)
        assert failed.value.log_path is not None
        assert Path(failed.value.log_path).exists()

    @pytest.mark.parametrize(
        "parameters",
        [
            {"model": "no-such-provider/x"},
            {"model": "mockllm/model", "task": "no_such_file.py"},
            {"model": "mockllm/model", "scorer": "match"},
        ],
        ids=["model", "task", "scorer"],
    )
    def test_what_inspect_refuses(self, parameters: dict[str, Any]) -> None:
        with pytest.raises(EvalFailed, match="Inspect"):
            InspectAIHarness(log_dir="logs").run("0.3", {}, "no_such_task", parameters)
