"""Requests that are sent again behind others, after their callers have gone."""

from collections.abc import Iterator

import pytest

from openenv.client.effects import Heard
from openenv.protocol.envelope import Encoding
from tests.protocol.counting import GRACE_S
from tests.protocol.simulated import Called, Client, Server


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(capacity=2)
    yield server
    server.close()


@pytest.fixture
def client(server: Server) -> Client:
    """A client whose episode has begun."""
    client = Client(server, Encoding.MSGPACK)
    assert asked(client, "reset", 1).result is not None
    return client


def begun(client: Client, op: str, ticket: int) -> Called:
    """A call that is sent and not delivered."""
    called = Called(op, ticket)
    client.call(called, {"ticket": ticket})
    return called


def undisturbed(client: Client) -> None:
    """All frames arrive, and those that they cause."""
    client.connect(True)
    while client.wire is not None and (client.wire.may_go_up or client.wire.down):
        client.wire.deliver()
        client.deliver()
        client.connect(True)
        if client.is_idle:
            break


def asked(client: Client, op: str, ticket: int) -> Called:
    """A call that nothing disturbs."""
    called = begun(client, op, ticket)
    undisturbed(client)
    return called


def tickets(server: Server) -> list[int]:
    return [entry.ticket for entry in server.record.done]


def test_a_reply_that_is_lost_for_good_ends_no_session(server: Server, client: Client) -> None:
    given_up = begun(client, "step", 2)
    assert client.wire is not None
    client.wire.deliver()
    client.hear(Heard.LATE)
    assert given_up.error is not None
    waiting = begun(client, "step", 3)
    client.wire.deliver()
    client.wire.deliver()
    client.wire.down.clear()  # the server keeps the last reply alone
    client.hear(Heard.NOTHING)
    undisturbed(client)
    assert waiting.result is not None
    assert asked(client, "step", 4).result is not None
    assert tickets(server) == [1, 2, 3, 4]


def test_what_comes_before_its_turn_is_sent_again_in_its_turn(
    server: Server, client: Client
) -> None:
    begun(client, "step", 2)
    assert client.wire is not None
    client.hear(Heard.LATE)
    client.wire.up.clear()
    waiting = begun(client, "step", 3)
    client.wire.up.popleft()  # of the two, the first
    undisturbed(client)
    assert not waiting.is_over
    client.hear(Heard.NOTHING)
    undisturbed(client)
    assert waiting.result is not None
    assert tickets(server) == [1, 2, 3]


def test_repeats_over_a_new_connection_are_answered_each(server: Server, client: Client) -> None:
    called = Called("step", 2)
    client.call(called, {"ticket": 2, "slow": True})
    assert client.wire is not None
    client.wire.deliver()
    client.hear(Heard.LATE)
    waiting = begun(client, "step", 3)
    client.wire.deliver()
    client.wire.deliver()
    client.cut()
    undisturbed(client)  # comes back while the first one runs
    server.record.finish_one()
    server.clock.turn()
    undisturbed(client)
    assert waiting.result is not None
    assert asked(client, "step", 4).result is not None
    assert tickets(server) == [1, 2, 3, 4]


def test_a_session_that_is_cut_off_ends_with_its_grace(server: Server, client: Client) -> None:
    wire = client.wire
    assert wire is not None
    wire.leave()
    server.clock.pass_by(GRACE_S - 1)
    assert server.sessions.active == 1
    server.clock.pass_by(2)
    assert server.sessions.active == 0
    client.cut()
    assert "SESSION_GONE" in repr(vars(asked(client, "step", 2).error))


def test_an_open_that_is_repeated_queues_once(server: Server, client: Client) -> None:
    full = Client(server, Encoding.JSON)
    assert asked(full, "reset", 2).result is not None
    waiting = Client(server, Encoding.JSON, wait_s=15.0)
    refused = begun(waiting, "reset", 3)
    for _ in range(5):
        undisturbed(waiting)
        waiting.hear(Heard.NOTHING)
    undisturbed(waiting)
    for _ in range(16):
        server.clock.pass_by(1.0)
    undisturbed(waiting)
    assert "CAPACITY_REACHED" in str(refused.error)
    assert server.sessions.waiting == 0
    assert asked(full, "close", 4).error is None
    assert asked(waiting, "reset", 5).result is not None
