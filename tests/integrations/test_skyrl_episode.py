"""The episode in texts that is behind SkyRL's text environments."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from openenv import ResetRequired
from openenv.harness.rollouts.rollout_errors import RewardInvalid
from openenv.integrations.skyrl import TextEpisode, text_env
from openenv.protocol.extras import MissingPackage
from openenv.testing import Add, Counting, CountingClient
from tests.serving import Served, eventually, serving


class Unfair(Counting):
    """Its verifier breaks down at 13."""

    def step(self, action: Add) -> Any:
        seen = super().step(action)
        return seen if action.amount != 13 else seen.model_copy(update={"reward": float("nan")})


@pytest.fixture
def served() -> Iterator[Served]:
    with serving(Unfair) as served:
        yield served
        eventually(lambda: served.openenv.active_sessions == 0)


def added(text: str) -> dict[str, Any]:
    return {"amount": int(text), "last": text == "7"}


@pytest.fixture(params=["address", "client"])
def episode(request: pytest.FixtureRequest, served: Served) -> Iterator[TextEpisode]:
    url = f"http://127.0.0.1:{served.port}"
    of_client = TextEpisode(partial(CountingClient, base_url=url), lambda t: Add(**added(t)))
    episode = TextEpisode(url, added) if request.param == "address" else of_client
    yield episode
    episode.close()


def test_texts_go_in_and_messages_come_out(episode: TextEpisode, served: Served) -> None:
    first = episode.begin({"seed": 10})
    assert first["role"] == "user" and json.loads(first["content"])["count"] == 10
    told = episode.step("5")
    assert json.loads(told["observations"][0]["content"])["count"] == 15
    assert (told["reward"], told["done"]) == (5.0, False)
    assert episode.step("7")["done"]
    with pytest.raises(ResetRequired):
        episode.step("1")
    episode.close()
    assert served.openenv.active_sessions == 0


@pytest.mark.parametrize("text", ["five", ""])
def test_a_text_that_is_no_action_costs_a_turn_alone(episode: TextEpisode, text: str) -> None:
    episode.begin({})
    told = episode.step(text)
    assert "invalid literal" in told["observations"][0]["content"]
    assert (told["reward"], told["done"]) == (0.0, False)
    assert told["metadata"] == {"invalid_action": True}
    assert episode.step("5")["reward"] == 5.0


def test_an_action_that_the_server_refuses_is_told_to_the_model(served: Served) -> None:
    episode = TextEpisode(f"http://127.0.0.1:{served.port}", lambda text: {"sum": text})
    episode.begin({})
    assert "sum" in episode.step("5")["observations"][0]["content"]
    episode.close()


def test_a_reward_that_is_not_known_is_no_zero(episode: TextEpisode) -> None:
    episode.begin({})
    with pytest.raises(RewardInvalid, match="reward of a step is not known"):
        episode.step("13")


async def test_it_blocks_inside_a_running_loop_and_goes_from_thread_to_thread(
    episode: TextEpisode,
) -> None:
    episode.begin({})
    steps = [threading.Thread(target=episode.step, args=("5",)) for _ in range(3)]
    for step in steps:
        step.start()
        step.join()
    assert json.loads(episode.step("1")["observations"][0]["content"])["count"] == 16


def test_without_skyrl_it_says_what_to_install() -> None:
    with pytest.raises(MissingPackage, match="pip install 'skyrl-gym'"):
        text_env("http://localhost:8000", added)
