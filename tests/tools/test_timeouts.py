"""Calls that take too long: an error that the agent can read, and a session that lives."""

from collections.abc import Iterator
from typing import Any

import pytest

from openenv.env.environment import HostKind
from openenv.runtime.limits import Limits
from tests.serving import Served as Server
from tests.serving import serving
from tests.tools.worlds import Counting, Decorated, Served

pytestmark = pytest.mark.timeout(120)

HOSTS: tuple[HostKind, ...] = ("inline", "thread", "process")
WORLDS = {"decorated": Decorated, "fastmcp": Served}
IMPATIENT_S = 0.3


@pytest.fixture(scope="module", params=[(w, h) for w in WORLDS for h in HOSTS], ids="-".join)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    world, host = request.param
    with serving(WORLDS[world], host_kind=host) as served:
        yield served


class Episode:
    """An episode over HTTP, whose steps say how long they may take."""

    def __init__(self, server: Server, name: str) -> None:
        self._server = server
        self._name = name
        assert server.post("/reset", {}, name).status == 200

    def call(self, tool: str, *, timeout_s: float | None = None, **arguments: Any) -> Any:
        """The observation of a call."""
        action = {"type": "call_tool", "tool_name": tool, "arguments": arguments}
        limit = {} if timeout_s is None else {"timeout_s": timeout_s}
        answer = self._server.post("/step", {"action": action, **limit}, self._name)
        assert answer.status == 200, answer.body
        return answer.json()["observation"]


@pytest.fixture
def episode(server: Server, request: pytest.FixtureRequest) -> Iterator[Episode]:
    name = f"episode-{abs(hash(request.node.name))}"
    yield Episode(server, name)
    server.http("DELETE", "/session", headers={"X-Session-ID": name})


@pytest.mark.parametrize("tool", ["sleep", "spin", "wait"])
def test_a_call_that_takes_too_long_says_so_and_the_session_lives(
    episode: Episode, tool: str, request: pytest.FixtureRequest
) -> None:
    """Of what blocks the thread, the next call waits for the end; it is interrupted if it can."""
    if tool == "spin" and "fastmcp" in request.node.name:
        pytest.skip("FastMCP calls all that blocks in threads of its own")
    episode.call("increment")
    seen = episode.call(tool, seconds=0.8, timeout_s=IMPATIENT_S)
    assert seen["result"] is None
    assert seen["error"]["error_type"] == "timeout"
    assert f"timed out after {IMPATIENT_S:g} s" in seen["error"]["message"]
    assert episode.call("increment")["result"]["data"] == 2


@pytest.mark.parametrize("host", ["inline", "thread"])  # where a sleep cannot be interrupted
def test_a_call_that_was_given_up_before_it_began_never_begins(host: HostKind) -> None:
    with serving(Decorated, host_kind=host) as served:
        episode = Episode(served, "queueing")
        episode.call("sleep", seconds=1.5, timeout_s=0.2)
        assert episode.call("increment", timeout_s=0.2)["error"]["error_type"] == "timeout"
        assert episode.call("increment")["result"]["data"] == 1


def test_a_step_of_the_authors_own_that_waits_for_a_tool_is_interrupted() -> None:
    with serving(Counting) as served:
        episode = Episode(served, "counting")
        seen = episode.call("wait", seconds=1000, timeout_s=IMPATIENT_S)
        assert seen["error"]["error_type"] == "timeout"
        assert episode.call("increment")["result"]["data"] == 1


@pytest.mark.parametrize("world", WORLDS)
def test_a_callers_patience_wins_over_the_servers(world: str) -> None:
    with serving(WORLDS[world], limits=Limits(tool_timeout=IMPATIENT_S)) as served:
        episode = Episode(served, "patient")
        seen = episode.call("wait", seconds=0.8)
        assert f"timed out after {IMPATIENT_S:g} s" in seen["error"]["message"]
        seen = episode.call("wait", seconds=0.8, timeout_s=10)
        assert seen["result"]["data"] == "waited"
