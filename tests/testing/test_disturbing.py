"""Each fault does what it says, to the frames that it is meant for and to no others."""

import http.client
import queue
import socket
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection

from openenv.testing import Counts, Direction, FaultProxy, Faults
from openenv.testing.fates import LARGEST_COPY_BYTES
from tests.client.peers import Refusals, raw
from tests.serving import RawSocket, eventually
from tests.testing.peers import Echo, connected, echoing, everything, hears
from tests.testing.test_cutter import frame
from tests.testing.test_passing import SWITCHING

NOT_LET_IN = (OSError, EOFError, InvalidHandshake)
BOTH: list[Direction] = ["to_server", "to_client"]


@pytest.fixture
def echo() -> Iterator[Echo]:
    with echoing() as running:
        yield running


def ended(client: ClientConnection) -> bool:
    """Whether a client's connection has ended without a goodbye; waits for it."""
    with pytest.raises(ConnectionClosed) as caught:
        while True:
            hears(client)
    return caught.value.rcvd is None


def test_a_swallowed_frame_never_arrives(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy, connected(proxy) as client:
        proxy.swallow_next("to_server", 2)
        for message in ("a", "b", "c"):
            client.send(message)
        assert echo.hears() == hears(client) == "c"
        proxy.swallow_next("to_client")
        client.send("d")
        client.send("e")
        assert [echo.hears(), echo.hears()] == ["d", "e"]
        assert hears(client) == "e"
    assert proxy.counts.faults["swallow"] == 3
    assert proxy.counts.frames == {"to_server": 5, "to_client": 3}


def test_a_swallowed_message_goes_with_all_its_fragments(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy, connected(proxy) as client:
        proxy.swallow_next("to_server")
        client.send(iter(["in ", "three ", "parts"]))
        client.send(iter(["in ", "two"]))
        assert echo.hears() == "in two"
    assert proxy.counts.faults["swallow"] == 1


def test_a_doubled_frame_arrives_twice(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy, connected(proxy) as client:
        proxy.disturb_next("duplicate", "to_server")
        client.send("a" * 70_000)
        client.send("b")
        assert [echo.hears(), echo.hears(), echo.hears()] == ["a" * 70_000, "a" * 70_000, "b"]
    assert proxy.counts.faults["duplicate"] == 1


def test_what_cannot_be_doubled_passes_as_it_is(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy, connected(proxy) as client:
        proxy.disturb_next("duplicate", "to_server", 2)
        client.send(bytes(LARGEST_COPY_BYTES + 1))
        client.send(iter(["two ", "parts"]))
        client.send("end")
        assert echo.hears() == bytes(LARGEST_COPY_BYTES + 1)
        assert [echo.hears(), echo.hears()] == ["two parts", "end"]
    assert proxy.counts.faults["duplicate"] == 0


def test_a_delayed_frame_keeps_its_place(echo: Echo) -> None:
    faults = Faults(delay=0.5, delay_s=(0.0, 0.02))
    with FaultProxy(echo.url, faults) as proxy, connected(proxy) as client:
        sent = [f"message {n}" for n in range(50)]
        for message in sent:
            client.send(message)
        assert [hears(client) for _ in sent] == sent
    assert proxy.counts.faults["delay"] > 10
    assert proxy.counts.share == pytest.approx(0.5, abs=0.25)


@pytest.mark.parametrize("reset", [0.0, 1.0], ids=["end", "reset"])
def test_a_cut_before_a_frame_loses_it(echo: Echo, reset: float) -> None:
    with FaultProxy(echo.url, Faults(reset=reset)) as proxy, connected(proxy) as client:
        client.send("a")
        assert hears(client) == "a"
        proxy.disturb_next("cut_before", "to_server")
        client.send("b")
        assert ended(client)
        assert [echo.hears(), echo.hears()] == ["a", None]


@pytest.mark.parametrize("reset", [0.0, 1.0], ids=["end", "reset"])
def test_a_cut_after_a_frame_delivers_it(echo: Echo, reset: float) -> None:
    with FaultProxy(echo.url, Faults(reset=reset)) as proxy, connected(proxy) as client:
        proxy.disturb_next("cut_after", "to_server")
        client.send(iter(["in ", "parts"]))
        assert ended(client)
        assert [echo.hears(), echo.hears()] == ["in parts", None]


@pytest.mark.parametrize("reset", [0.0, 1.0], ids=["end", "reset"])
def test_a_cut_after_an_answer_delivers_it(echo: Echo, reset: float) -> None:
    with FaultProxy(echo.url, Faults(reset=reset)) as proxy, connected(proxy) as client:
        proxy.disturb_next("cut_after", "to_client")
        client.send("a")
        assert hears(client) == "a"
        assert ended(client)


@pytest.mark.parametrize("size", [0, 10, 300_000])
def test_a_cut_inside_a_frame_delivers_half_of_it(size: int) -> None:
    received = []

    def listen(connection: socket.socket) -> None:
        while not connection.recv(65536).endswith(b"\r\n\r\n"):
            pass
        connection.sendall(SWITCHING)
        received.append(everything(connection))

    with raw(listen) as port, FaultProxy(f"http://127.0.0.1:{port}", Faults(reset=0)) as proxy:
        client = RawSocket(int(proxy.url.rpartition(":")[2]))
        with client.socket:
            client.upgrade()
            proxy.disturb_next("cut_inside", "to_server")
            whole = frame(2, True, True, size)
            client.socket.sendall(whole)
            assert client.rest() == b""
            eventually(lambda: received)
    assert received == [whole[: len(whole) // 2]]


def test_a_reset_is_one_and_an_end_is_one(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy:
        for reset in (True, False):
            client = RawSocket(int(proxy.url.rpartition(":")[2]))
            with client.socket:
                client.upgrade(request="GET /ws HTTP/1.1")
                eventually(lambda: proxy.counts.connections == 2 - reset)  # noqa: B023
                proxy.cut(reset=reset)
                if reset:
                    with pytest.raises(ConnectionResetError):
                        client.socket.recv(1)
                else:
                    assert client.socket.recv(1) == b""


def test_a_frozen_network_holds_everything_and_closes_nothing(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy, connected(proxy) as client:
        proxy.freeze()
        client.send("a")
        with pytest.raises(TimeoutError):
            client.recv(timeout=0.2)
        assert echo.heard.empty()
        with pytest.raises(TimeoutError), connected(proxy, open_timeout=0.2):
            pass
        proxy.thaw()
        assert hears(client) == "a"


def test_an_end_does_not_pass_a_frozen_network(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy:
        client = RawSocket(int(proxy.url.rpartition(":")[2]))
        with client.socket:
            client.upgrade()
            proxy.freeze()
        with pytest.raises(queue.Empty):
            echo.heard.get(timeout=0.1)
        proxy.thaw()
        assert echo.hears() is None


@pytest.mark.parametrize("direction", BOTH)
def test_a_frozen_connection_holds_both_ways_until_it_is_thawed(
    echo: Echo, direction: Direction
) -> None:
    with FaultProxy(echo.url, Faults(freeze_s=None)) as proxy, connected(proxy) as client:
        proxy.disturb_next("freeze", direction)
        client.send("a")
        with pytest.raises(TimeoutError):
            client.recv(timeout=0.2)
        with connected(proxy) as other:
            other.send("b")
            assert hears(other) == "b"
        proxy.thaw()
        assert hears(client) == "a"


def test_a_short_freeze_ends_by_itself(echo: Echo) -> None:
    with FaultProxy(echo.url, Faults(freeze_s=(0.0, 0.05))) as proxy, connected(proxy) as client:
        proxy.disturb_next("freeze", "to_server")
        client.send("a")
        assert hears(client) == "a"


def test_a_frozen_connection_can_be_cut(echo: Echo) -> None:
    with FaultProxy(echo.url, Faults(freeze_s=None)) as proxy, connected(proxy) as client:
        proxy.disturb_next("freeze", "to_server")
        client.send("a")
        eventually(lambda: proxy.counts.faults["freeze"])
        proxy.cut()
        assert ended(client)
        assert echo.hears() is None


def test_pings_alone_can_be_swallowed(echo: Echo) -> None:
    with FaultProxy(echo.url, Faults(swallow_pings=1.0)) as proxy, connected(proxy) as client:
        pong = client.ping("are you there?")
        client.send("a")
        assert hears(client) == "a"
        assert not pong.is_set()
    assert proxy.counts.pings == proxy.counts.faults["swallow_pings"] == 1
    assert proxy.counts.disturbed == 0


def test_handshakes_are_refused_while_asked(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy:
        proxy.refuse(503, times=2)
        for _ in range(2):
            with pytest.raises(InvalidStatus, match="503"), connected(proxy):
                pass
        with connected(proxy) as client:
            proxy.refuse(None)
            with pytest.raises(NOT_LET_IN), connected(proxy):
                pass
            client.send("a")  # who is in stays in
            assert hears(client) == "a"
        proxy.accept()
        with connected(proxy):
            pass
    assert proxy.counts.faults["refuse"] == 3
    assert proxy.counts.connections == 2


def test_a_refusal_is_not_for_plain_http() -> None:
    with (
        echoing(process_request=Refusals(418, 1)) as teapot,
        FaultProxy(teapot.url, Faults(refuse=1.0, statuses=(502,))) as proxy,
    ):
        with pytest.raises(InvalidStatus, match="502"), connected(proxy):
            pass
        plain = http.client.HTTPConnection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
        plain.request("GET", "/")
        assert plain.getresponse().status == 418
        plain.close()


def test_nobody_behind_the_proxy_is_a_reset() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with (
        FaultProxy(f"http://127.0.0.1:{port}") as proxy,
        pytest.raises(NOT_LET_IN),
        connected(proxy),
    ):
        pass


def test_a_direction_can_have_faults_of_its_own(echo: Echo) -> None:
    faults: dict[Direction, Faults] = {"to_client": Faults(swallow=1.0)}
    with FaultProxy(echo.url, faults) as proxy, connected(proxy) as client:
        client.send("a")
        assert echo.hears() == "a"
        with pytest.raises(TimeoutError):
            client.recv(timeout=0.1)


def _traffic(echo: Echo, seed: int) -> Counts:
    """What a proxy did to the same hundred messages."""
    faults: dict[Direction, Faults] = {"to_server": Faults(swallow=0.2, duplicate=0.2)}
    with FaultProxy(echo.url, faults, seed) as proxy, connected(proxy) as client:
        for n in range(100):
            client.send(str(n))
        eventually(lambda: proxy.counts.frames["to_server"] == 100)
        done = proxy.counts.faults
        for _ in range(100 - done["swallow"] + done["duplicate"]):
            hears(client)
    return proxy.counts


def test_the_same_seed_disturbs_the_same_frames(echo: Echo) -> None:
    first, again, other = (_traffic(echo, seed).faults for seed in (4, 4, 5))
    assert first == again != other
