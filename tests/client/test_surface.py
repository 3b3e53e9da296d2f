"""One surface for all: what a client's calls give, in every way to use it."""

from typing import Any

import pytest

from openenv import EnvironmentFailed, InvalidRequest
from openenv.protocol.errors import ResetRequired
from tests.client.ways import Ask, Way
from tests.client.worlds import Heard, Say, Tally


def test_an_episode(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        first = await ask(client.reset(seed=3, episode_id="one", level=2))
        assert isinstance(first.observation, Heard)
        assert (first.observation.text, first.observation.seed) == ("ready [('level', 2)]", 3)
        assert (first.reward, first.done, first.metadata) == (None, False, None)
        result = await ask(client.step(Say(text="hello")))
        assert (result.observation.text, result.observation.step) == ("hello", 1)
        assert (result.reward, result.done, result.metadata) == (5.0, False, {"length": 5})
        assert (result.observation.reward, result.observation.metadata) == (5.0, {"length": 5})
        state = await ask(client.state())
        assert isinstance(state, Tally)
        assert (state.episode_id, state.step_count, state.last) == ("one", 1, "hello")

    way.run(talk)


@pytest.mark.parametrize(
    ("text", "ends"),
    [("on", (False, False, False)), ("quit", (True, False, True)), ("limit", (True, True, False))],
)
def test_how_an_episode_ends(way: Way, text: str, ends: tuple[bool, bool, bool]) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        result = await ask(client.step(Say(text=text)))
        assert (result.done, result.truncated, result.terminated) == ends
        assert (result.observation.done, result.observation.truncated) == ends[:2]

    way.run(talk)


def test_a_step_outside_an_episode_is_refused_and_the_session_lives(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ResetRequired, match="before reset"):
            await ask(client.step(Say(text="early")))
        assert (await ask(client.state())).step_count == 0
        await ask(client.reset(episode_id="one"))
        await ask(client.step(Say(text="quit")))
        with pytest.raises(ResetRequired, match="after 1 step;"):
            await ask(client.step(Say(text="late")))
        assert (await ask(client.state())).episode_id == "one"

    way.run(talk)


def test_an_environment_that_raises_loses_nothing(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset(episode_id="one"))
        await ask(client.step(Say(text="hello")))
        with pytest.raises(EnvironmentFailed) as caught:
            await ask(client.step(Say(text="raise")))
        error = caught.value
        assert isinstance(error, RuntimeError)
        assert error.code == "EXECUTION_ERROR"
        assert error.details["exception"] == "ValueError"
        assert str(error) == "the parrot fell off its perch (code: EXECUTION_ERROR)"
        result = await ask(client.step(Say(text="on")))
        assert (result.observation.text, result.observation.step) == ("on", 2)

    way.run(talk)


def test_an_invalid_action_is_refused_with_the_faults(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        with pytest.raises(InvalidRequest, match="zzz.*VALIDATION_ERROR") as caught:
            await ask(client.step({"text": "hello", "zzz": 1, "size": "large"}))
        assert {fault["loc"][0] for fault in caught.value.errors} == {"zzz", "size"}
        assert (await ask(client.step({"text": "on"}))).observation.text == "on"

    way.run(talk)


def test_close_twice_and_begin_again(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.close())
        await ask(client.reset(episode_id="one"))
        await ask(client.close())
        await ask(client.close())
        await ask(client.disconnect())
        await ask(client.reset(episode_id="two"))
        assert (await ask(client.state())).episode_id == "two"

    way.run(talk)


def test_the_seed_reaches_the_environment_and_many_episodes_follow_each_other(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        for seed in range(20):
            first = await ask(client.reset(seed=seed))
            steps = [await ask(client.step(Say(text=f"{seed}-{i}"))) for i in range(3)]
            assert first.observation.seed == seed
            assert [step.observation.text for step in steps] == [f"{seed}-{i}" for i in range(3)]
            assert [step.observation.step for step in steps] == [1, 2, 3]

    way.run(talk)


def test_a_large_observation_and_a_large_action(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        assert len((await ask(client.step(Say(size=3_000_000)))).observation.text) == 3_000_000
        large = "é" * 1_000_000
        assert (await ask(client.step(Say(text=large)))).observation.text == large

    way.run(talk)
