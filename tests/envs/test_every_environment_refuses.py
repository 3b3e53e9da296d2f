"""What every environment does with actions and options that are wrong: it says so, and goes on."""

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from openenv import InvalidRequest
from openenv.env.spec import EnvSpec
from tests.docs.catalog_pages import options
from tests.envs.absurd import TEXTS, absurd_actions
from tests.envs.case import Case, Json
from tests.envs.playing import Player, begin, outcome, player, seen, still
from tests.serving import Served, Socket

REFUSALS = {"INVALID_JSON", "VALIDATION_ERROR", "MESSAGE_TOO_LARGE"}
RESETS: tuple[Json, ...] = (
    {"seed": -1},
    {"seed": 2**31},
    {"seed": 2**63},
    {"seed": 2**70},
    {"seed": "seven"},
    {"seed": 1.5},
    {"seed": float("nan")},
    *({"episode_id": text} for text in TEXTS),
    {"episode_id": 7},
    {"no_such_option": 1},
)


@pytest.fixture
def client(case: Case) -> Iterator[Player]:
    """A session of an environment in this process."""
    with player(case) as session:
        yield session


def test_an_illegal_action_moves_nothing(case: Case, client: Player) -> None:
    expected = _second_observation(case)
    before = begin(client, case, seed=1)
    state = _position(client)
    for action in case.illegal:
        answered = seen(client.step(action))
        assert answered["metadata"].get("error"), f"{action} was no error"
        assert _is_paid(answered["reward"], case)
        assert still(answered) == still(before), action
        assert _position(client) == state, action
    assert _step(case, client, before) == expected


@pytest.mark.parametrize("kind", ["invalid", "bad_resets"])
def test_what_is_refused_leaves_the_episode_as_it_is(case: Case, client: Player, kind: str) -> None:
    expected = _second_observation(case)
    before = begin(client, case, seed=1)
    state = client.state()
    for wrong in getattr(case, kind):
        with pytest.raises(InvalidRequest) as refusal:
            client.step(wrong) if kind == "invalid" else client.reset(**wrong)
        assert str(refusal.value)
        assert client.state() == state, wrong
    assert _step(case, client, before) == expected


def test_an_option_that_there_is_not_is_refused_by_name(case: Case, client: Player) -> None:
    before = begin(client, case, seed=1)
    if not options(case):
        pytest.skip("it has no options")
    with pytest.raises(InvalidRequest, match="no_such_option"):
        client.reset(no_such_option=1)
    assert _step(case, client, before) == _second_observation(case)


@pytest.mark.timeout(120)
def test_absurd_actions_are_answered(case: Case, served: Served) -> None:
    schema = EnvSpec.of(case.environment_class).action.model_json_schema()
    with player(case) as local:
        legal = case.policy(begin(local, case, seed=1), random.Random(1))
    with served.socket(max_size=None) as socket:
        _reset(socket, case)
        for name, action in absurd_actions(schema, legal):
            answer = socket.ask({"type": "step", "data": action})
            if answer["type"] == "error":
                assert answer["data"]["code"] in REFUSALS, (name, answer)
                assert len(str(answer)) < 10_000, name
            else:
                assert _is_paid(answer["data"]["reward"], case), name
            if answer["data"].get("done"):
                _reset(socket, case)
            socket.state()
        _lives(socket, case)


@pytest.mark.timeout(60)
def test_absurd_resets_are_answered(case: Case, served: Served) -> None:
    with served.socket(max_size=None) as socket:
        _reset(socket, case)
        for wrong in RESETS:
            answer = socket.ask({"type": "reset", "data": {**case.reset, **wrong}})
            assert answer["type"] == "observation" or answer["data"]["code"] in REFUSALS, (
                str(wrong)[:80],
                str(answer)[:1000],
            )
            socket.state()
        _lives(socket, case)


def _second_observation(case: Case) -> Json:
    """What is seen after the first step of an episode in which nothing goes wrong."""
    with player(case) as client:
        return _step(case, client, begin(client, case, seed=1))


def _step(case: Case, client: Player, observation: Json) -> Json:
    return outcome(seen(client.step(case.policy(observation, random.Random(1)))))


def _position(client: Player) -> Json:
    """The state, but for the number of steps."""
    return {name: value for name, value in client.state().items() if name != "step_count"}


def _is_paid(reward: Any, case: Case) -> bool:
    least, most = case.reward_range
    number = isinstance(reward, int | float) and not isinstance(reward, bool)
    return number and math.isfinite(reward) and least <= reward <= most


def _reset(socket: Socket, case: Case) -> None:
    socket.reset(seed=1, **case.reset)


def _lives(socket: Socket, case: Case) -> None:
    """The session is as good as a new one."""
    with player(case) as local:
        first = begin(local, case, seed=1)
        action = case.policy(first, random.Random(1))
        expected = seen(local.step(action))
    _reset(socket, case)
    answer = socket.step(**action)
    assert (answer["reward"], answer["done"]) == (expected["reward"], expected["done"])
