"""Calls that are broken off: no answer is ever taken for another's, and a reset heals.

What only v1 loses by it is asked of v1; see `test_patience` for v2.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from openenv import ReplyTimeout, SessionLost
from openenv.client import drivers
from openenv.protocol.errors import ConcurrentCall
from tests.client.ways import Ask, Way, until
from tests.client.worlds import Gate, ParrotClient, Pausing, Say
from tests.serving import Served, eventually


class OutOfTimeError(Exception):
    """What a trainer's alarm raises."""


def _heals(client: Any) -> None:
    """After an interrupted step: it says so, and the next episode is in order."""
    for _ in range(2):
        with pytest.raises(SessionLost, match="reset"):
            client.step(Say(text="wrong"))
        with pytest.raises(SessionLost):
            client.state()
    assert client.reset(seed=7, episode_id="next").observation.seed == 7
    for number in range(1, 4):
        result = client.step(Say(text=f"right {number}"))
        assert (result.observation.text, result.observation.step) == (f"right {number}", number)
    assert (client.state().episode_id, client.state().step_count) == ("next", 3)


@contextmanager
def signalled_in(gate: Gate, number: int) -> Iterator[None]:
    """Sends this thread a signal once a step stands at the gate."""

    def send() -> None:
        gate.await_entered()
        signal.pthread_kill(main, number)

    main = threading.main_thread().ident or 0
    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        sender.join()
        gate.opened.set()


def _raise_out_of_time(number: int, frame: object) -> None:
    raise OutOfTimeError


@pytest.fixture
def alarm() -> Iterator[None]:
    """SIGALRM raises, as trainers let it."""
    before = signal.signal(signal.SIGALRM, _raise_out_of_time)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("operation", ["step", "reset"])
def test_an_alarm_in_a_call(url: str, alarm: None, operation: str) -> None:
    with ParrotClient(base_url=url, protocol="v1") as client:
        client.reset(episode_id="first")
        client.step(Say(text="a"))
        for _ in range(3):
            gate = Gate()
            with pytest.raises(OutOfTimeError), signalled_in(gate, signal.SIGALRM):
                if operation == "step":
                    client.step(Say(text="slow", gate=gate.name))
                else:
                    client.reset(gate=gate.name)
            _heals(client)


def test_ctrl_c_in_a_call(url: str) -> None:
    with ParrotClient(base_url=url, protocol="v1") as client:
        client.reset(episode_id="first")
        gate = Gate()
        with pytest.raises(KeyboardInterrupt), signalled_in(gate, signal.SIGINT):
            client.step(Say(text="slow", gate=gate.name))
        _heals(client)


def test_an_interrupted_call_frees_its_slot_without_a_reset(
    parrots: Served, url: str, alarm: None
) -> None:
    client = ParrotClient(base_url=url, protocol="v1")
    client.reset()
    gate = Gate()
    with pytest.raises(OutOfTimeError), signalled_in(gate, signal.SIGALRM):
        client.step(Say(gate=gate.name))
    eventually(lambda: parrots.openenv.active_sessions == 0)
    client.close()


@pytest.mark.expects_error_log  # of the frame's parser, which an alarm may strike
def test_alarms_at_any_moment_never_shift_an_answer(
    url: str, protocol: str | None, alarm: None
) -> None:
    """The alarm strikes wherever it likes: whatever is answered afterwards fits what was asked."""
    with ParrotClient(base_url=url, protocol=protocol) as client:
        client.reset()
        asked = 0
        for strike in range(60):
            client.reset()
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.0001 * (strike % 12))
                while True:
                    asked += 1
                    text = f"question {asked}"
                    assert client.step(Say(text=text)).observation.text == text
            except (OutOfTimeError, SessionLost):  # the latter if it struck the frame's parser
                pass
            with suppress(SessionLost):  # or it struck between two calls
                assert client.step(Say(text="after")).observation.text == "after"
        assert client.reset(seed=3, episode_id="calm").observation.seed == 3
        assert client.step(Say(text="calm")).observation.step == 1
        assert client.state().episode_id == "calm"


@pytest.mark.parametrize("how", ["cancel", "wait_for"])
async def test_a_cancelled_call(parrots: Served, url: str, how: str) -> None:
    async with Pausing(base_url=url, protocol="v1") as client:
        await client.reset(episode_id="first")
        await client.step(Say(text="a"))
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
        await until(client, _awaited, lambda: parrots.openenv.active_sessions == 0)
        with pytest.raises(SessionLost, match="reset"):
            await client.step(Say(text="wrong"))
        assert (await client.reset(seed=7, episode_id="next")).observation.seed == 7
        assert (await client.step(Say(text="right"))).observation.text == "right"
        state = await client.state()
        assert (state.episode_id, state.step_count) == ("next", 1)


async def _awaited(call: Any) -> Any:
    return await call


async def test_a_cancelled_close_lets_go_all_the_same(
    parrots: Served, url: str, protocol: str | None
) -> None:
    client = Pausing(base_url=url, protocol=protocol)
    await client.reset()
    closing = asyncio.create_task(client.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await until(client, _awaited, lambda: parrots.openenv.active_sessions == 0)


@pytest.mark.parametrize("patience", ["of the client", "of the call"])
def test_a_call_that_takes_too_long(v1_way: Way, patience: str) -> None:
    of_client, of_call = (0.05, None) if patience == "of the client" else (60.0, 0.05)

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset(timeout_s=10))
        gate = Gate()
        with pytest.raises(ReplyTimeout, match="within 0.05 s") as caught:
            await ask(client.step(Say(gate=gate.name), timeout_s=of_call))
        assert isinstance(caught.value, TimeoutError)
        gate.opened.set()
        with pytest.raises(SessionLost):
            await ask(client.step(Say(text="wrong"), timeout_s=10))
        assert (await ask(client.reset(seed=7, timeout_s=10))).observation.seed == 7
        assert (await ask(client.step(Say(text="right"), timeout_s=10))).observation.step == 1

    v1_way.run(talk, v1_way.client(message_timeout_s=of_client))


@pytest.mark.parametrize("patience", [float("inf"), None])
def test_a_call_may_be_given_more_time_than_the_client_has(
    socket_way: Way, patience: float | None
) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset(timeout_s=10))
        gate = Gate()
        threading.Timer(0.2, gate.opened.set).start()
        result = await ask(client.step(Say(text="slow", gate=gate.name), timeout_s=10))
        assert result.observation.text == "slow"

    socket_way.run(talk, socket_way.client(message_timeout_s=0.02))
    socket_way.run(_short, socket_way.client(message_timeout_s=patience))


async def _short(client: Any, ask: Ask) -> None:
    assert (await ask(client.reset(seed=1))).observation.seed == 1


def test_a_second_call_in_another_thread_is_refused_and_the_first_unharmed(url: str) -> None:
    with ParrotClient(base_url=url) as client:
        client.reset(episode_id="one")
        gate = Gate()
        results: list[Any] = []
        first = threading.Thread(
            target=lambda: results.append(client.step(Say(text="first", gate=gate.name)))
        )
        first.start()
        gate.await_entered()
        calls: list[Callable[[], Any]] = [
            lambda: client.step(Say(text="second")),
            client.state,
            client.reset,
        ]
        for call in calls:
            with pytest.raises(ConcurrentCall, match="one client per rollout"):
                call()
        gate.opened.set()
        first.join()
        assert results[0].observation.text == "first"
        assert client.step(Say(text="third")).observation.step == 2
        assert client.state().episode_id == "one"


async def test_a_second_call_on_the_loop_is_refused_and_the_first_unharmed(url: str) -> None:
    async with ParrotClient(base_url=url) as client:
        await client.reset()
        results: Any = await asyncio.gather(
            client.step(Say(text="first")), client.step(Say(text="second")), return_exceptions=True
        )
        assert results[0].observation.text == "first"
        assert isinstance(results[1], ConcurrentCall)
        assert (await client.step(Say(text="third"))).observation.step == 2


async def test_two_first_calls_open_one_session(parrots: Served, url: str) -> None:
    client = ParrotClient(base_url=url)
    results: Any = await asyncio.gather(
        client.reset(seed=1), client.reset(seed=2), return_exceptions=True
    )
    assert results[0].observation.seed == 1
    assert isinstance(results[1], ConcurrentCall)
    assert parrots.openenv.active_sessions == 1
    await client.close()


def test_threads_that_share_a_client_get_their_own_answers_or_are_refused(url: str) -> None:
    client = ParrotClient(base_url=url)
    wrong: list[object] = []
    barrier = threading.Barrier(4)

    def hammer(name: int) -> None:
        barrier.wait()
        for number in range(50):
            text = f"{name}-{number}"
            try:
                if (got := client.step(Say(text=text)).observation.text) != text:
                    wrong.append((text, got))
            except ConcurrentCall:
                pass

    client.reset()
    threads = [threading.Thread(target=hammer, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert client.step(Say(text="calm")).observation.text == "calm"
    client.close()


def test_close_in_another_thread_lets_the_running_call_end(url: str) -> None:
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


def test_close_gives_up_a_call_that_hangs(
    v1_way: Way, parrots: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drivers, "CLOSE_TIMEOUT_S", 0.1)
    gate = Gate()
    lost: list[BaseException] = []

    def hang(client: Any) -> None:
        try:
            client.step(Say(gate=gate.name))
        except SessionLost as error:
            lost.append(error)

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        if v1_way.colour == "awaiting":
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
        assert isinstance(lost[0], SessionLost)
        gate.opened.set()

    v1_way.run(talk, v1_way.client(Pausing))
    eventually(lambda: parrots.openenv.active_sessions == 0)
