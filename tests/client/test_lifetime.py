"""What a client holds, and that all of it is given back."""

import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import pytest

from openenv import local
from openenv.client.transports import keeper
from tests.client.ways import Ask, Way
from tests.client.worlds import Heard, Parrot, ParrotClient, Say
from tests.serving import Served, eventually, serving

ROOT = Path(__file__).parents[2]


def test_nothing_connects_before_the_first_call(parrots: Served, url: str) -> None:
    client = ParrotClient(base_url=url)
    assert parrots.openenv.active_sessions == 0
    client.reset()
    assert parrots.openenv.active_sessions == 1
    client.close()
    ParrotClient(base_url="http://127.0.0.1:9").close()  # nobody is there, nobody is asked


def test_close_frees_the_slot_before_it_returns(socket_way: Way, parrots: Served) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        for _ in range(20):
            await ask(client.reset())
            assert parrots.openenv.active_sessions == 1
            await ask(client.close())
            assert parrots.openenv.active_sessions == 0

    socket_way.run(talk)


class SlowToClose(Parrot):
    """Takes its time to close."""

    closed = 0

    def close(self) -> None:
        time.sleep(0.3)
        SlowToClose.closed += 1


def test_close_waits_for_an_environment_that_takes_its_time(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        before = SlowToClose.closed
        await ask(client.reset())
        await ask(client.close())
        assert SlowToClose.closed == before + 1
        assert served.openenv.active_sessions == 0

    with serving(SlowToClose) as served:
        way = Way(colour, f"http://127.0.0.1:{served.port}")
        way.run(talk)


def test_close_does_not_raise_when_the_server_is_gone(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        served.server.should_exit = True
        eventually(lambda: not served.server.servers[0].is_serving())
        await ask(client.close())
        await ask(client.close())

    with serving(Parrot) as served:
        Way(colour, f"http://127.0.0.1:{served.port}").run(talk)


@pytest.mark.parametrize("form", ["client", "sync"])
def test_a_blocking_client_that_is_dropped_frees_its_slot(
    parrots: Served, url: str, form: str
) -> None:
    gc.disable()  # what is in no cycle goes at once
    try:
        client: Any = ParrotClient(base_url=url)
        client = client.sync() if form == "sync" else client
        client.reset()
        assert parrots.openenv.active_sessions == 1
        del client
        eventually(lambda: parrots.openenv.active_sessions == 0)
    finally:
        gc.enable()


async def test_an_awaiting_client_that_is_dropped_frees_its_slot(parrots: Served, url: str) -> None:
    client = ParrotClient(base_url=url)
    await client.reset()
    assert parrots.openenv.active_sessions == 1
    del client
    gc.collect()
    deadline = time.monotonic() + 10
    while parrots.openenv.active_sessions:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


def test_the_keeper_holds_no_client(url: str) -> None:
    client = ParrotClient(base_url=url)
    client.reset()
    assert client._blocking.transport is not None
    socket = weakref.ref(client._blocking.transport)
    rounds = Rounds()
    keeper.keep(rounds)
    eventually(lambda: rounds.count >= 2)
    client.close()
    del client
    eventually(lambda: socket() is None)


class Rounds:
    """Counts how often the keeper came by."""

    count = 0

    def tend(self) -> bool:
        self.count += 1
        return self.count < 2


def test_two_hundred_clients_leave_nothing_behind(colour: str, parrots: Served, url: str) -> None:
    def use() -> None:
        client = ParrotClient(base_url=url)
        client.reset()
        client.close()

    async def use_awaiting() -> None:
        async with ParrotClient(base_url=url) as client:
            await client.reset()

    async def use_many(times: int) -> None:
        for _ in range(times):
            await use_awaiting()

    def used(times: int) -> tuple[int, int]:
        if colour == "awaiting":
            asyncio.run(use_many(times))
        else:
            for _ in range(times):
                use()
        gc.collect()
        eventually(lambda: parrots.openenv.active_sessions == 0)
        return threading.active_count(), len(os.listdir("/proc/self/fd"))

    threads, files = used(3)
    eventually(lambda: used(1)[1] <= files)
    used(200)
    eventually(lambda: threading.active_count() <= threads)
    eventually(lambda: len(os.listdir("/proc/self/fd")) <= files)


def test_many_clients_in_many_threads(parrots: Served, url: str) -> None:
    wrong: list[object] = []
    ready = threading.Barrier(32)

    def work(name: int) -> None:
        with ParrotClient(base_url=url) as client:
            seed = client.reset(seed=name).observation.seed
            ready.wait(15)
            texts = [f"{name}-{number}" for number in range(20)]
            heard = [client.step(Say(text=text)).observation.text for text in texts]
            if (seed, heard, client.state().step_count) != (name, texts, 20):
                wrong.append((name, seed, heard))

    workers = [threading.Thread(target=work, args=(name,)) for name in range(32)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
    assert parrots.openenv.active_sessions == 0


def test_a_client_may_go_from_thread_to_thread(url: str) -> None:
    client = ParrotClient(base_url=url)
    seen: list[Any] = []
    calls: list[Any] = [client.reset, *[lambda: client.step(Say(text="hi"))] * 3, client.close]
    for call in calls:
        thread = threading.Thread(target=lambda call=call: seen.append(call()))
        thread.start()
        thread.join()
    assert [result.observation.step for result in seen[:-1]] == [0, 1, 2, 3]


def run(program: str, *arguments: str) -> str:
    """What a program prints; it must end by itself, in good order."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PRELUDE + program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=15,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


PRELUDE = """
import asyncio, json, multiprocessing, os, sys
from openenv import GenericEnvClient, SessionLost
url = sys.argv[1] if len(sys.argv) > 1 else ""
"""

LEAVE_BLOCKING = """
client = GenericEnvClient(base_url=url)
client.reset()
print(client.step({"text": "hi"}).reward)
"""

LEAVE_AWAITING = """
async def main():
    client = GenericEnvClient(base_url=url)
    await client.reset()
    print((await client.step({"text": "hi"})).reward)
asyncio.run(main())
"""


@pytest.mark.parametrize("program", [LEAVE_BLOCKING, LEAVE_AWAITING], ids=["blocking", "awaiting"])
def test_a_program_may_end_without_close(parrots: Served, url: str, program: str) -> None:
    assert run(program, url) == "2.0\n"
    eventually(lambda: parrots.openenv.active_sessions == 0)


FORK = """
client = GenericEnvClient(base_url=url)
client.reset(episode_id="parent")
client.step({"text": "before"})
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    told = []
    for _ in range(2):
        try:
            client.step({"text": "stolen"})
        except SessionLost as error:
            told.append("fork" in str(error))
    client.reset(episode_id="child")
    client.step({"text": "own"})
    told.append(client.state()["episode_id"])
    client.close()
    os.write(writer, json.dumps(told).encode())
    os._exit(0)
os.waitpid(child, 0)
told = json.loads(os.read(reader, 1000))
step = client.step({"text": "after"}).observation["step"]
print(json.dumps([told, step, client.state()["episode_id"]]))
client.close()
"""


def test_after_a_fork_the_session_stays_with_the_parent(url: str) -> None:
    assert json.loads(run(FORK, url)) == [[True, True, "child"], 2, "parent"]


FORK_IN_A_CALL = """
import threading, time
client = GenericEnvClient(base_url=url, connect_retries=0)
client.reset(episode_id="parent")
asking = threading.Thread(target=lambda: [client.step({"text": "hi"}) for _ in range(300)])
asking.start()
codes = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        client.reset(episode_id="child")
        state = client.state()
        client.close()
        os._exit(7 if state["episode_id"] == "child" else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
asking.join()
print(json.dumps([codes, client.state()["step_count"], client.state()["episode_id"]]))
client.close()
"""


def test_a_fork_while_another_thread_is_in_a_call(url: str) -> None:
    assert json.loads(run(FORK_IN_A_CALL, url)) == [[7] * 10, 300, "parent"]


FORK_AWAITING = """
async def main():
    client = GenericEnvClient(base_url=url)
    await client.reset(episode_id="parent")
    child = os.fork()
    if child == 0:
        os._exit(child_main(client))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    step = (await client.step({"text": "after"})).observation["step"]
    await client.close()
    print(json.dumps([code, step]))

def child_main(client):
    asyncio.events._set_running_loop(None)
    async def use():
        try:
            await client.step({"text": "stolen"})
        except SessionLost:
            await client.reset(episode_id="child")
            state = await client.state()
            await client.close()
            return 7 if state["episode_id"] == "child" else 1
    return asyncio.new_event_loop().run_until_complete(use())

asyncio.run(main())
"""


def test_after_a_fork_on_a_loop_the_session_stays_with_the_parent(url: str) -> None:
    assert json.loads(run(FORK_AWAITING, url)) == [7, 1]


SPAWN = """
def work(client):
    with client:
        client.reset(episode_id="child")
        return client.state()["episode_id"]

if __name__ == "__main__":
    import pickle
    client = GenericEnvClient(base_url=url)
    client.reset(episode_id="parent")
    sent = pickle.dumps(client)
    with pickle.loads(sent) as other:
        other.reset(episode_id="child")
        print(other.state()["episode_id"], client.state()["episode_id"])
    client.close()
"""


def test_a_client_travels_by_pickle_to_another_process(url: str) -> None:
    assert run(SPAWN, url) == "child parent\n"


def test_a_local_session_is_closed_with_its_client() -> None:
    class Closing(Parrot):
        closed: list[int] = []

        def close(self) -> None:
            self.closed.append(self.state.step_count)

        def step(self, action: Say) -> Heard:
            if action.text == "stop":
                raise KeyboardInterrupt
            return super().step(action)

    with local(Closing) as client:
        client.reset()
        client.step(Say(text="a"))
    assert Closing.closed == [1]
    with local(Closing) as client:
        client.reset()
        with pytest.raises(KeyboardInterrupt):
            client.step(Say(text="stop"))
        assert Closing.closed == [1, 0]
        client.reset()
    assert Closing.closed == [1, 0, 0]
