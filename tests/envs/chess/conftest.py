"""A chess server."""

from collections.abc import Iterator

import pytest

from tests.envs.conftest import Serving


@pytest.fixture(scope="session")
def chess_url(serving: Serving) -> Iterator[str]:
    """A chess server."""
    with serving("chess_env.server.app", "--host", "127.0.0.1", "--port", "0") as url:
        yield url
