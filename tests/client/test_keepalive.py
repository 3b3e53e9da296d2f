"""Connections that nobody uses for a while stay, and dead ones are noticed."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openenv import ConnectFailed, GenericEnvClient, SessionLost
from tests.client.peers import Deaf, raw
from tests.client.ways import Ask, Way, talking, until
from tests.client.worlds import Gate, Parrot, ParrotClient, Pausing, Say
from tests.serving import Served, eventually, serving

ROOT = Path(__file__).parents[2]


@pytest.fixture
def pinging() -> Iterator[Served]:
    """A server that pings often and has little patience."""
    with serving(Parrot) as served:
        served.server.config.ws_ping_interval = 0.3
        served.server.config.ws_ping_timeout = 0.5
        yield served


def test_an_idle_client_answers_pings(colour: str, pinging: Served) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset(episode_id="one"))
        await ask(client.pause(1.2))
        assert (await ask(client.step(Say(text="hi")))).observation.text == "hi"
        assert (await ask(client.state())).episode_id == "one"

    talking(colour, talk, Pausing(base_url=f"http://127.0.0.1:{pinging.port}"))


def test_a_client_in_a_long_step_answers_pings(colour: str, pinging: Served) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        gate = Gate()
        threading.Timer(1.2, gate.opened.set).start()
        result = await ask(client.step(Say(text="slow", gate=gate.name)))
        assert result.observation.text == "slow"

    talking(colour, talk, ParrotClient(base_url=f"http://127.0.0.1:{pinging.port}"))


def test_many_idle_clients_answer_pings(pinging: Served) -> None:
    clients = [ParrotClient(base_url=f"http://127.0.0.1:{pinging.port}") for _ in range(32)]
    for client in clients:
        client.reset()
    threading.Event().wait(1.2)
    for client in clients:
        assert client.step(Say(text="hi")).observation.step == 1
    for client in clients:
        client.close()


def test_a_client_that_pings_is_answered(socket_way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        await ask(client.pause(0.6))
        gate = Gate()
        threading.Timer(0.4, gate.opened.set).start()
        await ask(client.step(Say(text="slow", gate=gate.name)))
        assert (await ask(client.step(Say(text="hi")))).observation.step == 2

    options = {"websocket_ping_interval_s": 0.1, "websocket_ping_timeout_s": 0.9}
    socket_way.run(talk, socket_way.client(Pausing, **options))


@pytest.mark.parametrize(
    "options",
    [
        {"websocket_ping_interval_s": None},
        {"websocket_ping_interval_s": 0.1, "websocket_ping_timeout_s": None},
    ],
    ids=["no pings", "no hurry"],
)
def test_a_tunnel_that_swallows_pings(colour: str, options: dict[str, Any]) -> None:
    deaf = Deaf()

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        for number in range(2, 4):
            await ask(client.pause(0.3))
            assert (await ask(client.step(Say()))).observation.text == str(number)

    with raw(deaf) as port:
        talking(colour, talk, Pausing(base_url=f"http://127.0.0.1:{port}", **options))
    assert (deaf.pings == 0) == (options["websocket_ping_interval_s"] is None)


def test_a_dead_peer_is_noticed_in_a_call(colour: str) -> None:
    deaf = Deaf(hung=1)

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        with pytest.raises(SessionLost, match="keepalive ping timeout"):
            await ask(client.step(Say()))
        await until(client, ask, deaf.left.is_set)

    with raw(deaf) as port:
        client = Pausing(
            base_url=f"http://127.0.0.1:{port}",
            websocket_ping_interval_s=0.1,
            websocket_ping_timeout_s=0.1,
        )
        talking(colour, talk, client)


def test_a_dead_peer_is_noticed_while_idle(colour: str) -> None:
    deaf = Deaf(hung=1)

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        await until(client, ask, deaf.left.is_set)
        with pytest.raises(SessionLost, match="keepalive ping timeout"):
            await ask(client.step(Say()))
        assert (await ask(client.reset())).observation.text == "2"

    with raw(deaf) as port:
        client = Pausing(
            base_url=f"http://127.0.0.1:{port}",
            websocket_ping_interval_s=0.1,
            websocket_ping_timeout_s=0.1,
            message_timeout_s=5,
        )
        deaf_again(deaf)
        talking(colour, talk, client)


def deaf_again(deaf: Deaf) -> None:
    """After the first connection has gone, it hears everything."""

    def forgive() -> None:
        deaf.left.wait(10)
        deaf.hung = None

    threading.Thread(target=forgive, daemon=True).start()


@pytest.fixture
def doomed() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server in a process of its own, to be killed."""
    program = (
        "from openenv import serve; from tests.client.worlds import Parrot; serve(Parrot, port=0)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        yield process.stderr.readline().split()[-1], process
        process.kill()


def test_a_server_that_is_killed_in_a_step(
    colour: str,
    protocol: str | None,
    doomed: tuple[str, subprocess.Popen[str]],
    impatient: None,
) -> None:
    url, process = doomed

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        os.kill(process.pid, signal.SIGSTOP)  # it takes the request and does not answer
        threading.Timer(0.1, process.kill).start()
        with pytest.raises(ConnectFailed if protocol is None else SessionLost):
            await ask(client.step({"text": "hi"}))
        with pytest.raises(ConnectionError):
            await ask(client.reset())

    talking(colour, talk, GenericEnvClient(base_url=url, connect_retries=0, protocol=protocol))


def test_a_server_that_ends_tells_its_idle_clients(
    colour: str, protocol: str | None, impatient: None
) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        served.server.should_exit = True
        await until(client, ask, lambda: served.openenv.active_sessions == 0)
        with pytest.raises(ConnectFailed if protocol is None else SessionLost):
            await ask(client.step(Say()))

    with serving(Parrot) as served:
        url = f"http://127.0.0.1:{served.port}"
        talking(colour, talk, Pausing(base_url=url, protocol=protocol))


async def test_a_loop_that_is_busy_elsewhere_keeps_its_connection(url: str) -> None:
    async with ParrotClient(base_url=url) as client:
        await client.reset()
        await asyncio.gather(*(asyncio.sleep(0.01) for _ in range(10)))
        assert (await client.step(Say(text="hi"))).observation.step == 1


def test_the_keeper_ends_when_there_is_nothing_to_keep(url: str) -> None:
    def keepers() -> int:
        return sum(thread.name == "openenv-keeper" for thread in threading.enumerate())

    with ParrotClient(base_url=url) as client:
        client.reset()
        assert keepers() == 1
    eventually(lambda: keepers() == 0)
