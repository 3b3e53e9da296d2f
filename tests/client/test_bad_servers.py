"""Servers that break the rules: every fault is typed, and no answer is taken for another's."""

import socket
import threading
from typing import Any

import pytest
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.sync.server import ServerConnection

from openenv import GenericEnvClient, SessionCapacityError, SessionError, SessionLost
from openenv.protocol.errors import MessageTooLarge, ProtocolError, ReplyTimeout
from tests.client.peers import CAPACITY, answer, raw, replying, scripted
from tests.client.ways import Ask, Way, talking, until
from tests.client.worlds import PATIENCE_S, ParrotClient, Pausing, Say

STATE = '{"type":"state","data":{"episode_id":null,"step_count":0}}'


@pytest.mark.parametrize(
    "frame",
    [
        STATE,
        "{nonsense",
        "[1, 2]",
        '{"type":"observation"}',
        '{"type":"observation","data":[]}',
        '{"data":{}}',
        b"\xff\xfe",
    ],
    ids=["of another kind", "no JSON", "no object", "no data", "a list", "no type", "binary"],
)
def test_a_wrong_frame_ends_the_session_and_the_next_reset_begins_anew(
    colour: str, frame: str | bytes
) -> None:
    left = threading.Event()
    frames = iter([frame, answer("good")])

    def once(connection: ServerConnection) -> None:
        try:
            replying(next(frames))(connection)
        finally:
            left.set()

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ProtocolError, match="the server"):
            await ask(client.reset())
        await until(client, ask, left.is_set)
        with pytest.raises(SessionLost):
            await ask(client.step(Say()))
        assert (await ask(client.reset())).observation.text == "good"

    with scripted(once) as url:
        talking(colour, talk, Pausing(base_url=url))


@pytest.mark.parametrize("client_class", [ParrotClient, GenericEnvClient])
@pytest.mark.parametrize(
    "data",
    ['{"observation":"text"}', '{"observation":[1]}', '{"observation":{},"reward":"much"}'],
    ids=["text", "a list", "a reward that is no number"],
)
def test_an_observation_that_is_none_is_typed(
    colour: str, data: str, client_class: type[Any]
) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ProtocolError, match="observation|reward"):
            await ask(client.reset())

    with scripted(replying(f'{{"type":"observation","data":{data}}}')) as url:
        talking(colour, talk, client_class(base_url=url))


def test_two_answers_to_one_question_never_shift_the_next(colour: str) -> None:
    asked_again = threading.Event()

    def twice(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        connection.send(answer("first"))
        connection.send(answer("uninvited"))
        asked_again.wait(PATIENCE_S)
        connection.recv(PATIENCE_S)

    async def talk(client: Any, ask: Ask) -> None:
        assert (await ask(client.reset())).observation.text == "first"
        await ask(client.pause())
        with pytest.raises(ProtocolError, match="nobody asked"):
            await ask(client.step(Say()))
        asked_again.set()
        with pytest.raises(SessionLost):
            await ask(client.step(Say()))

    with scripted(twice) as url:
        talking(colour, talk, Pausing(base_url=url))


@pytest.mark.parametrize("after_request", [False, True], ids=["at once", "after the request"])
def test_a_full_server_is_typed_with_its_numbers(colour: str, after_request: bool) -> None:
    def full(connection: ServerConnection) -> None:
        if after_request:
            connection.recv(PATIENCE_S)
        connection.send(CAPACITY)

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.connect())
        with pytest.raises(SessionCapacityError, match=r"2/2.*CAPACITY_REACHED") as caught:
            await ask(client.reset())
        assert (caught.value.active_sessions, caught.value.max_sessions) == (2, 2)

    with scripted(full) as url:
        for _ in range(10):  # the close comes before the request, or after it
            talking(colour, talk, Pausing(base_url=url))


def test_a_parting_error_is_found_by_the_next_call(colour: str) -> None:
    def expire(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        connection.send(answer("first"))
        connection.send(
            '{"type":"error","data":{"message":"session \'s\' expired","code":"SESSION_ERROR"}}'
        )

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        await ask(client.pause())
        with pytest.raises(SessionError, match=r"expired \(code: SESSION_ERROR\)"):
            await ask(client.step(Say()))
        with pytest.raises(SessionLost, match="reset"):
            await ask(client.step(Say()))

    with scripted(expire) as url:
        talking(colour, talk, Pausing(base_url=url))


@pytest.mark.parametrize("code", [1000, 1001, 1011, 1012, 4000])
@pytest.mark.parametrize("idle", [True, False], ids=["while idle", "in a call"])
def test_a_closed_connection_is_a_lost_session(colour: str, code: int, idle: bool) -> None:
    def leave(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        connection.send(answer("first"))
        if not idle:
            connection.recv(PATIENCE_S)
        connection.close(code, "on my way")

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        if idle:
            await ask(client.pause())
        with pytest.raises(SessionLost, match=f"{code} on my way") as caught:
            await ask(client.step(Say()))
        assert "reset()" in str(caught.value)
        assert (await ask(client.reset())).observation.text == "first"

    with scripted(leave) as url:
        talking(colour, talk, Pausing(base_url=url))


def test_a_close_for_size_says_which_limits_there_are(colour: str) -> None:
    def too_large(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        connection.close(1009, "message too big")

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(MessageTooLarge, match="OPENENV_MAX_MESSAGE_MB.*max_message_size_mb"):
            await ask(client.reset())

    with scripted(too_large) as url:
        talking(colour, talk, Pausing(base_url=url))


def test_an_answer_larger_than_the_client_reads(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(MessageTooLarge, match="max_message_size_mb is 0.5") as caught:
            await ask(client.reset())
        assert isinstance(caught.value, RuntimeError)
        with pytest.raises(SessionLost):
            await ask(client.step(Say()))

    with scripted(replying(answer("x" * 1_000_000))) as url:
        talking(colour, talk, ParrotClient(base_url=url, max_message_size_mb=0.5))


def test_a_server_that_says_nothing_more_is_given_up_in_time(colour: str) -> None:
    left = threading.Event()

    def silent(connection: ServerConnection) -> None:
        try:
            while True:
                connection.recv(PATIENCE_S)
        finally:
            left.set()

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ReplyTimeout, match="no answer within 0.05 s") as caught:
            await ask(client.reset())
        assert isinstance(caught.value, TimeoutError)
        await until(client, ask, left.is_set)
        with pytest.raises(SessionLost):
            await ask(client.step(Say()))

    with scripted(silent) as url:
        talking(colour, talk, Pausing(base_url=url, message_timeout_s=0.05))


def test_a_late_answer_reaches_nobody(colour: str) -> None:
    answers = iter([("early", "late"), ("new",)])
    timed_out = threading.Event()

    def slow(connection: ServerConnection) -> None:
        for text in next(answers):
            connection.recv(PATIENCE_S)
            if text == "late":
                timed_out.wait(PATIENCE_S)
            connection.send(answer(text))
        connection.recv(PATIENCE_S)

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        with pytest.raises(ReplyTimeout):
            await ask(client.step(Say(), timeout_s=0.05))
        timed_out.set()
        with pytest.raises(SessionLost):
            await ask(client.step(Say()))
        assert (await ask(client.reset())).observation.text == "new"

    with scripted(slow) as url:
        talking(colour, talk, Pausing(base_url=url))


def test_a_dropped_connection_in_a_call(colour: str) -> None:
    def drop(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        connection.socket.shutdown(socket.SHUT_RDWR)

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(SessionLost):
            await ask(client.reset())

    with scripted(drop) as url:
        talking(colour, talk, Pausing(base_url=url))


def test_bytes_that_are_no_websocket_frames(colour: str) -> None:
    def garbage(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        connection.socket.sendall(b"\xff" * 100)
        connection.recv(PATIENCE_S)

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(SessionLost):
            await ask(client.reset())

    with scripted(garbage) as url:
        talking(colour, talk, Pausing(base_url=url))


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 101 Swit", b"no HTTP at all\r\n\r\n"])
def test_a_handshake_that_is_cut_off(colour: str, begun: bytes) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConnectionError, match="Failed to connect to ws://127.0.0.1"):
            await ask(client.reset())

    def cut_off(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(begun)

    with raw(cut_off) as port:
        url = f"http://127.0.0.1:{port}"
        talking(colour, talk, ParrotClient(base_url=url, connect_retries=0))


def test_a_server_that_stops_reading_is_given_up_in_time(colour: str) -> None:
    """The call's own patience holds, also while its request is still on the way out."""
    done = threading.Event()

    def unread(connection: socket.socket) -> None:
        protocol = ServerProtocol()
        while protocol.state is not State.OPEN:
            protocol.receive_data(connection.recv(65536))
            for event in protocol.events_received():
                if isinstance(event, Request):
                    protocol.send_response(protocol.accept(event))
            connection.sendall(b"".join(protocol.data_to_send()))
        done.wait(PATIENCE_S)

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ReplyTimeout):
            await ask(client.step(Say(text="x" * 50_000_000), timeout_s=0.1))
        done.set()

    with raw(unread) as port:
        url = f"http://127.0.0.1:{port}"
        talking(colour, talk, ParrotClient(base_url=url, connect_timeout_s=1000))


def test_a_message_larger_than_a_v1_server_reads(v1_way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        with pytest.raises(MessageTooLarge, match="OPENENV_MAX_MESSAGE_MB"):
            await ask(client.step(Say(text="x" * 40_000_000)))
        with pytest.raises(SessionLost):
            await ask(client.step(Say(text="hi")))
        assert (await ask(client.reset(seed=1))).observation.seed == 1

    for _ in range(3):
        v1_way.run(talk)


def test_a_flood_that_nobody_asked_for(colour: str) -> None:
    def flood(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        for number in range(100):
            connection.send(answer(str(number)))
        connection.recv(PATIENCE_S)

    async def talk(client: Any, ask: Ask) -> None:
        assert (await ask(client.reset())).observation.text == "0"
        await ask(client.pause(0.4))
        with pytest.raises((ProtocolError, SessionLost)):
            await ask(client.step(Say()))

    with scripted(flood) as url:
        talking(colour, talk, Pausing(base_url=url))


def test_an_answer_in_many_pieces(colour: str) -> None:
    def pieces(connection: ServerConnection) -> None:
        whole = answer("é" * 5000)
        connection.recv(PATIENCE_S)
        for frame in ([whole[i : i + 7] for i in range(0, len(whole), 7)], [whole, ""]):
            connection.ping()
            connection.send(frame)
            connection.recv(PATIENCE_S)

    async def talk(client: Any, ask: Ask) -> None:
        for _ in range(2):
            assert (await ask(client.reset())).observation.text == "é" * 5000

    with scripted(pieces) as url:
        talking(colour, talk, ParrotClient(base_url=url))
