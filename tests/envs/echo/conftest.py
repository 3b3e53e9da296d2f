"""An echo server."""

from collections.abc import Iterator

import pytest

from tests.envs.conftest import Serving


@pytest.fixture(scope="session")
def echo_url(serving: Serving) -> Iterator[str]:
    """Where it is."""
    with serving("echo_env.server.app", "--host", "127.0.0.1", "--port", "0") as url:
        yield url
