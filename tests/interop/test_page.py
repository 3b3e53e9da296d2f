"""`openenv web` against both servers: the peer's, which knows nothing of it, and our own."""

import pytest

from tests.project.page.mirrored import page_of

pytestmark = [pytest.mark.interop, pytest.mark.timeout(120)]
OFFERS = ["openenv.v2+json", "openenv.v1"]


def test_an_episode_of_the_peers_is_played_as_a_browser_would(peer_server: str) -> None:
    with page_of(peer_server) as page:
        assert page.http("GET", "/web/config.json").json()["target"] == peer_server
        assert page.http("GET", "/schema").json().keys() >= {"action", "observation", "state"}
        assert page.http("GET", "/metadata").json()["name"]
        with page.socket(subprotocols=OFFERS) as socket:
            assert socket.connection.subprotocol == "openenv.v1"
            assert socket.reset(seed=7)["observation"]["echoed"].startswith("ready seed=7")
            assert socket.step(message="hello", n=2)["reward"] == 2.0
            assert socket.refused({"type": "step", "data": {"n": 1}})["code"] == "VALIDATION_ERROR"
            assert socket.state()["last"] == "hello"


def test_tools_of_both_are_asked_for(peer_server: str, our_server: str) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    for server in (peer_server, our_server):
        with page_of(server) as page:
            assert page.post("/mcp", asked).json()["id"] == 1


def test_our_own_speaks_its_own_version(our_server: str) -> None:
    with page_of(our_server) as page:
        assert page.http("GET", "/web/config.json").json()["target"] == our_server
        with page.socket(subprotocols=OFFERS) as socket:
            assert socket.connection.subprotocol == "openenv.v2+json"
