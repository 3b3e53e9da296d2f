"""What each request means to an environment. Flows are driven by hand: no loop, no thread."""

import asyncio
import json
import logging
import math
from typing import Any

import pytest
from pydantic import field_validator

from openenv import Action, Environment, Observation, State
from openenv.env.spec import EnvSpec
from openenv.protocol.errors import (
    ResetRequired,
    SessionCapacityError,
    SessionError,
    SessionNotFoundError,
    StepTimeout,
)
from openenv.protocol.messages import Operation, Reply, Request
from openenv.runtime.session import Session
from tests.runtime.worlds import Do, Seen, Walk, World


class Served:
    """A session with its answers read."""

    def __init__(self, environment: Any, spec: EnvSpec | None = None, **options: Any) -> None:
        self.environment = environment
        self.session = Session(environment, spec or EnvSpec.of(type(environment)), **options)

    def ask(
        self, op: Operation, data: dict[str, Any] | None = None, timeout_s: float | None = None
    ) -> tuple[str, Any]:
        reply = self.session.serve(Request(op, data or {}, timeout_s))
        assert isinstance(reply, Reply)
        assert not reply.ends_session
        return reply.type, json.loads(reply.body)

    def reset(self, **keywords: Any) -> tuple[str, Any]:
        return self.ask("reset", keywords)

    def step(self, what: str, arg: Any = None) -> tuple[str, Any]:
        return self.ask("step", {"what": what, "arg": arg})


def value(answer: tuple[str, Any]) -> Any:
    assert answer[0] == "observation", answer
    return answer[1]["observation"]["value"]


def code(answer: tuple[str, Any]) -> str:
    assert answer[0] == "error", answer
    return str(answer[1]["code"])


def test_what_an_environment_awaits_is_awaited_by_whoever_asked() -> None:
    class Awaiting(World):
        async def step_async(self, *args: Any, **kwargs: Any) -> Seen:
            await asyncio.sleep(0)
            return Seen(value=2)

    session = Session(Awaiting(), EnvSpec.of(Awaiting))
    pending = session.serve(Request("step", {"what": "echo", "arg": 1}))
    assert not isinstance(pending, Reply)
    assert json.loads(asyncio.run(pending).body)["observation"]["value"] == 2


def test_reset_step_and_state() -> None:
    world = Served(Walk())
    assert value(world.reset(seed=1, episode_id="e")) == [0]
    assert len(value(world.step("go", 1))) == 2
    assert world.ask("state") == ("state", {"episode_id": "e", "step_count": 1})


def test_a_session_names_its_episodes() -> None:
    world = Served(World())
    assert world.ask("state")[1] == {"episode_id": None, "step_count": 0}
    names = []
    for _ in range(2):
        world.reset()
        names.append(world.ask("state")[1]["episode_id"])
    assert len(set(names)) == 2
    assert None not in names


def test_an_environment_sees_the_state_that_its_session_keeps() -> None:
    class Looks(World):
        def look(self, arg: None) -> Any:
            return self.state.model_dump()

    world = Served(Looks())
    world.reset(episode_id="e")
    assert value(world.step("look")) == {"episode_id": "e", "step_count": 0}
    assert value(world.step("look")) == {"episode_id": "e", "step_count": 1}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ResetRequired("deal first"), "RESET_REQUIRED"),
        (SessionError("no budget", code="NO_BUDGET"), "NO_BUDGET"),
        (SessionCapacityError(8, 8), "EXECUTION_ERROR"),
        (StepTimeout("of another server"), "EXECUTION_ERROR"),
        (SessionNotFoundError("of another server"), "EXECUTION_ERROR"),
    ],
)
def test_an_environment_raises_typed_errors_but_ends_no_session(
    error: SessionError, expected: str
) -> None:
    class Relay(World):
        def relay(self, arg: None) -> None:
            raise error

    world = Served(Relay())
    told = world.step("relay")
    assert code(told) == expected
    assert error.message in told[1]["message"]
    assert value(world.step("echo", 1)) == 1


class Free(State):
    level: int = 3


def test_a_state_class_of_ones_own_is_used() -> None:
    class Leveled(Environment[Do, Seen, Free]):
        def reset(self, **options: Any) -> Seen:
            self.state.level = 5
            return Seen()

        def step(self, action: Do) -> Seen:
            return Seen()

    world = Served(Leveled())
    assert world.ask("state")[1]["level"] == 3
    world.reset()
    assert world.ask("state")[1]["level"] == 5


def test_steps_outside_an_episode_are_refused() -> None:
    world = Served(Walk())
    assert code(world.step("go", 1)) == "RESET_REQUIRED"
    assert world.ask("state")[0] == "state"
    world.reset(seed=1)
    for _ in range(20):
        last = world.step("go", 1)
    assert last[1]["done"]
    assert code(world.step("go", 1)) == "RESET_REQUIRED"
    assert value(world.reset()) == [0]
    assert len(value(world.step("go", 1))) == 2


def test_an_environment_may_take_steps_at_any_time() -> None:
    world = Served(World())
    assert value(world.step("echo", 1)) == 1
    assert world.step("end", 2)[1]["done"]
    assert value(world.step("echo", 3)) == 3
    assert world.ask("state")[1]["step_count"] == 3


def test_a_failed_reset_leaves_no_episode() -> None:
    world = Served(Walk())
    world.reset(seed=1, episode_id="first")
    world.step("go", 1)
    world.environment._random = None
    assert code(world.reset(episode_id="second")) == "EXECUTION_ERROR"
    assert code(world.step("go", 1)) == "RESET_REQUIRED"


@pytest.mark.parametrize(
    "data",
    [{"seed": -1}, {"seed": "x"}, {"seed": 1.5}, {"episode_id": 3}, {"episode_id": "x" * 256}],
    ids=repr,
)
def test_bad_reset_keywords_are_refused(data: dict[str, Any]) -> None:
    world = Served(World())
    kind, answer = world.ask("reset", data)
    assert (kind, answer["code"]) == ("error", "VALIDATION_ERROR")
    assert next(iter(data)) in answer["message"]
    assert answer["errors"][0]["loc"] == list(data)


def test_reset_keywords_arrive_as_what_they_are() -> None:
    world = Served(World())
    given = {"seed": 3, "episode_id": None, "level": "hard", "nested": {"a": [1, None]}}
    assert value(world.reset(**given)) == given
    assert value(world.reset(seed="3")) == {"seed": 3}
    assert value(world.reset()) == {}


def test_keywords_that_an_environment_does_not_take_are_left_out_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Only the author's own, not those that everybody sends to every environment."""
    world = Served(Walk())
    for _ in range(2):
        assert value(world.reset(seed=1, level="hard", episode_id="e1")) == [0]
    said = [r.getMessage() for r in caplog.records if r.name == "openenv.session"]
    assert said == ["Walk.reset() takes no 'level': it was left out (it takes: seed)"]


@pytest.mark.parametrize(
    ("data", "loc", "fault"),
    [
        ({}, ["what"], "missing"),
        ({"what": 3}, ["what"], "string_type"),
        ({"what": "echo", "extra": 1}, ["extra"], "extra_forbidden"),
        ({"what": "echo", "metadata": 1}, ["metadata"], "dict_type"),
    ],
)
def test_bad_actions_are_refused(data: dict[str, Any], loc: list[str], fault: str) -> None:
    world = Served(Walk())
    kind, answer = world.ask("step", data)
    assert (kind, answer["code"]) == ("error", "VALIDATION_ERROR")
    assert [(f["loc"], f["type"]) for f in answer["errors"]] == [(loc, fault)]
    assert "Walk" in answer["message"]
    assert loc[0] in answer["message"]


def test_a_validation_error_is_never_larger_than_what_it_is_about() -> None:
    world = Served(World())
    many = {f"extra{i}": "x" * 100 for i in range(5000)}
    answer = world.ask("step", {"what": "echo", **many})[1]
    assert answer["message"].endswith("more)")
    assert len(answer["errors"]) == 50
    assert len(json.dumps(answer)) < 64 * 1024


def test_a_validator_that_raises_something_of_its_own() -> None:
    class Odd(Action):
        n: Any = None

        @field_validator("n")
        @classmethod
        def _check(cls, n: Any) -> Any:
            raise OSError("the validator itself broke")

    class OddWorld(World):
        pass

    spec = EnvSpec.of(OddWorld, Odd)
    answer = Served(OddWorld(), spec).ask("step", {"n": 1})
    assert code(answer) == "EXECUTION_ERROR"
    assert "the validator itself broke" in answer[1]["message"]


@pytest.mark.parametrize("op", ["reset", "step"])
def test_an_environments_exception_becomes_an_answer(
    op: Operation, caplog: pytest.LogCaptureFixture
) -> None:
    world = Served(World())
    trick = {"what": "fail", "arg": "no such cell"}
    kind, answer = world.ask(op, {"do": trick} if op == "reset" else trick)
    assert kind == "error"
    assert answer == {
        "message": "no such cell",
        "code": "EXECUTION_ERROR",
        "exception": "ValueError",
        "operation": op,
    }
    assert value(world.step("echo", 1)) == 1
    (record,) = [r for r in caplog.records if r.name == "openenv.session"]
    assert record.levelno == logging.WARNING
    assert "worlds.py" in record.getMessage()
    assert "openenv/runtime/session.py" not in record.getMessage()


@pytest.mark.parametrize(
    ("arg", "says"),
    [
        ("exit", "sys.exit(3)"),
        ("stop", "over"),
        ("fatal", "panic"),
        ("generator", "GeneratorExit"),
        ("unspeakable", "Unspeakable"),
        ("surrogate", r"\udcff"),
        ("huge", "xxx"),
    ],
)
def test_whatever_an_environment_raises_becomes_an_answer(arg: str, says: str) -> None:
    world = Served(World())
    answer = world.step("fail_badly", arg)
    assert code(answer) == "EXECUTION_ERROR"
    assert says in answer[1]["message"]
    assert len(answer[1]["message"]) < 100_000
    assert value(world.step("echo", 1)) == 1


@pytest.mark.parametrize(
    ("trick", "arg", "says"),
    [
        ("fail_badly", "exit", "the environment called sys.exit(3)"),
        ("unsendable", "lock", "Seen.value cannot be sent"),
    ],
)
def test_what_is_no_exception_is_logged_in_a_line(
    trick: str, arg: str, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    Served(World()).step(trick, arg)
    (record,) = [r for r in caplog.records if r.name == "openenv.session"]
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith(f"World.step() failed: {says}")
    assert "\n" not in record.getMessage()
    assert record.exc_info is None


def test_what_is_no_observation_is_logged_in_a_line(caplog: pytest.LogCaptureFixture) -> None:
    Served(Wrong()).ask("step", {"what": "x"})
    (record,) = [r for r in caplog.records if r.name == "openenv.session"]
    assert record.levelno == logging.WARNING
    assert "Wrong.step must give an Observation, got dict" in record.getMessage()


def test_an_interrupt_goes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        Served(World()).step("fail_badly", "interrupt")


def test_the_authors_part_of_a_traceback_is_sent_only_when_allowed() -> None:
    assert "traceback" not in Served(World()).step("fail", "x")[1]
    sent = Served(World(), tracebacks=True).step("fail", "x")[1]["traceback"]
    assert "worlds.py" in sent
    assert "raise ValueError(arg)" in sent
    assert "runtime/session.py" not in sent


@pytest.mark.parametrize("arg", ["lock", "surrogate"])
def test_an_observation_that_cannot_be_sent_is_an_answer(arg: str) -> None:
    world = Served(World())
    answer = world.step("unsendable", arg)
    assert code(answer) == "EXECUTION_ERROR"
    assert "Seen.value" in answer[1]["message"]
    assert value(world.step("echo", 1)) == 1


class Wrong(World):
    """Gives what is no observation and no state."""

    def step(self, action: Do) -> Any:  # type: ignore[override]
        return {"observation": 1}

    def reset(self, **options: Any) -> Any:
        return None

    @property
    def state(self) -> Any:
        return {"step_count": 1}


@pytest.mark.parametrize("op", ["reset", "step", "state"])
def test_what_is_no_observation_or_state_is_refused(op: Operation) -> None:
    answer = Served(Wrong()).ask(op, {"what": "x"} if op == "step" else None)
    assert code(answer) == "EXECUTION_ERROR"
    assert f"Wrong.{op} must give a" in answer[1]["message"]


def test_a_state_that_raises_is_an_answer() -> None:
    class NoState(World):
        @property
        def state(self) -> State:
            raise LookupError("lost")

    answer = Served(NoState()).ask("state")
    assert code(answer) == "EXECUTION_ERROR"
    assert answer[1]["operation"] == "state"


def test_a_state_may_be_a_method() -> None:
    class Method(World):
        def state(self) -> State:  # type: ignore[override]
            return State(step_count=9)

    assert Served(Method()).ask("state")[1]["step_count"] == 9


def test_timeouts_reach_the_environments_that_take_them() -> None:
    class Told(World):
        def step(self, action: Do, timeout_s: float | None = None) -> Seen:
            return Seen(value=timeout_s)

    class Untold(World):
        def step(self, action: Do) -> Seen:  # type: ignore[override]
            return Seen(value="fine")

    assert value(Served(Told()).ask("step", {"what": "x"}, 3.0)) == 3.0
    assert value(Served(Told()).ask("step", {"what": "x"})) is None
    assert value(Served(Untold()).ask("step", {"what": "x"}, 3.0)) == "fine"


def test_an_own_state_is_left_alone() -> None:
    class Own(World):
        def __init__(self) -> None:
            self._state = State(episode_id="own", step_count=7)

        @property
        def state(self) -> State:
            return self._state

    world = Served(Own())
    world.reset(episode_id="given")
    world.step("echo")
    assert world.ask("state")[1] == {"episode_id": "own", "step_count": 7}


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_numbers_that_json_lacks_survive_in_rewards(number: float) -> None:
    class Odd(World):
        def step(self, action: Do) -> Seen:  # type: ignore[override]
            return Seen(reward=number)

    answer = Served(Odd()).ask("step", {"what": "x"})[1]
    assert repr(Observation(reward=answer["reward"]).reward) == repr(number)


def test_close_closes_once_and_what_it_raises_is_only_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Closing(World):
        def close(self) -> None:
            raise OSError("device busy")

    session = Session(Closing(), EnvSpec.of(Closing))
    assert session.close() is None
    assert [r.getMessage() for r in caplog.records] == ["Closing.close() failed"]


def test_an_instance_that_others_share_is_not_closed_with_a_session() -> None:
    instance = World()
    session = Session(instance, EnvSpec.of(instance))
    assert session.close() is None
