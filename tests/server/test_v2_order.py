"""Order on a channel, concurrency across channels, and what becomes of what is closed."""

from collections.abc import Iterator

import pytest

from openenv.runtime.limits import Limits
from openenv.server.channels import MAX_OUTSTANDING
from tests.server.v2 import ENCODINGS, MSGPACK, V2, back, code, speaking
from tests.server.worlds import Gate, World
from tests.serving import Served, eventually, serving


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """The gate at which `wait` steps wait."""
    gate = Gate()
    monkeypatch.setattr(World, "gate", gate)
    yield gate
    gate.opened.set()


@pytest.fixture
def pair() -> Iterator[Served]:
    """A server with two slots, on threads."""
    with serving(World, host_kind="thread", limits=Limits(capacity=2, close_grace=5.0)) as server:
        yield server


@pytest.fixture(params=ENCODINGS)
def client(request: pytest.FixtureRequest, threaded: Served) -> Iterator[V2]:
    """A socket; nothing of it may be left."""
    with speaking(threaded, request.param) as client:
        yield client
        for number in range(8):
            client.done("close", ch=number)


def test_requests_may_be_sent_right_behind_the_open(client: V2) -> None:
    client.send("open", ch=1)
    client.send("reset", ch=1, seq=1)
    client.send("step", ch=1, seq=2, data={"text": "a"})
    client.send("state", ch=1)
    replies = [client.receive() for _ in range(4)]
    assert [reply["id"] for reply in replies] == [1, 2, 3, 4]
    assert [reply["type"] for reply in replies] == ["opened", "observation", "observation", "state"]
    assert replies[3]["data"]["last"] == "a"


def test_the_first_request_opens_its_channel(client: V2) -> None:
    first = client.ask("reset", ch=3, seq=1)
    assert (first["type"], first["ch"], first["seq"]) == ("observation", 3, 1)
    assert client.ask("reset")["ch"] == 0


@pytest.mark.parametrize("op", ["step", "reset"])
def test_a_later_request_opens_no_session(client: V2, threaded: Served, op: str) -> None:
    before = threaded.active()
    assert client.refused(op, ch=5, seq=2, data={}) == "SEQ_GAP"
    assert threaded.active() == before
    client.done("reset", ch=5, seq=1)


def test_a_step_behind_a_failed_open_runs_nowhere(client: V2, threaded: Served) -> None:
    before = threaded.active()
    client.send("open", ch=2, data={"session_id": "gone", "token": "x", "last_seq": 4})
    client.send("step", ch=2, seq=5, data={})
    client.send("step", ch=2, seq=1, data={})
    client.send("reset", ch=2, seq=1)
    assert [code(client.receive()) for _ in range(4)] == ["SESSION_GONE"] * 4
    assert threaded.active() == before


def test_a_step_behind_a_close_runs_nowhere(client: V2, threaded: Served, gate: Gate) -> None:
    client.done("reset", seq=1)
    client.send("step", seq=2, data={"what": "wait", "text": "last"})
    gate.wait_until_entered()
    client.send("close")
    client.send("step", seq=3, data={"text": "too late"})
    client.send("step", seq=1, data={"text": "too late"})
    client.send("state")
    assert client.done("ping") == {}  # by now the server has read all that was sent
    gate.opened.set()
    replies = [client.receive() for _ in range(5)]
    assert [reply["id"] for reply in replies] == [2, 3, 4, 5, 6]
    assert replies[0]["data"]["observation"]["text"] == "last"
    assert replies[1]["type"] == "closed"
    assert [code(reply) for reply in replies[2:]] == ["SESSION_GONE"] * 3
    eventually(lambda: threaded.active() == 0)


def test_a_close_behind_an_open_closes_it(client: V2, threaded: Served) -> None:
    client.send("open", ch=1)
    client.send("close", ch=1)
    assert [client.receive()["type"] for _ in range(2)] == ["opened", "closed"]
    assert threaded.active() == 0


def test_an_open_behind_a_close_gets_its_slot(pair: Served) -> None:
    with speaking(pair) as client:
        client.done("reset", ch=1, seq=1)
        first = client.open(ch=0)
        client.send("close")
        client.send("open")
        client.send("reset", seq=1)
        closed, opened, reset = (client.receive() for _ in range(3))
        assert (closed["type"], opened["type"]) == ("closed", "opened")
        assert opened["data"]["session_id"] != first["session_id"]
        assert reset["type"] == "observation"


def test_a_slow_channel_holds_up_no_other(pair: Served, gate: Gate) -> None:
    with speaking(pair) as client:
        client.done("reset", ch=1, seq=1)
        client.done("reset", ch=2, seq=1)
        slow = client.send("step", ch=1, seq=2, data={"what": "wait"})
        behind = client.send("state", ch=1)
        gate.wait_until_entered()
        for seq in range(2, 12):
            client.step(seq, ch=2)
        assert client.done("ping") == {}
        gate.opened.set()
        assert [client.receive()["id"] for _ in range(2)] == [slow, behind]


def test_a_client_that_leaves_while_it_closes_leaves_nothing(pair: Served, gate: Gate) -> None:
    with speaking(pair) as client:
        client.done("reset", seq=1)
        client.send("step", seq=2, data={"what": "wait"})
        gate.wait_until_entered()
        client.send("close")
        client.done("ping")
    gate.opened.set()
    eventually(lambda: pair.active() == 0)


def test_a_thousand_repeats_of_a_running_step_block_nothing(pair: Served, gate: Gate) -> None:
    with speaking(pair) as client:
        client.done("reset", seq=1)
        step = {"id": 7, "op": "step", "seq": 2, "data": {"what": "wait", "text": "once"}}
        count = MAX_OUTSTANDING // 2 + 10
        for _ in range(count):
            client.send_frame(step)
        gate.wait_until_entered()
        gate.opened.set()
        replies = [client.receive() for _ in range(count)]
        assert all(reply == replies[0] for reply in replies)
        assert client.done("state")["step_count"] == 1
        for _ in range(count):
            client.send_frame(step)
        assert [client.receive() for _ in range(count)] == replies
        assert client.done("state")["step_count"] == 1


def test_more_than_the_server_holds_are_answered_in_order(pair: Served, gate: Gate) -> None:
    with speaking(pair) as client:
        client.done("reset", seq=1)
        client.send("step", seq=2, data={"what": "wait"})
        gate.wait_until_entered()
        count = MAX_OUTSTANDING + 500
        sent = [client.send("step", seq=3 + n, data={"text": str(n)}) for n in range(count)]
        gate.opened.set()
        client.receive()
        replies = [client.receive() for _ in range(count)]
        assert [reply["id"] for reply in replies] == sent
        assert replies[-1]["data"]["observation"]["text"] == str(count - 1)


def test_opens_that_wait_are_bounded_too(pair: Served) -> None:
    with speaking(pair) as holder, speaking(pair) as client:
        holder.open(ch=0)
        holder.open(ch=1)
        count = 8 * MAX_OUTSTANDING
        for number in range(count):
            client.send("open", ch=number % 8, data={"wait_s": 60})
        eventually(lambda: pair.health()["waiting"] == 8)
        (socket,) = [
            talk
            for connection in list(pair.server.server_state.connections)
            if (talk := getattr(connection, "_talk", None)) is not None and talk._outstanding > 0
        ]
        eventually(lambda: socket._held)
        assert socket._outstanding < 4 * MAX_OUTSTANDING  # and what was read in one go
        holder.done("close", ch=0)
        holder.done("close", ch=1)


def test_resuming_over_a_stuck_socket_does_not_stop_the_queue(pair: Served, gate: Gate) -> None:
    with speaking(pair) as stuck, speaking(pair, MSGPACK) as fresh:
        opened = stuck.open()
        stuck.done("reset", seq=1)
        stuck.send("step", seq=2, data={"what": "wait"})
        stuck.send("step", seq=3, data={"text": "queued"})
        gate.wait_until_entered()
        stuck.done("ping")
        held = pair.openenv.sessions._resumable[opened["session_id"]]
        held._paused = True  # as a socket does whose client reads no more
        gate.opened.set()
        eventually(lambda: held._running is None)
        assert fresh.open(**back(opened, 3))["resumed"] is True
        assert fresh.step(3, text="queued")["text"] == "queued"
        assert fresh.done("state")["step_count"] == 2
