"""`WebInterfaceManager`: what custom pages have in hand."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from openenv import Action, Environment, Observation, State
from openenv.core.env_server.web_interface import ActionLog, EpisodeState, WebInterfaceManager
from openenv.env.spec import EnvSpec
from openenv.protocol.errors import (
    ConfigurationError,
    EnvironmentFactoryError,
    InvalidRequest,
    SessionCapacityError,
    SessionError,
)
from openenv.runtime.hosts import Housing
from openenv.runtime.limits import Limits
from openenv.runtime.sessions import Sessions
from tests.server.worlds import Awaited, Do, Gate, Saw, Unbuildable, World


class Threads(Environment[Action, Observation]):
    """Knows the threads it was called on."""

    def __init__(self) -> None:
        super().__init__()
        self.threads = {threading.current_thread()}

    def reset(self, **options: Any) -> Observation:
        self.threads.add(threading.current_thread())
        return Observation()

    def step(self, action: Action) -> Observation:
        self.threads.add(threading.current_thread())
        return Observation()


@pytest.fixture
async def manager() -> AsyncIterator[WebInterfaceManager]:
    made = WebInterfaceManager(World, Do, Saw)
    yield made
    await made.close(10)


async def test_an_episode(manager: WebInterfaceManager) -> None:
    first = await manager.reset_environment({"episode_id": "e1", "seed": 3})
    assert first["observation"]["value"] == {"seed": 3}
    assert await manager.step_environment({"text": "hi"}) == {
        "observation": {"metadata": {}, "text": "hi", "value": None},
        "reward": 1.0,
        "done": False,
    }
    assert manager.get_state() == {"episode_id": "e1", "step_count": 1, "last": "hi"}
    record = manager.episode_state
    assert isinstance(record, EpisodeState)
    assert (record.episode_id, record.step_count, record.is_reset) == ("e1", 1, False)
    (log,) = record.action_logs
    assert isinstance(log, ActionLog)
    assert log.action == {"what": "say", "text": "hi", "number": 0}


async def test_what_it_shows(manager: WebInterfaceManager) -> None:
    assert manager.MAX_ACTION_LOGS == 1000
    assert (manager.action_cls, manager.observation_cls) == (Do, Saw)
    assert manager.metadata.name == "World"
    assert manager.connected_clients == []
    assert isinstance(manager.env, World)
    assert manager.env is manager.env


async def test_an_instance_is_the_environment() -> None:
    world = World()
    manager = WebInterfaceManager(world, Do, Saw)
    await manager.reset_environment()
    assert manager.env is world
    await manager.close(10)


async def test_an_action_that_is_not_valid(manager: WebInterfaceManager) -> None:
    await manager.reset_environment()
    with pytest.raises(InvalidRequest, match="number"):
        await manager.step_environment({"number": -1})
    assert manager.episode_state.action_logs == []


async def test_async_environments() -> None:
    manager = WebInterfaceManager(Awaited, Do, Saw)
    await manager.reset_environment()
    told = await manager.step_environment({"text": "hi", "number": 2})
    assert told["observation"]["text"] == "hi"
    await manager.close(10)


async def test_it_lives_on_one_thread() -> None:
    manager = WebInterfaceManager(Threads, Action, Observation)
    await manager.reset_environment()
    await manager.step_environment({})
    environment: Any = manager.env
    own = await manager._run_sync_in_thread_pool(threading.current_thread)
    await manager._run_sync_in_thread_pool(environment.step, Action())
    loop = asyncio.get_running_loop()
    assert own is await loop.run_in_executor(manager._executor, threading.current_thread)
    assert environment.threads == {own}
    await manager.close(10)


async def test_the_environment_may_be_asked_for_on_its_own_thread() -> None:
    manager = WebInterfaceManager(World, Do, Saw)
    assert isinstance(await manager._run_sync_in_thread_pool(lambda: manager.env), World)
    await manager.close(10)


async def test_looking_builds_nothing() -> None:
    manager = WebInterfaceManager(Unbuildable, Do, Saw)
    assert manager.get_state() == {"episode_id": None, "step_count": 0}
    with pytest.raises(EnvironmentFactoryError, match="no such level"):
        manager.env  # noqa: B018
    with pytest.raises(EnvironmentFactoryError, match="no such level"):
        await manager.reset_environment()
    await manager.close(10)


async def test_it_is_closed_with_its_environment() -> None:
    closed = threading.Event()

    class Closable(World):
        def close(self) -> None:
            closed.set()

    manager = WebInterfaceManager(Closable, Do, Saw)
    await manager.reset_environment()
    await manager.close(10)
    assert closed.is_set()
    with pytest.raises(RuntimeError, match="closed"):
        await manager.reset_environment()


def test_each_call_may_have_an_event_loop_of_its_own() -> None:
    manager = WebInterfaceManager(World, Do, Saw)
    asyncio.run(manager.reset_environment({"episode_id": "e1"}))
    asyncio.run(manager.step_environment({"text": "hi"}))
    assert manager.get_state()["step_count"] == 1
    asyncio.run(manager.close(10))


async def test_a_state_that_is_kept_for_it() -> None:
    class Stateless(Environment[Action, Observation, State]):
        def reset(self, **options: Any) -> Observation:
            return Observation()

        def step(self, action: Action) -> Observation:
            return Observation()

    manager = WebInterfaceManager(Stateless, Action, Observation)
    await manager.reset_environment({"episode_id": "e1"})
    await manager.step_environment({})
    assert manager.get_state() == {"episode_id": "e1", "step_count": 1}
    await manager.close(10)


class TestInAServer:
    """Its episode is a session of the server's."""

    async def test_it_counts_and_expires(self) -> None:
        sessions = _sessions(Limits(capacity=1))
        manager = WebInterfaceManager(sessions.spec, sessions=sessions)
        await manager.reset_environment({"episode_id": "e1"})
        assert sessions.active == 1
        with pytest.raises(SessionCapacityError):
            await sessions.open()
        environment = manager.env
        await sessions.close_all()
        assert manager.env is environment
        assert manager.get_state()["episode_id"] == "e1"
        await manager.close(10)

    async def test_a_session_that_ends_is_forgotten(self) -> None:
        sessions = _sessions(Limits(unattached_timeout=0.05))
        manager = WebInterfaceManager(sessions.spec, sessions=sessions)
        await manager.reset_environment({"episode_id": "e1"})
        while sessions.active:
            await asyncio.sleep(0.005)
        assert manager.episode_state == EpisodeState()
        await sessions.close_all()
        await manager.close(10)

    async def test_it_plays_on_the_servers_loop_for_functions_with_one_of_their_own(self) -> None:
        sessions = _sessions(Limits())
        manager = WebInterfaceManager(sessions.spec, sessions=sessions)
        manager.begin()
        told = await asyncio.to_thread(lambda: asyncio.run(manager.reset_environment()))
        assert told["observation"]["text"] == "ready"
        await sessions.close_all()
        await manager.close(10)

    async def test_a_server_may_begin_again(self) -> None:
        sessions = _sessions(Limits())
        manager = WebInterfaceManager(sessions.spec, sessions=sessions)
        environments = set()
        for _ in range(2):
            manager.begin()
            await manager.reset_environment({"episode_id": "e1"})
            assert (await manager.step_environment({"text": "hi"}))["reward"] == 1.0
            assert manager.get_state()["step_count"] == 1
            environments.add(manager.env)
            await sessions.close_all()
            await manager.close(10)
        assert len(environments) == 2

    async def test_elsewhere_it_has_nothing_in_hand_and_plays(self) -> None:
        sessions = _sessions(Limits(), Housing("process"))
        manager = WebInterfaceManager(sessions.spec, sessions=sessions)
        with pytest.raises(ConfigurationError, match="out of reach"):
            manager.env  # noqa: B018
        assert manager.get_state()["step_count"] == 0
        await manager.reset_environment({"episode_id": "e1"})
        await manager.step_environment({"text": "hi"})
        assert manager.get_state() == {"episode_id": "e1", "step_count": 1, "last": "hi"}
        await sessions.close_all()
        await manager.close(10)

    async def test_on_the_one_thread_of_all_others(self) -> None:
        class Affine(World):
            REQUIRES_SINGLE_THREAD_EXECUTOR = True

        sessions = Sessions(EnvSpec.of(Affine), Limits())
        manager = WebInterfaceManager(sessions.spec, sessions=sessions)
        with pytest.raises(ConfigurationError, match="all on one thread"):
            manager.env  # noqa: B018
        assert (await manager.reset_environment())["observation"]["text"] == "ready"
        await sessions.close_all()
        await manager.close(10)

    async def test_a_call_that_hangs_is_not_waited_for(self) -> None:
        gate = World.gate = Gate()
        sessions = _sessions(Limits(close_grace=0.05))
        manager = WebInterfaceManager(sessions.spec, sessions=sessions)
        await manager.reset_environment()
        hanging = asyncio.ensure_future(manager.step_environment({"what": "wait"}))
        await asyncio.to_thread(gate.wait_until_entered)
        await sessions.close_all()
        with pytest.raises(SessionError):
            await hanging
        await manager.close(0.05)
        gate.opened.set()


def _sessions(limits: Limits, housing: Housing | None = None) -> Sessions:
    return Sessions(EnvSpec.of(World), limits, housing)
