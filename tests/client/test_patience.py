"""v2: a call that is given up leaves the session as it is; the next one comes after it."""

import asyncio
import gc
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from openenv import ReplyTimeout, SessionLost
from openenv.client import lifeline
from openenv.runtime.limits import Limits
from openenv.server import channel
from tests.client.test_interruption import OutOfTimeError, signalled_in
from tests.client.ways import Ask, Way, talking, until
from tests.client.worlds import Gate, Parrot, ParrotClient, Pausing, Say
from tests.serving import Served, eventually, serving


async def _goes_on(client: Any, ask: Ask, step: int) -> None:
    """What is asked now is answered, as the so-manieth step of the first episode."""
    state = await ask(client.state())
    assert (state.episode_id, state.step_count) == ("first", step - 1)
    result = await ask(client.step(Say(text="on")))
    assert (result.observation.text, result.observation.step) == ("on", step)


async def _begins_anew(client: Any, ask: Ask) -> None:
    assert (await ask(client.reset(seed=7, episode_id="next"))).observation.seed == 7
    assert (await ask(client.step(Say(text="right")))).observation.step == 1
    state = await ask(client.state())
    assert (state.episode_id, state.last) == ("next", "right")


@pytest.mark.parametrize("patience", ["of the client", "of the call"])
def test_after_a_slow_step_the_episode_goes_on(v2_way: Way, patience: str) -> None:
    of_client, of_call = (0.05, None) if patience == "of the client" else (None, 0.05)

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset(episode_id="first", timeout_s=10))
        for step in (1, 3):
            gate = Gate()
            with pytest.raises(ReplyTimeout, match="within 0.05 s; the session goes on") as caught:
                await ask(client.step(Say(text="slow", gate=gate.name), timeout_s=of_call))
            assert isinstance(caught.value, TimeoutError)
            gate.opened.set()
            assert (await ask(client.state(timeout_s=10))).step_count == step
            assert (await ask(client.step(Say(text="on"), timeout_s=10))).observation.text == "on"
            assert (await ask(client.state(timeout_s=10))).step_count == step + 1

    v2_way.run(talk, v2_way.client(message_timeout_s=of_client))


def test_calls_wait_behind_a_step_that_still_runs(v2_way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset(episode_id="first"))
        gate = Gate()
        calls: list[Callable[[], Any]] = [
            lambda: client.step(Say(text="slow", gate=gate.name), timeout_s=0.05),
            lambda: client.step(Say(text="behind"), timeout_s=0.05),
            lambda: client.state(timeout_s=0.05),
        ]
        for call in calls:
            with pytest.raises(ReplyTimeout):
                await ask(call())
        gate.opened.set()
        await _goes_on(client, ask, 3)

    v2_way.run(talk)


@pytest.mark.parametrize("hangs", [False, True], ids=["slow", "hung"])
def test_a_reset_after_a_step_that_was_given_up(
    v2_way: Way, parrots: Served, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    """It waits for a slow step; a hung one is left with its session, whose slot is freed."""
    if hangs:
        monkeypatch.setattr(lifeline, "FINISH_S", 0.1)
        monkeypatch.setattr(channel, "LAST_CALL_S", 0.1)
    gate = Gate()

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset(episode_id="first"))
        with pytest.raises(ReplyTimeout):
            await ask(client.step(Say(text="slow", gate=gate.name), timeout_s=0.05))
        if not hangs:
            gate.opened.set()
        await _begins_anew(client, ask)
        gate.opened.set()
        await until(client, ask, lambda: parrots.openenv.active_sessions == 1)
        await _begins_anew(client, ask)

    v2_way.run(talk, v2_way.client(Pausing))


def test_a_reset_that_was_given_up_is_carried_out_before_the_next(v2_way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset(episode_id="zeroth"))
        gate = Gate()
        with pytest.raises(ReplyTimeout):
            await ask(client.reset(episode_id="first", gate=gate.name, timeout_s=0.05))
        gate.opened.set()
        await _goes_on(client, ask, 1)
        await _begins_anew(client, ask)

    v2_way.run(talk)


def test_a_reset_that_opened_no_session_leaves_none_to_step_in(colour: str) -> None:
    """Its session may come to be: nobody asked for an episode in it."""

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        gate = Gate()
        with pytest.raises(SessionLost):
            await until_lost(client, ask, gate)
        with pytest.raises(ReplyTimeout):
            await ask(client.reset(timeout_s=0.05))
        for call in (lambda: client.step(Say(text="wrong")), client.state):
            with pytest.raises(SessionLost, match="the last reset.. opened no session"):
                await ask(call())
        Slow.gate.opened.set()
        await _begins_anew(client, ask)

    class Slow(Parrot):
        """The second takes its time to be built."""

        gate = Gate()
        built = 0

        def __init__(self) -> None:
            super().__init__()
            Slow.built += 1
            if Slow.built == 2:
                self.gate.pass_through()

    async def until_lost(client: Any, ask: Ask, gate: Gate) -> None:
        await until(client, ask, lambda: served.openenv.active_sessions == 0)
        await ask(client.step(Say(text="late")))

    with serving(Slow, limits=Limits(idle_timeout=0.1)) as served:
        talking(colour, talk, Pausing(base_url=f"http://127.0.0.1:{served.port}"))


@pytest.mark.parametrize("how", ["cancel", "wait_for"])
async def test_a_cancelled_call(url: str, how: str) -> None:
    async with Pausing(base_url=url) as client:
        await client.reset(episode_id="first")
        gate = Gate()
        call: Any = client.step(Say(text="slow", gate=gate.name))
        if how == "cancel":
            task = asyncio.create_task(call)
            await until(client, _awaited, gate.entered.is_set)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(call, 0.05)
        gate.opened.set()
        await _goes_on(client, _awaited, 2)
        await _begins_anew(client, _awaited)


async def _awaited(call: Any) -> Any:
    return await call


async def _done(result: Any) -> Any:
    return result


def _run(talk: Any) -> None:
    with pytest.raises(StopIteration):
        talk.send(None)


@pytest.mark.parametrize("operation", ["step", "reset"])
def test_an_alarm_in_a_call(url: str, operation: str) -> None:
    before = signal.signal(signal.SIGALRM, _raise_out_of_time)
    try:
        with ParrotClient(base_url=url) as client:
            for _ in range(3):
                client.reset(episode_id="first")
                gate = Gate()
                with pytest.raises(OutOfTimeError), signalled_in(gate, signal.SIGALRM):
                    if operation == "step":
                        client.step(Say(text="slow", gate=gate.name))
                    else:
                        client.reset(gate=gate.name, episode_id="first")
                _run(_goes_on(client, _done, 2 if operation == "step" else 1))
                _run(_begins_anew(client, _done))
    finally:
        signal.signal(signal.SIGALRM, before)


def _raise_out_of_time(number: int, frame: object) -> None:
    raise OutOfTimeError


def test_ctrl_c_in_a_call(url: str) -> None:
    with ParrotClient(base_url=url) as client:
        client.reset(episode_id="first")
        gate = Gate()
        with pytest.raises(KeyboardInterrupt), signalled_in(gate, signal.SIGINT):
            client.step(Say(text="slow", gate=gate.name))
        _run(_goes_on(client, _done, 2))
        _run(_begins_anew(client, _done))


def test_close_ends_a_call_that_hangs(colour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another thread or task: who made the call is told, and nothing is opened again."""
    monkeypatch.setattr(channel, "LAST_CALL_S", 0.05)
    gate = Gate()
    lost: list[BaseException] = []

    def hang(client: Any) -> None:
        try:
            client.step(Say(gate=gate.name))
        except SessionLost as error:
            lost.append(error)

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        await ask(client.step(Say(text="a")))
        if colour == "awaiting":
            step: Any = asyncio.ensure_future(client.step(Say(gate=gate.name)))
            await until(client, ask, gate.entered.is_set)
            await client.close()
            lost.extend(await asyncio.gather(step, return_exceptions=True))
        else:
            step = threading.Thread(target=hang, args=(client,))
            step.start()
            gate.await_entered()
            client.close()
            step.join()
        gate.opened.set()
        assert isinstance(lost[0], SessionLost)

    with serving(Parrot) as served:
        talking(colour, talk, Pausing(base_url=f"http://127.0.0.1:{served.port}"))
        eventually(lambda: served.openenv.active_sessions == 0, within_s=2)


def test_a_client_that_is_forgotten_in_a_call_frees_its_slot_when_the_call_ends() -> None:
    gate = Gate()
    with serving(Parrot) as served:
        client = ParrotClient(base_url=f"http://127.0.0.1:{served.port}")
        client.reset()
        with pytest.raises(ReplyTimeout):
            client.step(Say(gate=gate.name), timeout_s=0.05)
        del client
        gc.collect()
        threading.Timer(0.1, gate.opened.set).start()
        eventually(lambda: served.openenv.active_sessions == 0, within_s=2)


def test_close_in_another_thread_lets_a_call_end_that_can(url: str) -> None:
    client = ParrotClient(base_url=url)
    client.reset()
    gate = Gate()
    results: list[Any] = []
    running = threading.Thread(
        target=lambda: results.append(client.step(Say(text="last", gate=gate.name)))
    )
    running.start()
    gate.await_entered()
    closing = threading.Thread(target=client.close)
    closing.start()
    gate.opened.set()
    running.join()
    closing.join()
    assert results[0].observation.text == "last"
    with pytest.raises(SessionLost, match="closed"):
        client.step(Say(text="late"))


def test_the_servers_limits_are_the_clients_patience(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.connect())
        patience = client._conversation._patience
        assert (patience("step", None), patience("reset", None)) == (510.0, float("inf"))
        assert (patience("step", 3.0), patience("reset", 3.0)) == (3.0, 3.0)

    with serving(Parrot, limits=Limits(step_timeout=500, reset_timeout=None)) as served:
        url = f"http://127.0.0.1:{served.port}"
        talking(colour, talk, ParrotClient(base_url=url))
        told = ParrotClient(base_url=url, message_timeout_s=60.0 + 1)
        assert told._conversation._patience("step", None) == 61.0


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # a loop that is closed closes no sockets
def test_a_second_event_loop_resumes_the_session(url: str) -> None:
    client = ParrotClient(base_url=url)
    asyncio.run(_first(client))
    gc.collect()
    asyncio.run(_second(client))
    gc.collect()


def test_a_second_event_loop_resumes_the_session_while_the_first_runs(url: str) -> None:
    """What the first one holds goes without a word: no farewell ends the session."""
    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()
    running = threading.Thread(target=first.run_forever)
    running.start()
    try:
        for _ in range(5):
            client = ParrotClient(base_url=url)
            asyncio.run_coroutine_threadsafe(_first(client), first).result()
            second.run_until_complete(_second(client))
    finally:
        first.call_soon_threadsafe(first.stop)
        running.join()
        first.close()
        second.close()


async def _first(client: Any) -> None:
    await client.reset(episode_id="first")
    await client.step(Say(text="a"))


async def _second(client: Any) -> None:
    await _goes_on(client, _awaited, 2)
    await client.close()
