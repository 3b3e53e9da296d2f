"""Servers that many tests share: one for each kind of host."""

from collections.abc import Iterator
from typing import get_args

import pytest

from openenv.env.environment import HostKind
from openenv.runtime.limits import Limits
from tests.server.worlds import World
from tests.serving import Served, Socket, eventually, serving

HOST_KINDS = get_args(HostKind)
SMALL = Limits(capacity=64, max_message_bytes=1024 * 1024)


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, Served]]:
    """A server of `World` for each kind of host."""
    with (
        serving(World, host_kind="inline", limits=SMALL) as inline,
        serving(World, host_kind="thread", limits=SMALL) as thread,
        serving(World, host_kind="process", limits=SMALL) as process,
        serving(World, host_kind="sandbox", limits=SMALL) as sandbox,
    ):
        yield {"inline": inline, "thread": thread, "process": process, "sandbox": sandbox}


@pytest.fixture(params=HOST_KINDS)
def server(request: pytest.FixtureRequest, servers: dict[str, Served]) -> Iterator[Served]:
    """Each server in turn; it must be well after the test, and hold nothing of it."""
    served = servers[request.param]
    yield served
    eventually(lambda: served.active() == 0)


@pytest.fixture
def threaded(servers: dict[str, Served]) -> Iterator[Served]:
    """The server with thread hosts, for what does not depend on the host."""
    yield servers["thread"]
    eventually(lambda: servers["thread"].active() == 0)


@pytest.fixture
def client(threaded: Served) -> Iterator[Socket]:
    """A session of its own, for what does not depend on the host."""
    with threaded.socket() as socket:
        yield socket


@pytest.fixture
def hosted(server: Served) -> Iterator[Socket]:
    """A session of its own on each host."""
    with server.socket() as socket:
        yield socket
