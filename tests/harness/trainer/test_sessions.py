"""Sessions over clients: their beginning, their verdict, their end, and who may use them."""

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from openenv import State
from openenv.client.generic import GenericEnvClient
from openenv.client.results import StepResult
from openenv.client.sync_client import SyncEnvClient
from openenv.env.tool_models import Tool
from openenv.harness import (
    HarnessRunLimits,
    LoopOwningSession,
    MCPHarnessAdapter,
    RolloutFailed,
    ToolNotFound,
    ToolResult,
    ToolSessionAdapter,
    TrainableSession,
    TrainingTrace,
    VerifyResult,
)
from openenv.protocol.errors import (
    ConfigurationError,
    EnvironmentFailed,
    InvalidRequest,
    SessionLost,
)
from tests.harness.trainer.worlds import (
    GUESS,
    HANGING,
    HANGS,
    NOT_A_NUMBER,
    RELEASED,
    UNSCORED,
    Calling,
    Game,
    Stepping,
    counting,
    guesses,
    stepping,
)
from tests.serving import Served, serving


def test_a_session_by_steps_is_reset_when_it_is_made(url: str) -> None:
    session = stepping(url, task="find it", seed=3, episode_id="one")
    assert session.initial_messages() == [{"role": "user", "content": "find it: guess"}]
    assert session.list_tools() == [GUESS]
    result = session.call_tool("guess", {"n": 3})
    assert (result.data["tool_name"], result.data["arguments"]) == ("guess", {"n": 3})
    assert (result.data["reward"], result.data["done"], result.done) == (1.0, True, True)
    assert result.data["observation"]["hint"] == "found"
    assert result.metadata["reward"] == 1.0
    assert result.metadata["state"]["episode_id"] == "one"
    verdict = session.verify([{}, {}])
    assert (verdict.env_reward, verdict.done, verdict.metrics) == (1.0, True, {})
    assert verdict.artifacts["transcript_length"] == 2
    assert verdict.artifacts["final_state"]["step_count"] == 1
    session.close()
    session.close()


def test_what_the_reset_is_given_goes_before_the_seed(url: str) -> None:
    session = stepping(url, seed=3, reset_kwargs={"seed": 4})
    assert session.call_tool("guess", {"n": 4}).done
    session.close()


def test_builders_make_what_the_model_and_the_trainer_see(url: str) -> None:
    def result(name: str, arguments: Any, step: StepResult[Any], state: Any) -> ToolResult:
        return ToolResult(data=[name, arguments, step.observation["hint"], state["step_count"]])

    def verdict(transcript: Any, final: Any, last: StepResult[Any] | None, state: Any) -> Any:
        assert last is not None
        return VerifyResult(
            env_reward=last.reward, metrics={"final": final, "at": state["step_count"]}
        )

    session = stepping(url, seed=3, tool_result_builder=result, verify_builder=verdict)
    assert session.call_tool("guess", {"n": 3}).data == ["guess", {"n": 3}, "found", 1]
    assert session.verify([], final_state="over").metrics == {"final": "over", "at": 1}
    session.close()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"tool_specs": [Tool(name="reset", description="", input_schema={})]}, ValueError),
        ({"tool_specs": [GUESS, GUESS]}, ConfigurationError),
        ({"initial_messages_builder": lambda first, task: 1 / 0}, ZeroDivisionError),
        ({"seed": -1}, InvalidRequest),
    ],
    ids=["a reserved name", "a name twice", "a builder that raises", "a reset that is refused"],
)
def test_a_session_that_cannot_begin_closes_its_client(
    url: str, game: Served, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        stepping(url, **options)
    assert game.active() == 0


@pytest.mark.parametrize("name", ["nope", "reset", "close"])
def test_a_tool_that_is_not_there_is_a_key_error(url: str, name: str) -> None:
    session = stepping(url)
    with pytest.raises(KeyError, match=f"unknown tool '{name}'") as unknown:
        session.call_tool(name, {})
    assert isinstance(unknown.value, ToolNotFound)
    session.close()


def test_a_blocking_client_and_one_of_steps_alone_will_do(url: str) -> None:
    class Bare:
        """A client without a state and without other forms."""

        def __init__(self, client: SyncEnvClient[Any, Any, Any]) -> None:
            self.reset, self.step, self.close = client.reset, client.step, client.close

    client: GenericEnvClient = GenericEnvClient(base_url=url)
    session = stepping(url)
    session.close()
    built: dict[str, Any] = {"tool_specs": [GUESS], "action_builder": lambda name, given: given}
    bare = type(session)(Bare(client.sync()), **built, initial_messages_builder=lambda *_: [])
    assert bare.call_tool("guess", {"n": 0}).metadata == {"reward": 1.0, "state": None}
    bare.close()


@pytest.mark.parametrize(
    ("number", "why"), [(UNSCORED, "the judge is asleep"), (NOT_A_NUMBER, "nan")]
)
@pytest.mark.parametrize("factory", [Stepping, Calling])
def test_a_reward_that_could_not_be_computed_is_none(
    url: str, factory: Callable[[str], Any], number: int, why: str
) -> None:
    session = factory(url).create("find it")
    result = session.call_tool("guess", {"n": number})
    assert (result.metadata["reward"], result.done) == (None, True)
    assert why in result.metadata["reward_error"]["message"]
    verdict = session.verify([])
    assert verdict.env_reward is None
    assert why in verdict.metrics["reward_error"]["message"]
    session.close()


def test_a_server_without_tools_is_no_session_by_tools(game: Served) -> None:
    with serving(Toolless, max_concurrent_envs=1) as served:
        with pytest.raises(InvalidRequest):
            Calling(f"http://127.0.0.1:{served.port}").create("find it")
        assert served.active() == 0


class Toolless(Game):
    """The same without tools."""

    twice = fail = guess = None  # type: ignore[assignment]


class Stateless(Game):
    """The same with a state that cannot be read."""

    @property
    def state(self) -> State:
        raise RuntimeError("a state that breaks")


@pytest.mark.expects_error_log
def test_a_state_that_breaks_costs_no_step() -> None:
    with serving(Stateless, max_concurrent_envs=1) as served:
        session = stepping(f"http://127.0.0.1:{served.port}", seed=3)
        result = session.call_tool("guess", {"n": 3})
        assert (result.done, result.metadata) == (True, {"reward": 1.0, "state": None})
        session.close()


def test_a_session_by_tools_has_the_servers_own(url: str) -> None:
    session = Calling(url).create([{"role": "user", "content": "find it"}], seed=3)
    assert session.initial_messages() == [{"role": "user", "content": "find it"}]
    assert [tool.name for tool in session.list_tools()] == ["twice", "fail", "guess"]
    assert session.call_tool("twice", {"n": 4}) == ToolResult(data=8, metadata={"reward": None})
    missing = session.call_tool("nope", {})
    assert missing.error is not None
    assert "nope" in missing.error
    won = session.call_tool("guess", {"n": 3})
    assert (won.data, won.done, won.metadata) == ({"hint": "found"}, True, {"reward": 1.0})
    session.close()


@pytest.mark.parametrize(
    ("task", "first"),
    [(None, []), ("go", "go"), ({"id": 1}, '{"id":1}')],
    ids=["nothing", "text", "a row"],
)
def test_the_task_is_what_the_user_says(url: str, task: Any, first: Any) -> None:
    session = Calling(url).create(task)
    expected = [{"role": "user", "content": first}] if first else []
    assert session.initial_messages() == expected
    session.close()


@pytest.mark.parametrize("factory", [Stepping, Calling])
def test_closing_from_another_thread_ends_a_call_that_runs(
    url: str, factory: Callable[[str], Any]
) -> None:
    session = factory(url).create("find it")
    failures: list[BaseException] = []

    def play() -> None:
        try:
            MCPHarnessAdapter().run_white_box(guesses(HANGS), session)
        except RolloutFailed as failed:
            failures.append(failed)

    thread = threading.Thread(target=play)
    thread.start()
    assert HANGING.wait(20)
    session.close()
    thread.join(20)
    RELEASED.set()
    assert not thread.is_alive()
    [failed] = failures
    assert isinstance(failed.__cause__, SessionLost)


def test_sessions_play_in_a_pool_of_threads(url: str) -> None:
    adapter = MCPHarnessAdapter()
    limits = HarnessRunLimits(max_turns=12)

    def play(number: int) -> tuple[int, float | None]:
        session = (Stepping if number % 2 else Calling)(url).create("find it", seed=number)
        try:
            rollout = adapter.run_white_box(counting, session, limits)
            return len(rollout.tool_trace), session.verify(rollout.messages).env_reward
        finally:
            session.close()

    with ThreadPoolExecutor(8) as threads:
        played = list(threads.map(play, range(32)))
    assert played == [(number % 10 + 1, 1.0) for number in range(32)]


def test_factories_adapters_and_errors_pickle(url: str) -> None:
    factory = pickle.loads(pickle.dumps(Stepping(url)))
    adapter = pickle.loads(pickle.dumps(MCPHarnessAdapter()))
    session = factory.create("find it", seed=1)
    rollout = pickle.loads(pickle.dumps(adapter.run_white_box(guesses(1), session)))
    session.close()
    assert rollout.done
    failed = pickle.loads(pickle.dumps(RolloutFailed("no", rollout)))
    assert (str(failed), failed.rollout) == ("no", rollout)


def test_what_owns_its_loop_is_told_by_its_methods() -> None:
    class Owns:
        def wait_for_completion(self, timeout_s: float | None = None) -> int:
            return 0

        def fetch_training_trace(self) -> TrainingTrace:
            return TrainingTrace(turns=[])

    assert isinstance(Owns(), TrainableSession)
    assert not isinstance(Owns(), LoopOwningSession)
    assert not isinstance(ToolSessionAdapter, TrainableSession)


@pytest.mark.expects_error_log
def test_a_step_that_breaks_leaves_the_session_alive(url: str) -> None:
    session = stepping(url, seed=3)
    with pytest.raises(EnvironmentFailed):
        session.call_tool("guess", {"n": 98})
    assert session.call_tool("guess", {"n": 3}).done
    session.close()
