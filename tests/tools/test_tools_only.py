"""Environments that have tools and nothing else, wherever others go."""

from __future__ import annotations

from typing import Any

import pytest

from openenv import Action, EnvClient, InvalidRequest, Observation, State, local
from openenv.client.tool_results import GenericMCPObservation
from openenv.env.tool_models import CallToolAction, CallToolObservation, ListToolsObservation
from openenv.testing import check_environment
from tests.serving import serving
from tests.tools.tools_only import (
    AwaitedGame,
    Board,
    Dated,
    DeclaredGame,
    Game,
    Misspelt,
    OverMcp,
    Repeats,
    Shop,
    Unannotated,
)

LOOK = CallToolAction(tool_name="look")
GAMES = [Game, DeclaredGame, AwaitedGame, OverMcp]


class ShopClient(EnvClient[CallToolAction, CallToolObservation, State]):
    """A typed client."""


@pytest.mark.parametrize("env", GAMES)
def test_a_reset_is_of_its_own_class_and_a_call_of_that_of_calls(env: Any) -> None:
    with local(env) as client:
        assert client.reset().observation == Board()
        called = client.step(LOOK).observation
        assert type(called) is CallToolObservation
        assert called.result["data"] == "a board"


def test_a_reset_that_does_not_say_its_class_gives_an_observation() -> None:
    with local(Shop) as client:
        first = client.reset()
        assert type(first.observation) is Observation
        assert first.metadata == {"list": ["tea", "cake"]}


def test_fields_that_a_reset_does_not_announce_are_kept() -> None:
    with local(Unannotated) as client:
        first = client.reset().observation
        assert type(first) is GenericMCPObservation
        assert first.model_dump()["cells"] == [0, 0, 0]


@pytest.mark.parametrize("client_class", [EnvClient, ShopClient])
def test_an_episode_of_calls(client_class: Any) -> None:
    with local(Shop, client_class=client_class) as env:
        env.reset(seed=1)
        bought: Any = env.step(CallToolAction(tool_name="buy", arguments={"item": "tea"}))
        assert bought.observation.result["data"] == ["tea"]
        last = env.step(CallToolAction(tool_name="check_out"))
        assert (last.reward, last.done) == (-3.0, True)
        assert type(last.observation) is CallToolObservation


def test_a_typed_client_of_a_server() -> None:
    with (
        serving(Shop) as server,
        ShopClient(base_url=f"http://127.0.0.1:{server.port}").sync() as env,
    ):
        assert type(env.reset().observation) is Observation
        assert env.step(CallToolAction(tool_name="price", arguments={"item": "tea"})).done is False


@pytest.mark.parametrize(("env", "first"), [(Shop, "Observation"), *((g, "Board") for g in GAMES)])
def test_the_schema_says_what_a_reset_and_what_a_call_gives(env: Any, first: str) -> None:
    with serving(env) as server:
        told = server.http("GET", "/schema").json()
    assert told["reset_observation"]["title"] == first
    assert told["observation"]["title"] == "CallToolObservation"
    assert told["action"]["title"] == "CallToolAction"


@pytest.mark.parametrize("host_kind", ["inline", "thread", "process"])
def test_a_call_needs_no_type(host_kind: Any) -> None:
    with serving(Shop, host_kind=host_kind) as server:
        server.post("/reset", {})
        answer = server.post(
            "/step", {"action": {"tool_name": "price", "arguments": {"item": "tea"}}}
        )
        assert answer.json()["observation"]["result"]["data"] == 3.0
        unknown = server.post("/step", {"action": {"tool_name": "fly"}}).json()["observation"]
        assert unknown["error"]["error_type"] == "tool_not_found"


def test_a_call_needs_no_type_from_a_client_either() -> None:
    with local(Shop) as env:
        env.reset()
        assert env.step({"tool_name": "check_out"}).done  # type: ignore[arg-type]
        listed = env.step({"type": "list_tools"}).observation  # type: ignore[arg-type]
        assert isinstance(listed, ListToolsObservation)


@pytest.mark.parametrize("action", [{"item": "tea"}, {}, {"tool_name": 3}])
def test_what_is_no_call_is_refused_with_an_example(action: dict[str, Any]) -> None:
    with local(Shop) as env:
        env.reset()
        with pytest.raises(InvalidRequest):
            env.step(action)  # type: ignore[arg-type]


def test_the_refusal_of_other_actions_shows_how_a_call_is_written() -> None:
    with pytest.raises(InvalidRequest, match="call_tool") as refusal:
        shop: Any = Shop
        shop().step(Action())
    assert '{"type": "call_tool", "tool_name": "...", "arguments": {}}' in str(refusal.value)


@pytest.mark.parametrize("env", [Shop, *GAMES])
def test_a_sound_environment_passes(env: Any) -> None:
    check_environment(env)


def test_actions_may_be_given() -> None:
    check_environment(Shop, actions=[CallToolAction(tool_name="buy", arguments={"item": "cake"})])


def test_a_tool_that_nothing_can_be_made_up_for_is_left_out() -> None:
    check_environment(Dated)


def test_a_tool_that_breaks_a_promise_is_told() -> None:
    with pytest.raises(AssertionError, match="episode_determinism"):
        check_environment(Repeats)


def test_tools_of_which_none_gives_a_result_are_told() -> None:
    with pytest.raises(AssertionError, match="none of the calls .* no attribute 'borad'"):
        check_environment(Misspelt)
