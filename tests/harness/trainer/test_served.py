"""Sessions of whatever a server serves."""

import json
import pickle
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from openenv import Action, Environment, Observation
from openenv.client.generic import GenericEnvClient
from openenv.harness import HarnessRunLimits, MCPHarnessAdapter, RewardInvalid, ServedSessions
from openenv.harness.rollouts.rewards import resolve_env_reward
from openenv.protocol.errors import ConfigurationError, ConnectFailed, InvalidRequest, ProtocolError
from openenv.rollout.policies.acting import action_tool, seen
from tests.harness.trainer.worlds import Script, answers, guesses
from tests.serving import Served, serving

ADAPTER = MCPHarnessAdapter()


class Add(Action):
    """Adds to the sum."""

    n: int


class Total(Observation):
    total: int


class Sum(Environment[Add, Total]):
    """Each step's reward is what it adds; a reward of 13 cannot be computed."""

    def reset(self, start: int = 0, **options: Any) -> Total:
        self._total = start
        return Total(total=start)

    def step(self, action: Add) -> Total:
        self._total += action.n
        if action.n == 13:
            return Total(total=self._total, metadata={"reward_error": "bad luck"})
        done = self._total >= 10
        credit = {"step_rewards": [0.5, 1.0]} if done else {}
        return Total(total=self._total, reward=float(action.n), done=done, metadata=credit)


@pytest.fixture(scope="module")
def sums() -> Iterator[Served]:
    with serving(Sum, max_concurrent_envs=4) as served:
        yield served


@pytest.fixture
def sum_url(sums: Served) -> Iterator[str]:
    yield f"http://127.0.0.1:{sums.port}"
    assert sums.active() == 0


def adding(*numbers: int) -> Script:
    return Script(*[[("act", {"n": number})] for number in numbers])


def test_an_environments_actions_are_a_tool(sum_url: str) -> None:
    factory = pickle.loads(pickle.dumps(ServedSessions(sum_url, options={"start": 4})))
    session = factory.create("Reach 10.", seed=1)
    [tool] = session.list_tools()
    assert (tool.name, tool.description) == ("act", "Adds to the sum.")
    assert tool.input_schema["properties"].keys() == {"n"}
    assert session.initial_messages() == [{"role": "user", "content": 'Reach 10.\n\n{"total":4}'}]
    rollout = ADAPTER.run_white_box(adding(2, 5), session)
    assert (rollout.done, answers(rollout.messages)) == (True, [{"total": 6}, {"total": 11}])
    verdict = session.verify(rollout.messages)
    assert resolve_env_reward(rollout, verdict) == 7.0
    assert verdict.metrics == {"step_rewards": [0.5, 1.0]}
    session.close()


def test_an_action_that_is_refused_is_the_models_to_read(sum_url: str) -> None:
    session = ServedSessions(sum_url).create("Reach 10.")
    rollout = ADAPTER.run_white_box(Script([("act", {"m": 2})], [("act", {"n": 10})]), session)
    assert "Field required" in answers(rollout.messages)[0]["error"]
    assert session.verify(rollout.messages).env_reward == 10.0
    session.close()


@pytest.mark.parametrize(("reward", "expected"), [("sum", 8.0), ("last", 5.0)])
def test_a_reward_is_the_sum_or_the_last(sum_url: str, reward: Any, expected: float) -> None:
    session = ServedSessions(sum_url, reward=reward).create(None)
    rollout = ADAPTER.run_white_box(adding(3, 5), session)
    assert resolve_env_reward(rollout, session.verify(rollout.messages)) == expected
    session.close()


def test_a_sum_of_which_a_part_is_not_known_is_not_known(sum_url: str) -> None:
    session = ServedSessions(sum_url, options={"start": -20}).create(None)
    rollout = ADAPTER.run_white_box(adding(13, 5), session, HarnessRunLimits(max_turns=2))
    with pytest.raises(RewardInvalid, match="bad luck"):
        resolve_env_reward(rollout, session.verify(rollout.messages))
    session.close()


def test_an_environments_own_tools_go_first(url: str) -> None:
    session = ServedSessions(url).create([{"role": "system", "content": "Win."}], seed=3)
    assert [tool.name for tool in session.list_tools()] == ["twice", "fail", "guess"]
    system, user = session.initial_messages()
    assert (system["content"], json.loads(user["content"])) == ("Win.", {"hint": "guess"})
    rollout = ADAPTER.run_white_box(guesses(1, 3), session)
    assert resolve_env_reward(rollout, session.verify(rollout.messages)) == 1.0
    session.close()


def test_a_model_reads_what_is_written_for_it_and_never_the_reward() -> None:
    told = {"text": "you hard 17", "reward": 1.0, "done": False, "metadata": {"a": 1}}
    assert seen(told) == "you hard 17"
    assert seen({**told, "text": ""}) == {"text": ""}
    assert seen({**told, "text": 5, "cards": [1]}) == {"text": 5, "cards": [1]}


class Unpublished(BaseHTTPRequestHandler):
    """A server that does not tell what its actions are."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"observation": {}}')

    def log_message(self, *_: object) -> None:
        pass


def test_a_server_that_does_not_tell_what_an_action_is() -> None:
    with HTTPServer(("127.0.0.1", 0), Unpublished) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        client = GenericEnvClient(base_url=f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(ProtocolError, match="which fields an action has"):
            action_tool(client._endpoint)
        server.shutdown()
        thread.join()


def test_what_cannot_begin_is_told(sum_url: str) -> None:
    with pytest.raises(InvalidRequest, match="seed"):
        ServedSessions(sum_url).create(None, seed=-1)
    with pytest.raises(ConfigurationError, match="'last' or 'sum'"):
        ServedSessions(sum_url, reward="mean").create(None)  # type: ignore[arg-type]
    with pytest.raises(ConnectFailed):
        ServedSessions("http://127.0.0.1:9").create(None)
