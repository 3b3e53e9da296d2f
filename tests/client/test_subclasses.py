"""Clients with methods of their own, as existing packages write them."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from openenv import EnvClient, ModeError, StepResult
from tests.client.ways import Ask, Way
from tests.client.worlds import Heard, Parrot, ParrotClient, Say, Tally


class Written(EnvClient[Say, Heard, Tally]):
    """Spells out what could be left to the types."""

    def _step_payload(self, action: Say) -> dict[str, Any]:
        return {"text": action.text.upper()}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Heard]:
        seen = payload.get("observation", {})
        observation = Heard(
            text=seen.get("text", ""),
            step=seen.get("step", 0),
            done=payload.get("done", False),
            reward=payload.get("reward"),
            metadata=payload.get("metadata", seen.get("metadata", {})),
        )
        return StepResult(
            observation=observation,
            reward=payload.get("reward"),
            done=payload.get("done", False),
        )

    def _parse_state(self, payload: dict[str, Any]) -> Tally:
        return Tally(episode_id=payload.get("episode_id"), step_count=payload.get("step_count", 0))


class Splatting(EnvClient[Say, Heard, Tally]):
    """Splats the inner dict into its model."""

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Heard]:
        observation = Heard(**payload["observation"])
        return StepResult(observation, payload.get("reward"), bool(payload.get("done")))


@pytest.mark.parametrize(("client_class", "text"), [(Written, "HI"), (Splatting, "hi")])
def test_clients_that_parse_for_themselves(way: Way, client_class: Any, text: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert (await ask(client.reset(seed=1))).observation.step == 0
        result = await ask(client.step(Say(text="hi")))
        assert (result.observation.text, result.observation.step) == (text, 1)
        assert (result.reward, result.done) == (2.0, False)
        assert (await ask(client.step(Say(text="quit")))).done is (text == "hi")
        state = await ask(client.state())
        assert (type(state), state.step_count) == (Tally, 2)

    way.run(talk, way.client(client_class))


class Logging:
    """Writes down what is called."""

    log: list[str]

    def _note(self, name: str) -> None:
        self.__dict__.setdefault("log", []).append(name)


class PlainOverrides(Logging, ParrotClient):
    """Overrides everything with plain methods."""

    def connect(self) -> Any:
        self._note("connect")
        return super().connect()

    def reset(self, **kwargs: Any) -> Any:
        self._note("reset")
        return super().reset(**{"seed": 9, **kwargs})

    def step(self, action: Say, timeout_s: float | None = None) -> Any:
        self._note("step")
        return super().step(action, timeout_s)

    def close(self) -> Any:
        self._note("close")
        return super().close()


class AsyncOverrides(Logging, ParrotClient):
    """Overrides everything with coroutines, as clients of earlier releases do."""

    async def connect(self) -> Any:  # type: ignore[override]
        self._note("connect")
        return await super().connect()

    async def reset(self, **kwargs: Any) -> Any:  # type: ignore[override]
        self._note("reset")
        return await super().reset(**{"seed": 9, **kwargs})

    async def step(  # type: ignore[override]
        self, action: Say, timeout_s: float | None = None
    ) -> Any:
        self._note("step")
        result = await super().step(action, timeout_s)
        assert (await self.state()).last == action.text
        return result

    async def close(self) -> None:  # type: ignore[override]
        self._note("close")
        await super().close()


OVERRIDES = [PlainOverrides, AsyncOverrides]


@pytest.mark.parametrize("client_class", OVERRIDES)
def test_overridden_operations(way: Way, client_class: Any) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        first = await ask(client.reset(episode_id="one"))
        assert (first.observation.seed, client.log) == (9, ["reset", "connect"])
        result = await ask(client.step(Say(text="hi"), timeout_s=5))
        assert result.observation.text == "hi"
        assert (await ask(client.state())).episode_id == "one"
        await ask(client.close())
        assert client.log == ["reset", "connect", "step", "close"]

    way.run(talk, way.client(client_class))


@pytest.mark.parametrize("client_class", OVERRIDES)
def test_overridden_operations_of_the_blocking_form(url: str, client_class: Any) -> None:
    client = client_class(base_url=url)
    with client.sync() as blocking:
        assert blocking.reset().observation.seed == 9
        assert blocking.step(Say(text="hi")).reward == 2.0
        assert blocking.state().step_count == 1
    assert client.log == ["connect", "reset", "step", "close"]


@pytest.mark.parametrize("client_class", OVERRIDES)
async def test_overridden_operations_with_async_with(url: str, client_class: Any) -> None:
    async with client_class(base_url=url) as client:
        assert (await client.reset()).observation.seed == 9
        assert (await client.step(Say(text="hi"))).reward == 2.0
    assert client.log == ["connect", "reset", "step", "close"]


@pytest.mark.parametrize("client_class", OVERRIDES)
async def test_overridden_operations_without_await_in_a_coroutine(
    url: str, client_class: Any
) -> None:
    client = client_class(base_url=url)
    assert client.reset().observation.seed == 9
    assert client.step(Say(text="hi")).reward == 2.0
    client.close()
    assert client.log == ["reset", "connect", "step", "close"]


class Helping(ParrotClient):
    """Has helpers of both kinds."""

    async def say(self, *texts: str) -> list[str]:
        """Says one thing after the other."""
        return [(await self.step(Say(text=text))).observation.text for text in texts]

    async def episode(self, *texts: str) -> list[str]:
        """A helper that calls a helper."""
        await self.reset(episode_id="helped")
        return await self.say(*texts)

    def say_hi(self) -> Any:
        """A helper that hands on what the operation gives."""
        return self.step(Say(text="hi"))

    async def fail(self) -> None:
        """Raises on the way."""
        await self.step(Say(text="raise"))

    async def nap(self, seconds: float) -> None:
        """Awaits what is none of the client's operations."""
        await asyncio.sleep(seconds)


async def test_helpers_where_one_awaits(url: str) -> None:
    async with Helping(base_url=url) as client:
        assert await client.episode("a", "b") == ["a", "b"]
        assert (await client.say_hi()).observation.step == 3
        await client.nap(0.001)
        with pytest.raises(RuntimeError, match="perch"):
            await client.fail()


def test_helpers_of_the_blocking_form(url: str) -> None:
    with Helping(base_url=url).sync() as client:
        assert client.episode("a", "b") == ["a", "b"]
        assert client.say_hi().observation.step == 3
        with pytest.raises(RuntimeError, match="perch"):
            client.fail()
        for seconds in (0, 0.001):
            with pytest.raises(ModeError, match=r"nap\(\) awaits more than.*async with"):
                client.nap(seconds)
        assert client.say("c") == ["c"]
        assert client.step(Say(text="d")).observation.step == 5


async def test_helpers_of_the_blocking_form_inside_a_loop(url: str) -> None:
    with Helping(base_url=url).sync() as client:
        assert client.episode("a", "b") == ["a", "b"]
        for seconds in (0, 0.001):
            with pytest.raises(ModeError, match=r"nap\(\) awaits more than"):
                client.nap(seconds)
        assert client.say("c") == ["c"]


class Equipped(ParrotClient):
    """Has a constructor of its own."""

    def __init__(
        self, base_url: str, level: int = 1, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(base_url=base_url, headers=headers, message_timeout_s=30)
        self.level = level


def test_a_constructor_of_its_own(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert (await ask(client.reset(seed=client.level))).observation.seed == 1

    way.run(talk, way.client(Equipped))


class OwnSocket(ParrotClient):
    """Connects in its own way."""

    async def connect(self) -> Any:  # type: ignore[override]
        from websockets.asyncio.client import connect

        if self._ws is None:
            self._ws = await connect(self._ws_url, proxy=None)
        return self


async def test_a_connection_of_its_own(url: str) -> None:
    async with OwnSocket(base_url=url) as client:
        assert (await client.reset(seed=2)).observation.seed == 2
        assert client._ws is not None
        await client._ws.ping()
        assert (await client.step(Say(text="hi"))).observation.text == "hi"
    client = OwnSocket(base_url=url)
    assert (await client.reset(seed=3)).observation.seed == 3
    await client.close()
    assert client._ws is None


def test_a_connection_of_its_own_does_not_block(url: str) -> None:
    with pytest.raises(ModeError, match=r"connect\(\) awaits more than.*async with"):
        OwnSocket(base_url=url).reset()


def test_what_a_subclass_calls_itself_stays_its_own() -> None:
    assert PlainOverrides.reset.__qualname__ == "PlainOverrides.reset"
    assert AsyncOverrides.reset.__qualname__ == "AsyncOverrides.reset"
    assert not asyncio.iscoroutinefunction(AsyncOverrides.reset)
    assert Parrot.__name__ == "Parrot"


class OldParsing(ParrotClient):
    """Parses results as packages do that were written before truncation had a field."""

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Heard]:
        observation = Heard(**payload["observation"], done=payload["done"])
        return StepResult(observation, payload.get("reward"), payload.get("done", False))


def test_truncation_reaches_clients_whose_parsing_knows_nothing_of_it(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        result = await ask(client.step(Say(text="limit")))
        assert (result.done, result.truncated, result.terminated) == (True, True, False)

    way.run(talk, way.client(OldParsing))
