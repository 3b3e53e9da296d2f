"""A server's tools as the methods of a class, as TRL pools and calls them."""

import gc
import inspect
from collections.abc import Iterator
from typing import Any, Literal, get_type_hints

import pytest

from openenv import EnvClient, State
from openenv.client.tools import ToolCallFailed
from openenv.env.tool_models import Tool
from openenv.integrations.trl import ToolEnvironment, environment_factory
from openenv.integrations.trl.functions import method_of
from openenv.protocol.errors import (
    ConfigurationError,
    ConnectFailed,
    EnvironmentFailed,
    InvalidRequest,
    OpenEnvError,
    ResetRequired,
    SessionCapacityError,
)
from tests.integrations.trl.worlds import Guess, Hint, Numbers, Workshop
from tests.serving import Served, eventually, serving

PROMPT = [{"role": "user", "content": "Guess."}]


@pytest.fixture(scope="module")
def numbers() -> Iterator[Served]:
    with serving(Numbers, max_concurrent_envs=8) as served:
        yield served


@pytest.fixture
def url(numbers: Served) -> Iterator[str]:
    yield f"http://127.0.0.1:{numbers.port}"
    gc.collect()
    eventually(lambda: numbers.active() == 0)


@pytest.fixture(scope="module")
def workshop() -> Iterator[str]:
    with serving(Workshop) as served:
        yield f"http://127.0.0.1:{served.port}"


def public(made: type[ToolEnvironment]) -> list[str]:
    """The tools that TRL finds."""
    found = inspect.getmembers(made, inspect.isfunction)
    return [n for n, _ in found if n not in ("reset", "get_reward") and not n.startswith("_")]


def test_an_action_becomes_one_typed_method(url: str) -> None:
    made = environment_factory(url)
    assert public(made) == ["act"]
    act: Any = made.act  # type: ignore[attr-defined]
    assert get_type_hints(act) == {"number": int, "tone": Literal["calm", "loud"]}
    assert list(inspect.signature(made().act).parameters) == ["number", "tone"]  # type: ignore[attr-defined]
    assert inspect.getdoc(act) == (
        "Guesses the hidden number.\n\nArgs:\n    number: what it may be (at least 0, at most 9)\n"
        "    tone: how it is said. (by default calm)"
    )


def test_transformers_makes_a_schema_of_it(url: str) -> None:
    utils: Any = pytest.importorskip("transformers.utils")
    schema = utils.get_json_schema(environment_factory(url)().act)["function"]  # type: ignore[attr-defined]
    assert schema["name"] == "act"
    assert schema["parameters"]["required"] == ["number"]
    assert schema["parameters"]["properties"]["tone"]["enum"] == ["calm", "loud"]
    assert schema["parameters"]["properties"]["number"]["type"] == "integer"


def test_an_episode(url: str) -> None:
    env: Any = environment_factory(url, columns=["level"])()
    text = env.reset(prompt=PROMPT, seed=7, level="hard", answer="7", other=None)
    assert text == '\n\n{"hint":"a digit, hard, []","seed":7}'  # no column but those that are named
    assert env.get_reward() == 0.0  # nothing was done
    assert env.act(number=5) == '{"hint":"2 off","seed":null}'
    assert env.get_reward() == pytest.approx(0.8)
    assert not env.done
    assert env.act(number=7, tone="loud") == '{"hint":"0 off","seed":null}\nThe episode is over.'
    assert env.done
    assert env.get_reward() == 1.0
    assert env.act(number=1) == "The episode is over: no call has an effect any more."
    assert env.get_reward() == 1.0
    assert env.reset(seed=3, level=None) == '{"hint":"a digit, easy, []","seed":3}'
    assert (env.done, env.get_reward()) == (False, 0.0)


def test_the_sum_of_the_steps_rewards(url: str) -> None:
    env: Any = environment_factory(url, reward="sum", idle_reward=-1.0, options={"level": "x"})()
    assert "digit, x" in env.reset(seed=4)
    assert env.get_reward() == -1.0
    env.act(number=3)
    env.act(number=5)
    assert env.get_reward() == pytest.approx(1.8)


def test_the_text_of_the_first_observation_is_chosen(url: str) -> None:
    class NumbersEnv(EnvClient[Guess, Hint, State]):
        """Reads the observation with its type."""

    env = environment_factory(NumbersEnv, base_url=url, reset_text=lambda seen: seen.hint)()
    assert env.reset(seed=1) == "a digit, easy, []"
    assert env.act(number=2) == '{"hint":"1 off","seed":null}'  # type: ignore[attr-defined]
    silent = environment_factory(url, reset_text=lambda seen: None)()
    assert silent.reset(prompt=PROMPT, seed=1) is None


def test_a_reward_that_failed_is_not_a_zero(url: str) -> None:
    env: Any = environment_factory(url)()
    env.reset(seed=1)
    env.act(number=9)
    assert env.get_reward() is None
    env.act(number=2)
    assert env.get_reward() == pytest.approx(0.9)  # the last one's is known
    total: Any = environment_factory(url, reward="sum")()
    total.reset(seed=1)
    total.act(number=9)
    total.act(number=2)
    assert total.get_reward() is None


def test_a_call_at_fault_is_told_to_the_model(url: str) -> None:
    env: Any = environment_factory(url)()
    with pytest.raises(ResetRequired):
        env.act(number=1)
    env.reset(seed=5)
    for wrong in ({"number": "many"}, {"number": 1, "colour": "red"}, {}):
        with pytest.raises(ToolCallFailed, match="number|colour"):
            env.act(**wrong)
    assert env.get_reward() == 0.0  # nothing was done
    with pytest.raises(ToolCallFailed, match="eight"):
        env.act(number=8)
    env.act(number=5)
    assert env.get_reward() == 1.0


@pytest.mark.expects_error_log
def test_an_episode_that_cannot_begin_is_masked(url: str) -> None:
    env: Any = environment_factory(url)()
    for _ in range(2):
        assert env.reset(seed=13, prompt=PROMPT) is None
        assert env.get_reward() is None
        assert "unlucky" in str(env.error)
        with pytest.raises(EnvironmentFailed, match="unlucky"):
            env.act(number=1)
    with pytest.raises(EnvironmentFailed, match="unlucky"):
        env.reset(seed=13)  # the third in a row: it is not one episode's bad luck
    with pytest.raises(InvalidRequest, match="no such seed"):
        env.reset(seed=66)
    env.reset(seed=2)
    assert (env.error, env.get_reward()) == (None, 0.0)


def test_a_pool_keeps_its_sessions(numbers: Served, url: str) -> None:
    made: Any = environment_factory(url)
    assert numbers.active() == 0  # the one that was asked for the tools is closed
    pool = [made() for _ in range(8)]
    assert numbers.active() == 0
    begun = Numbers.made
    for batch in range(3):
        for number, env in enumerate(pool):
            env.reset(prompt=PROMPT, seed=batch)
            env.act(number=number)
        assert numbers.active() == 8
    assert Numbers.made - begun == 8
    with pytest.raises(SessionCapacityError, match="8"):
        made().reset(seed=1)
    made.close_all()
    assert numbers.active() == 0


def test_what_is_dropped_frees_its_slot(numbers: Served, url: str) -> None:
    env = environment_factory(url)()
    env.reset(seed=1)
    assert numbers.active() == 1
    del env
    gc.collect()
    eventually(lambda: numbers.active() == 0)


def test_a_server_that_starts_anew_costs_the_episodes_it_had() -> None:
    with serving(Numbers) as served:
        made: Any = environment_factory(f"http://127.0.0.1:{served.port}", patience_s=20)
        finished, playing = made(), made()
        finished.reset(seed=1)
        finished.act(number=1)
        playing.reset(seed=1)
    with serving(Numbers, port=served.port) as served:
        with pytest.raises(OpenEnvError):
            playing.act(number=1)
        assert playing.get_reward() is None
        assert finished.get_reward() == 1.0  # that is known
        for env in (finished, playing):
            assert env.reset(seed=2) is not None
            env.act(number=2)
            assert env.get_reward() == 1.0
        made.close_all()
    with pytest.raises(ConnectFailed):
        environment_factory(f"http://127.0.0.1:{served.port}")


def test_tools_become_methods(workshop: str) -> None:
    with pytest.raises(ConfigurationError, match="get_reward cannot be a method"):
        environment_factory(workshop)
    made = environment_factory(workshop, tools=["add", "fail"], name="Workshop")
    assert (made.__name__, public(made)) == ("Workshop", ["add", "fail"])
    env: Any = made()
    env.reset(seed=3)
    assert env.add(a=1) == "3"
    assert env.add(a=1, b=5) == "6"
    with pytest.raises(ToolCallFailed, match="it broke"):
        env.fail()
    assert env.get_reward() is None  # the environment pays for no call


def test_what_is_not_there_fails_at_set_up(url: str, workshop: str) -> None:
    with pytest.raises(ConfigurationError, match="no tool called hammer, saw; it has add, "):
        environment_factory(workshop, tools=["add", "saw", "hammer"])
    with pytest.raises(ConfigurationError, match="one of auto, tools, actions"):
        environment_factory(url, tools="hands")
    with pytest.raises(ConfigurationError, match="tools='actions'"):
        environment_factory(url, tools="tools")
    with pytest.raises(ConfigurationError, match="address"):
        environment_factory(EnvClient)
    with pytest.raises(ConfigurationError, match="once"):
        environment_factory(url, base_url=url)
    env = environment_factory(url, columns=["level"])()
    with pytest.raises(ConfigurationError, match="no column level; it has prompt"):
        env.reset(prompt=PROMPT)


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ({"type": "string"}, str),
        ({"type": "array", "items": {"type": "number"}}, list[float]),
        ({"type": "array"}, list),
        ({"type": "object", "properties": {"x": {"type": "integer"}}}, dict),
        ({"type": ["string", "null"]}, str | None),
        ({"anyOf": [{"type": "integer"}, {"enum": ["all", "none"]}]}, int | Literal["all", "none"]),
        ({"const": 3}, Literal[3]),
        ({"enum": [1.5, True, None]}, Literal[1.5, True, None]),
        ({"$ref": "#/$defs/Side"}, Literal["left", "right"]),
        ({"$ref": "#/$defs/Tree"}, list[Any]),
        ({"$ref": "#/$defs/nowhere"}, Any),
        ({}, Any),
        (True, Any),
    ],
)
def test_hints(schema: Any, hint: Any) -> None:
    utils: Any = pytest.importorskip("transformers.utils")
    defs = {
        "Side": {"enum": ["left", "right"]},
        "Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
    }
    described = {"type": "object", "properties": {"x": schema}, "$defs": defs}
    method = method_of(Tool(name="use", description="", input_schema=described))
    if schema != {"$ref": "#/$defs/Tree"}:
        assert get_type_hints(method)["x"] == hint
    assert utils.get_json_schema(method)["function"]["parameters"]["properties"].keys() == {"x"}


def test_descriptions_that_would_confuse_a_docstring() -> None:
    utils: Any = pytest.importorskip("transformers.utils")
    fields = {
        "a": {"type": "string", "description": "first\nb: no\nReturns: nothing"},
        "b": {"type": "integer", "default": 4, "minimum": 1},
        "from": {"type": "string"},
    }
    said = "Does it.\n\nMore.\n\nArgs:\n    a: old words\n\nReturns:\n    a thing"
    schema = {"type": "object", "properties": fields, "required": ["a"]}
    told = utils.get_json_schema(
        method_of(Tool(name="do-it", description=said, input_schema=schema))
    )
    function = told["function"]
    assert (function["name"], function["description"]) == ("do-it", "Does it. More.")
    assert function["parameters"]["required"] == ["a"]
    assert function["parameters"]["properties"] == {
        "a": {"type": "string", "description": "first b: no Returns - nothing"},
        "b": {"type": "integer", "description": "b (at least 1, by default 4)"},
    }
    with pytest.raises(ConfigurationError, match="'from'"):
        method_of(Tool(name="x", description="", input_schema={**schema, "required": ["from"]}))
