"""Our client of tools with the peer's server, and the peer's with ours: the same calls.

Every server has room for one session. A client that did not free its slot would leave the next
one without; and tools, steps and the state are of one session, or they would not agree.
"""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from openenv import CallToolAction
from openenv.client.tools import MCPToolClient, ToolCallFailed
from tests.interop.serving import OURS, PEER, served, told_by_peer, uvicorn
from tests.interop.tool_calls import KINDS, SCENARIOS, made

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HOSTS = ("inline", "thread", "process")
APPLICATION = "toolshop_app"
CALLED = ["fails", "steal", "wrong"]
ERROR_TYPES = ["execution_error", "tool_not_found", "invalid_args"]
PLAYED = {"before": 5, "began": [0.0, False], "called": 1, "stepped": 3}


@pytest.fixture(scope="module")
def peer_shop(peer: None) -> Iterator[str]:
    with served(*uvicorn(PEER, APPLICATION)) as url:
        yield url


@pytest.fixture(scope="module")
def peer_shop_in_production(peer: None) -> Iterator[str]:
    with served(*uvicorn(PEER, APPLICATION), OPENENV_MODE="production") as url:
        yield url


@pytest.fixture(scope="module")
def our_shop() -> Iterator[str]:
    with served(*uvicorn(OURS, APPLICATION)) as url:
        yield url


@pytest.fixture(scope="module")
def on_our_shops(peer: None) -> dict[str, Any]:
    """What the peer's client got from our servers, one for each place where environments live."""
    with ExitStack() as stack:
        urls = [
            stack.enter_context(served(*uvicorn(OURS, APPLICATION), OPENENV_HOST_KIND=kind))
            for kind in HOSTS
        ]
        told = told_by_peer("tests.interop.tool_calls", *urls)
    return {kind: told[url] for kind, url in zip(HOSTS, urls, strict=True)}


def check_listing(told: dict[str, Any]) -> None:
    assert told == {
        "names": ["buy", "fails", "undescribed"],
        "described": "Puts some into the basket.",
        "arguments": ["count"],
        "has": [True, False],
    }


def check_calls(told: dict[str, Any]) -> None:
    assert (told["bought"], told["said"], told["after"]) == ([1, 3, 6], "hi", 7)
    for name, tool in zip(CALLED, ["fails", "steal", "buy"], strict=True):
        assert told[name][0].startswith(f"Tool {tool!r} failed: ")
    assert "no luck today" in told["fails"][0]
    assert "steal" in told["steal"][0]
    assert "count" in told["wrong"][0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("host", HOSTS)
class TestPeersClient:
    def test_lists_our_tools(self, on_our_shops: dict[str, Any], host: str, kind: str) -> None:
        check_listing(on_our_shops[host]["listing"][kind])

    def test_calls_our_tools(self, on_our_shops: dict[str, Any], host: str, kind: str) -> None:
        check_calls(on_our_shops[host]["calling"][kind])

    def test_plays_with_tools(self, on_our_shops: dict[str, Any], host: str, kind: str) -> None:
        played = on_our_shops[host]["playing"][kind]
        assert played.pop("state")[0] == "e1"  # of the state it keeps no more than the base's
        assert played == PLAYED


@pytest.mark.parametrize("kind", KINDS)
class TestOurClient:
    def test_lists_the_peers_tools(self, peer_shop: str, kind: str) -> None:
        check_listing(made(kind, peer_shop, "listing"))

    def test_calls_the_peers_tools(self, peer_shop: str, kind: str) -> None:
        told = made(kind, peer_shop, "calling")
        check_calls(told)
        for name, error_type in zip(CALLED, ERROR_TYPES, strict=True):
            assert error_type in told[name][1].lower()

    def test_has_tools_and_an_episode(self, peer_shop: str, kind: str) -> None:
        assert made(kind, peer_shop, "playing") == PLAYED | {"state": ["e1", 3]}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_peers_server_in_production(peer_shop_in_production: str, scenario: str) -> None:
    assert made("sync", peer_shop_in_production, scenario)


def test_the_peers_tools_as_steps(peer_shop: str) -> None:
    with MCPToolClient(base_url=peer_shop, mode="simulation").sync() as client:
        client.reset(episode_id="e2")
        assert client.call_tool("buy", count=4) == 4
        result = client.step(CallToolAction(tool_name="buy", arguments={}))
        assert result.observation.result["data"] == 5
        with pytest.raises(ToolCallFailed, match="no luck today"):
            client.call_tool("fails")
        assert client.has_tool("undescribed")
        assert client.state().model_dump()["items"] == 5


def test_a_client_that_is_dropped_leaves_no_session_on_the_peer(peer_shop: str) -> None:
    """Ours holds no session over HTTP, which would outlive it."""
    client = MCPToolClient(base_url=peer_shop)
    client.call_tool("buy")
    del client
    assert made("sync", peer_shop, "listing")["has"] == [True, False]


def listed(url: str) -> list[dict[str, Any]]:
    """The answer of `POST /mcp`, as far as both servers tell the same."""
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    request = urllib.request.Request(f"{url}/mcp", asked, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        tools: list[dict[str, Any]] = json.load(answer)["result"]["tools"]
    wanted = ("name", "description", "inputSchema")
    return [{key: tool[key] or "" for key in wanted} for tool in tools]


def test_tools_are_the_same_over_http(peer_shop: str, our_shop: str) -> None:
    assert listed(our_shop) == listed(peer_shop)
