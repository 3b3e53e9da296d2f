"""`local()`: environments without a server."""

import asyncio
import functools
import importlib
import threading
from typing import Any

import pytest

from openenv import (
    Action,
    ConfigurationError,
    EnvClient,
    Environment,
    EnvironmentFailed,
    GenericEnvClient,
    InvalidRequest,
    ModeError,
    Observation,
    SessionLost,
    State,
    local,
)
from openenv.protocol.errors import ConcurrentCall
from tests.client.ways import Ask, Way, talking
from tests.client.worlds import Heard, Parrot, ParrotClient, Say, Tally


@pytest.fixture(params=["blocking", "awaiting"])
def colour(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


async def _greet(client: Any, ask: Ask) -> Any:
    result = await ask(client.reset(seed=5))
    assert result.observation.seed == 5
    assert (await ask(client.step(Say(text="hi")))).observation.text == "hi"
    return await ask(client.state())


def made() -> Parrot:
    """Makes a parrot."""
    return Parrot()


SOURCES: list[Any] = [Parrot, made, functools.partial(Parrot), Parrot()]


@pytest.mark.parametrize("source", SOURCES, ids=["class", "function", "partial", "instance"])
def test_what_can_be_made_local(colour: str, source: Any) -> None:
    state = talking(colour, _greet, local(source))
    assert type(state) is Tally
    assert (state.step_count, state.last) == (1, "hi")


def test_types_may_be_given(colour: str) -> None:
    broken = [True]

    def bare() -> Any:
        if broken:
            raise OSError(broken.pop())
        return Parrot()

    with pytest.raises(ConfigurationError, match="cannot tell the action class of bare"):
        local(bare)
    broken.append(True)
    client: Any = local(bare, Say, Heard)
    assert talking(colour, _greet, client).step_count == 1


class Chatty(ParrotClient):
    """Has a method of its own."""

    async def chat(self) -> str:
        text: str = (await self.step(Say(text="chat"))).observation.text
        return text


def test_a_client_with_methods_of_its_own() -> None:
    client = local(Parrot, client_class=Chatty)
    assert isinstance(client, Chatty)
    with client.sync() as blocking:
        blocking.reset()
        assert blocking.chat() == "chat"

    async def talk() -> str:
        async with local(Parrot, client_class=Chatty) as awaiting:
            assert isinstance(awaiting, Chatty)
            await awaiting.reset()
            return await awaiting.chat()

    assert asyncio.run(talk()) == "chat"


def test_plain_dicts(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert (await ask(client.reset(seed=5))).observation["seed"] == 5
        assert (await ask(client.step({"text": "hi"}))).observation["text"] == "hi"

    talking(colour, talk, local(Parrot, client_class=GenericEnvClient))


class Awaiting(Environment[Say, Heard, State]):
    """Awaits in its steps."""

    closed = 0

    async def reset_async(self, **kwargs: Any) -> Heard:
        await asyncio.sleep(0)
        return Heard(text="ready")

    async def step_async(self, action: Say) -> Heard:
        await asyncio.sleep(0 if action.text else 30)
        return Heard(text=action.text)

    async def close(self) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        Awaiting.closed += 1


def test_an_environment_that_awaits(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert (await ask(client.reset(episode_id="one"))).observation.text == "ready"
        for text in ("a", "b"):
            assert (await ask(client.step(Say(text=text)))).observation.text == text
        state = await ask(client.state())
        assert (state.episode_id, state.step_count) == ("one", 2)

    before = Awaiting.closed
    talking(colour, talk, local(Awaiting))
    assert Awaiting.closed == before + 1


async def test_a_cancelled_step_ends_the_session_and_closes_the_environment() -> None:
    before = Awaiting.closed
    async with local(Awaiting) as client:
        await client.reset()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.step(Say()), 0.05)
        assert Awaiting.closed == before + 1
        with pytest.raises(SessionLost):
            await client.step(Say(text="a"))
        assert (await client.reset()).observation.text == "ready"
    assert Awaiting.closed == before + 2


async def test_a_second_call_is_refused_and_the_first_unharmed() -> None:
    async with local(Awaiting) as client:
        await client.reset()
        results: Any = await asyncio.gather(
            client.step(Say(text="a")), client.step(Say(text="b")), return_exceptions=True
        )
        assert results[0].observation.text == "a"
        assert isinstance(results[1], ConcurrentCall)


def test_both_modes_are_told_apart() -> None:
    client = local(Parrot)
    client.reset()

    async def enter() -> None:
        async with client:
            pass

    with pytest.raises(ModeError):
        asyncio.run(enter())
    client.close()


class Fragile(Parrot):
    """Cannot be built."""

    def __init__(self) -> None:
        raise OSError("no license")


def test_an_environment_that_cannot_be_built(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        for _ in range(2):
            with pytest.raises(EnvironmentFailed, match="Fragile.*no license") as caught:
                await ask(client.reset())
            assert caught.value.code == "FACTORY_ERROR"

    talking(colour, talk, local(Fragile))


def test_errors_carry_the_authors_traceback(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        with pytest.raises(EnvironmentFailed, match="perch") as caught:
            await ask(client.step(Say(text="raise")))
        assert "worlds.py" in caught.value.details["traceback"]

    talking(colour, talk, local(Parrot))


def test_what_is_no_environment_is_refused_at_once() -> None:
    for nonsense in (3, "Parrot", None):
        with pytest.raises(ConfigurationError, match="expected an Environment class"):
            local(nonsense)  # type: ignore[arg-type]

    class Unfinished(Environment[Action, Observation]):
        def reset(self, **kwargs: Any) -> Observation:
            return Observation()

    with pytest.raises(ConfigurationError, match="Unfinished must define step"):
        local(Unfinished)


def test_sessions_are_alone_and_an_instance_is_shared() -> None:
    with local(Parrot) as one, local(Parrot) as other:
        one.reset(episode_id="one")
        other.reset(episode_id="other")
        one.step(Say(text="hi"))
        assert (one.state().episode_id, other.state().step_count) == ("one", 0)
    parrot = Parrot()
    with local(parrot) as one, local(parrot) as other:
        one.reset(episode_id="one")
        assert other.state().episode_id == "one"


def test_values_cross_as_on_a_socket() -> None:
    seen: list[Say] = []

    class Keeping(Parrot):
        def step(self, action: Say) -> Heard:
            seen.append(action)
            return super().step(action)

    with local(Keeping) as client:
        client.reset()
        action = Say(text="hi")
        client.step(action)
        assert seen[0] == action
        assert seen[0] is not action
        with pytest.raises(InvalidRequest, match="extra"):
            client.step({"text": "hi", "extra": 1})  # type: ignore[arg-type]


def test_many_threads_have_many_sessions() -> None:
    wrong: list[object] = []

    def work(name: int) -> None:
        with local(Parrot) as client:
            client.reset(seed=name)
            for number in range(50):
                client.step(Say(text=f"{name}-{number}"))
            if (client.state().last, client.state().step_count) != (f"{name}-49", 50):
                wrong.append(name)

    workers = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_a_local_client_is_a_client(colour: str) -> None:
    client = local(Parrot)
    assert isinstance(client, EnvClient)
    assert client.base_url == "http://Parrot.localhost"
    assert Way(colour, None).run(_greet, client).step_count == 1


def test_the_module_does_not_hide_the_function() -> None:
    importlib.import_module("openenv.in_process")
    import openenv

    assert openenv.local is local


async def test_an_async_environment_cannot_be_driven_blocking_on_a_loop() -> None:
    with pytest.raises(ModeError, match="use `async with`"), local(Awaiting):
        pass
