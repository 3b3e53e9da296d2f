"""What the tests of pools share."""

from collections.abc import Iterator

import pytest

from tests.rollout.playing import Play
from tests.rollout.worlds import Soldier
from tests.serving import Served, eventually, serving


@pytest.fixture(scope="session")
def soldiers() -> Iterator[Served]:
    """A server of soldiers, in a thread of this process."""
    with serving(Soldier, max_concurrent_envs=64) as served:
        yield served


@pytest.fixture
def url(soldiers: Served) -> Iterator[str]:
    """Its address; the test must leave no session behind."""
    yield f"http://127.0.0.1:{soldiers.port}"
    eventually(lambda: soldiers.openenv.active_sessions == 0)


@pytest.fixture(params=["blocking", "awaiting"])
def colour(request: pytest.FixtureRequest) -> str:
    """How a pool is used."""
    name: str = request.param
    return name


@pytest.fixture(params=["v2", "v1"])
def protocol(request: pytest.FixtureRequest) -> str | None:
    """What is spoken: the best that both sides know, or v1."""
    return None if request.param == "v2" else "v1"


@pytest.fixture
def play(colour: str, protocol: str | None, url: str) -> Play:
    """Pools of soldiers, in both colours and versions of the wire."""
    return Play(colour, url, protocol)
