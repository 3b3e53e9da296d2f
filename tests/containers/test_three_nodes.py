"""Failover on a real swarm of three nodes. Takes minutes: OPENENV_TEST_SWARM=1 runs it, by hand."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from openenv.providers import DockerSwarmProvider, Launch
from openenv.providers.engine import Engine
from openenv.providers.health import ask
from openenv.providers.swarm_service import SwarmService
from tests.containers.nodes import Node, give_image, three_nodes
from tests.serving import eventually

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(os.environ.get("OPENENV_TEST_SWARM") != "1", reason="see the module"),
]
LONG_S = 240.0


@pytest.fixture
def nodes(engine: Engine, faulty_image: str) -> Iterator[list[Node]]:
    with three_nodes() as nodes:
        give_image(nodes, engine, faulty_image)
        yield nodes


@contextmanager
def told(what: str) -> Iterator[None]:
    """Says how long something took; `pytest -s` shows it."""
    started = time.monotonic()
    yield
    sys.stderr.write(f"{what}: {time.monotonic() - started:.1f} s\n")


def test_failover(
    nodes: list[Node],
    faulty_image: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", nodes[0].host)
    options = {"replicas": 3, "endpoint_mode": "dnsrr"}
    launch = Launch(image=faulty_image, options=options, ready_timeout_s=LONG_S)
    with DockerSwarmProvider(auto_init_swarm=False) as provider:
        with told("3 replicas on 3 nodes, healthy"):
            service = provider.launch(launch)
        assert isinstance(service, SwarmService)
        assert {host(url) for url in service.urls()} == {node.address for node in nodes}
        with told("scaled to 6, healthy"):
            service.scale(6, LONG_S)
        assert len(service.urls()) == 6
        with told("one task killed, 6 healthy again"):
            before = set(service.urls())
            container = nodes[1].docker("ps", "--quiet").split()[0]
            nodes[1].docker("kill", container)
            eventually(lambda: set(service.urls()) - before, LONG_S)
            service.wait_until_healthy(LONG_S)
        with told("one node cut off, 6 healthy on the others"):
            nodes[2].cut_off()
            eventually(lambda: nodes[2].address not in map(host, service.urls()), LONG_S)
            service.wait_until_healthy(LONG_S)
        assert {host(url) for url in service.urls()} == {node.address for node in nodes[:2]}
        assert all(ask(url) == "" for url in service.urls())
        with told("stopped"):
            service.stop()
        assert nodes[0].docker("ps", "--all", "--quiet") == ""
        eventually(lambda: nodes[1].docker("ps", "--all", "--quiet") == "", LONG_S)


def host(url: str) -> str:
    return url.removeprefix("http://").partition(":")[0]
