"""A broken verifier, as those see it who are served: by every road, in every style."""

from collections.abc import Iterator
from typing import Any

import pytest

from openenv import EnvClient, Environment, local
from tests.rubrics.scorers import Episode
from tests.rubrics.worlds import STYLES, WAYS, Delayed, Own, Peer, Tried, Try
from tests.server.v2 import ENCODINGS, speaking
from tests.serving import Served, serving

PATH = "rubric_0.ways.{}"


@pytest.fixture(scope="module", params=STYLES, ids=lambda style: str(style.__name__))
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with serving(request.param) as server:
        yield server


def _has_no_reward(frame: dict[str, Any], way: str, *, done: bool = False) -> None:
    assert frame["reward"] is None
    assert frame["done"] is done
    error = frame["observation"]["metadata"]["reward_error"]
    assert error["rubric"] == PATH.format(way)
    assert error["error"]
    assert frame["metadata"]["reward_error"] == error
    assert frame["observation"]["metadata"]["own"] == 1
    assert frame["observation"]["way"] == way


def _has_reward(frame: dict[str, Any]) -> None:
    assert frame["reward"] == 0.5
    assert frame["metadata"] == {"own": 1}


def test_on_a_socket_of_v1(served: Served) -> None:
    with served.socket() as socket:
        socket.reset()
        for way in WAYS:
            _has_no_reward(socket.step(way=way), way)
            _has_reward(socket.step(way="fine"))
        _has_reward(socket.step(way="later"))
        _has_no_reward(socket.step(way="nan", end=True), "nan", done=True)
        assert socket.state()["step_count"] == 2 * len(WAYS) + 2


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_on_a_socket_of_v2(served: Served, encoding: str) -> None:
    with speaking(served, encoding) as socket:
        socket.open()
        socket.done("reset", seq=1, data={})
        for seq, way in enumerate(WAYS, 2):
            _has_no_reward(socket.done("step", seq=seq, data={"way": way}), way)
        _has_reward(socket.done("step", seq=len(WAYS) + 2, data={"way": "later"}))


def test_over_http(served: Served) -> None:
    for way in ("raises", "nan_later"):
        answer = served.post("/step", {"action": {"way": way}})
        assert answer.status == 200
        _has_no_reward(answer.json(), way)


@pytest.mark.parametrize("style", STYLES, ids=lambda style: str(style.__name__))
def test_in_this_process(style: type[Environment[Try, Tried]]) -> None:
    with local(style) as env:
        env.reset()
        for way in WAYS:
            result = env.step(Try(way=way))
            assert (result.reward, result.done) == (None, False)
            assert result.observation.reward is None
            assert result.observation.metadata["reward_error"]["rubric"] == PATH.format(way)
        assert env.step(Try(way="later")).reward == 0.5


def test_bare_in_our_own_style() -> None:
    env = Own()
    observation = env.step(Try(way="raises"))
    assert observation.reward is None
    assert observation.metadata["reward_error"] == {
        "rubric": PATH.format("raises"),
        "error": "RuntimeError",
        "message": "the grader is down",
    }
    assert env.step(Try(way="later")).reward == 0.5
    assert Own.SHARED.metadata == {"own": 1}


def test_an_environment_without_a_rubric_keeps_its_rewards() -> None:
    class Bare(Own):
        def __init__(self) -> None:
            self.rubric = None

    observation = Bare().step(Try(end=True))
    assert (observation.reward, observation.metadata) == (None, {"own": 1})


class Dividing(Peer):
    def step(self, action: Try) -> Tried:
        observation = super().step(action)
        observation.reward = float(observation.reward or 0.0) * float("inf")
        return observation


class Forgetting(Peer):
    def step(self, action: Try) -> Tried:
        return Tried(reward=float("nan"))


@pytest.mark.parametrize(("style", "reward"), [(Dividing, "inf"), (Forgetting, "nan")])
def test_a_reward_that_is_no_number_is_none(style: type[Peer], reward: str) -> None:
    with local(style) as env:
        env.reset()
        result = env.step(Try())
        assert result.reward is None
        assert result.observation.metadata["reward_error"] == {
            "rubric": None,
            "error": "ValueError",
            "message": f"the environment itself gave the reward {reward}, which is no finite "
            "number",
        }


class Raw(Peer):
    """Whose rubric is just a function."""

    def __init__(self) -> None:
        self.rubric = _grade


def _grade(action: Try, observation: Tried) -> float:
    return {"fine": 0.5}[action.way]


def test_any_callable_is_a_rubric() -> None:
    with local(Raw) as env:
        env.reset()
        assert env.step(Try()).reward == 0.5
        error = env.step(Try(way="other")).observation.metadata["reward_error"]
        assert error == {"rubric": "_grade", "error": "KeyError", "message": "'other'"}


class TriedClient(EnvClient[Try, Tried]):
    """Typed."""


def test_a_client_sees_the_error_beside_the_observation() -> None:
    with serving(Peer) as server, TriedClient(base_url=f"http://127.0.0.1:{server.port}") as env:
        env.reset()
        result = env.step(Try(way="text"))
        assert result.reward is None
        assert result.observation.way == "text"
        assert (result.metadata or {})["reward_error"]["error"] == "TypeError"


# ── explanations


def test_rewards_are_explained_where_a_reset_asks_for_it() -> None:
    with local(Own) as env:
        env.reset(explain_rewards=True)
        tree = env.step(Try()).observation.metadata["rubric"]
        assert tree == {
            "rubric": "WeightedSum",
            "score": 0.5,
            "weights": [1.0],
            "children": {
                "rubric_0": {
                    "rubric": "Ways",
                    "score": 0.5,
                    "children": {"ways.fine": {"rubric": "Fixed", "score": 0.5}},
                }
            },
        }
        broken = env.step(Try(way="raises")).observation.metadata["rubric"]
        assert broken["score"] is None
        assert broken["error"]["rubric"] == PATH.format("raises")
        env.reset()
        assert "rubric" not in env.step(Try()).observation.metadata


class Open(Own):
    explain_rewards = True


def test_or_where_the_environment_says_so() -> None:
    with local(Open) as env:
        env.reset()
        assert env.step(Try()).observation.metadata["rubric"]["score"] == 0.5
        env.reset(explain_rewards=False)
        assert "rubric" not in env.step(Try()).observation.metadata
    assert Open().step(Try()).metadata["rubric"]["score"] == 0.5


def test_what_is_neither_yes_nor_no_is_refused() -> None:
    with serving(Own) as server, server.socket() as socket:
        error = socket.refused({"type": "reset", "data": {"explain_rewards": "yes"}})
        assert "explain_rewards must be true or false, got 'yes'" in error["message"]
        socket.reset(explain_rewards=True)
        assert socket.step()["metadata"]["rubric"]["score"] == 0.5


# ── delayed rewards


def _credits(socket: Any, steps: int) -> Any:
    for _ in range(steps - 1):
        frame = socket.step()
        assert (frame["reward"], "metadata" in frame) == (0.0, False)
    return socket.step(end=True)["metadata"]["step_rewards"]


def test_the_last_observation_tells_each_steps_credit() -> None:
    with serving(Delayed) as server, server.socket() as socket, server.socket() as other:
        socket.reset()
        other.reset()
        other.step()
        assert _credits(socket, 4) == [0.125, 0.25, 0.5, 1.0]
        socket.reset()
        assert _credits(socket, 2) == [0.5, 1.0]
        socket.reset()
        socket.step()
        socket.reset()
        assert _credits(socket, 1) == [1.0]


class Confused(Episode):
    def compute_step_rewards(self) -> list[float]:
        return [float("nan")]


class Miscounting(Delayed):
    def __init__(self) -> None:
        super().__init__()
        self.rubric = Confused()


def test_credit_that_cannot_be_computed_is_told() -> None:
    with local(Miscounting) as env:
        env.reset()
        result = env.step(Try(end=True))
        assert (result.reward, result.done) == (None, True)
        error = result.observation.metadata["reward_error"]
        assert error["rubric"] == "Confused.compute_step_rewards"
        assert "step_rewards" not in result.observation.metadata
