"""What the tests of trainers' harnesses share."""

from collections.abc import Iterator

import pytest

from tests.harness.trainer.worlds import HANGING, RELEASED, Game
from tests.serving import Served, eventually, serving


@pytest.fixture(scope="session")
def game() -> Iterator[Served]:
    """A server of games, in a thread of this process."""
    with serving(Game, max_concurrent_envs=16) as served:
        yield served


@pytest.fixture
def url(game: Served) -> Iterator[str]:
    """Its address; the test must leave no session behind."""
    RELEASED.clear()
    HANGING.clear()
    yield f"http://127.0.0.1:{game.port}"
    RELEASED.set()
    eventually(lambda: game.openenv.active_sessions == 0)
