"""A real engine, images for it, and the check that every test leaves nothing in it."""

import os
import uuid
from collections.abc import Iterator

import pytest

from openenv.protocol.errors import NotAvailable
from openenv.providers.engine import Engine
from tests.containers.images import built, write_echo, write_faulty
from tests.serving import eventually

RUN = f"openenv.test-run={uuid.uuid4().hex}"


@pytest.fixture(scope="session")
def engine() -> Engine:
    """Docker, as `eval "$(scripts/docker up)"` starts it."""
    try:
        engine = Engine("docker")
        engine.ping()
        if engine.inspect("image", "openenv-base") is None:
            raise NotAvailable("there is no image openenv-base")
    except NotAvailable as error:
        why = f'{error}; `eval "$(scripts/docker up)"` starts an engine for the tests'
        if os.environ.get("OPENENV_REQUIRE_DOCKER") == "1":
            pytest.fail(why, pytrace=False)
        pytest.skip(why)
    return engine


@pytest.fixture(scope="session")
def echo_image(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An image that serves the echo environment on port 8000."""
    directory = write_echo(tmp_path_factory.mktemp("echo-image"))
    with built(engine, f"openenv-test-echo:{uuid.uuid4().hex[:8]}", RUN, directory) as tag:
        yield tag


@pytest.fixture(scope="session")
def faulty_image(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An image that goes wrong as its variable `FAULT` says, see `faulty.py`."""
    directory = write_faulty(tmp_path_factory.mktemp("faulty-image"))
    with built(engine, f"openenv-test-faulty:{uuid.uuid4().hex[:8]}", RUN, directory) as tag:
        yield tag


@pytest.fixture
def nothing_left(engine: Engine) -> Iterator[None]:
    """Fails a test that leaves a container of the images above, or one of their volumes."""
    yield
    left = containers(engine, f"label={RUN}")
    for container in left:
        engine.call("rm", "--force", "--volumes", container, check=False)
    assert left == []


def containers(engine: Engine, condition: str = f"label={RUN}") -> list[str]:
    """The ids of all containers that a filter finds."""
    return engine.call(
        "container", "ls", "--all", "--quiet", "--no-trunc", "--filter", condition
    ).stdout.split()


def gone(engine: Engine, name: str) -> None:
    """Waits until there is no container of that name."""
    eventually(lambda: engine.inspect("container", name) is None, 60)
