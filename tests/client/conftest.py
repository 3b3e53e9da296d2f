"""What the tests of clients share."""

from collections.abc import Iterator

import pytest

from openenv.client import dialogue
from tests.client.ways import Way
from tests.client.worlds import Parrot
from tests.serving import Served, eventually, serving


@pytest.fixture(scope="session")
def parrots() -> Iterator[Served]:
    """A server of parrots, in a thread of this process."""
    with serving(Parrot, max_concurrent_envs=256) as served:
        yield served


@pytest.fixture
def url(parrots: Served) -> Iterator[str]:
    """Its address; the test must leave no session behind."""
    yield f"http://127.0.0.1:{parrots.port}"
    eventually(lambda: parrots.openenv.active_sessions == 0)


@pytest.fixture(params=["blocking", "awaiting"])
def colour(request: pytest.FixtureRequest) -> str:
    """How the client is used."""
    name: str = request.param
    return name


@pytest.fixture(params=["v1", None], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> str | None:
    """What the client asks for: v1, or what the server likes best."""
    asked: str | None = request.param
    return asked


@pytest.fixture
def socket_way(colour: str, url: str, protocol: str | None) -> Way:
    """Over a socket, in both colours and both versions of the wire."""
    return Way(colour, url, protocol)


@pytest.fixture
def v1_way(colour: str, url: str) -> Way:
    """Over a socket in v1, in both colours: what it cannot do better."""
    return Way(colour, url, "v1")


@pytest.fixture
def v2_way(colour: str, url: str) -> Way:
    """Over a socket in v2, in both colours."""
    return Way(colour, url)


@pytest.fixture(params=["socket", "local"])
def way(request: pytest.FixtureRequest, colour: str) -> Way:
    """All four ways."""
    over_socket = request.param == "socket"
    return Way(colour, request.getfixturevalue("url") if over_socket else None)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that nobody finds is given up after three attempts."""
    monkeypatch.setattr(dialogue, "MAX_REFUSALS", 2)
