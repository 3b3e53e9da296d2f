"""Images whose environments are served by processes."""

from pathlib import Path

import pytest

from openenv import is_available, providers
from openenv.protocol.errors import ConfigurationError
from openenv.providers import LocalDockerProvider
from openenv.testing import Add, CountingClient, images_as_processes

pytestmark = pytest.mark.timeout(180)


def test_an_image_is_the_project_that_is_said(tmp_path: Path) -> None:
    project = tmp_path / "world.py"
    project.write_text("from openenv.testing import Counting as World\n")
    with (
        images_as_processes({"my-image": f"{project}:World"}) as started,
        CountingClient.from_docker_image("registry.example/me/my-image:v3") as env,
    ):
        env.reset(seed=2)
        assert env.step(Add(amount=3)).observation.count == 5
        assert [running.url for running in started] == [env.base_url]
    assert not is_available(started[0].url, 1)
    assert providers.LocalDockerProvider is LocalDockerProvider


def test_an_image_of_nothing_says_what_there_is() -> None:
    with (
        images_as_processes() as started,
        pytest.raises(ConfigurationError, match="Unknown environment 'lamp-env'"),
    ):
        CountingClient.from_docker_image("lamp-env:latest").sync()
    assert started == []
    assert providers.LocalDockerProvider is LocalDockerProvider
