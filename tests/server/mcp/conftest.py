"""Servers of an environment with tools."""

from collections.abc import Iterator

import pytest

from tests.server.mcp.worlds import Shed
from tests.serving import Served, serving


@pytest.fixture(scope="module")
def shed() -> Iterator[Served]:
    with serving(Shed, host_kind="thread") as served:
        yield served


@pytest.fixture(scope="module", params=["inline", "thread", "process"])
def any_shed(request: pytest.FixtureRequest) -> Iterator[Served]:
    with serving(Shed, host_kind=request.param) as served:
        yield served
