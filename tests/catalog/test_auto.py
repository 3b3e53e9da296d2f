"""AutoEnv and AutoAction: from a name to a client, a class, or the reason why there is none."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openenv import GenericAction, GenericEnvClient
from openenv.auto import AutoAction, AutoEnv
from openenv.client.fetching import is_available
from openenv.client.launching import Launching
from openenv.protocol.errors import ConfigurationError, ConnectFailed, ProviderError
from openenv.testing import Add, Count, Counting
from tests.catalog.packages import install
from tests.client.starting import START_S, Old, Place
from tests.serving import Served, eventually, serving

NOBODY = "http://127.0.0.1:9"
"""Nobody listens on the port of `discard`."""
CLIENT = """
from openenv.testing import Add as CountingAction, Count as CountingObservation, CountingClient

class CountingEnv(CountingClient):
    "The client of the tests' environment."
"""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving(Counting, max_concurrent_envs=8) as served:
        yield served


@pytest.fixture
def url(served: Served) -> Iterator[str]:
    yield f"http://127.0.0.1:{served.port}"
    eventually(lambda: served.openenv.active_sessions == 0)


@pytest.fixture(autouse=True)
def counting(site: Path) -> None:
    """The environment, installed."""
    install(site, "openenv-counting-env", "counting_env", files={"client.py": CLIENT})


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("place"))
    yield place
    place.await_none()


def test_a_name_and_an_address_are_a_client(url: str) -> None:
    client: Any = AutoEnv.from_env("counting", base_url=url, message_timeout_s=5.0)
    assert type(client).__name__ == "CountingEnv"
    with client:
        assert isinstance(client.reset().observation, Count)
    other: Any = AutoEnv.from_hub("counting-env", base_url=url)
    blocking = other.sync()
    blocking.reset()
    blocking.close()


def test_without_the_package_it_is_a_client_of_dicts(url: str) -> None:
    client: Any = AutoEnv.from_env("whatever/it-is", base_url=url, skip_install=True)
    assert isinstance(client, GenericEnvClient)
    with client:
        client.reset()
        assert client.step(GenericAction(amount=3)).observation["count"] == 3


@pytest.mark.timeout(120)
def test_a_name_alone_starts_a_container(place: Place) -> None:
    old = place.provider()
    handle = AutoEnv.from_env(
        "counting", container_provider=old, env_vars={"GREETING": "hi"}, wait_timeout=START_S
    )
    assert isinstance(handle, Launching)
    assert old.asked == []
    client = handle.sync()
    client.reset()
    assert client.step(Add(amount=3)).reward == 3.0
    client.close()
    expected = {"port": None, "env_vars": {"GREETING": "hi"}}
    assert old.asked == [("counting-env:latest", expected)]


def test_a_container_is_of_the_image_that_this_machine_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker = tmp_path / "docker"
    asked = tmp_path / "asked"
    docker.write_text(
        f'#!/bin/sh\necho "$*" >> {asked}\n'
        'case "$1 $2" in\n'
        '  "image inspect") [ "$3" = "$HAS" ] && echo "[{}]" ;;\n'
        '  "version "*|"container ls"|"ps "*) ;;\n'
        "  *) exit 1 ;;\n"
        "esac\n"
    )
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("HAS", "openenv-counting")
    with pytest.raises(ProviderError), AutoEnv.from_env("counting"):
        pass
    (started,) = [line for line in asked.read_text().splitlines() if line.startswith("run ")]
    assert started.endswith(" openenv-counting")
    monkeypatch.setenv("HAS", "nothing")
    build = "openenv build --tag counting-env:latest"
    with pytest.raises(ProviderError, match=build), AutoEnv.from_env("counting"):
        pass


@pytest.mark.timeout(120)
def test_a_server_of_this_machine_that_is_down_is_replaced_by_a_container(place: Place) -> None:
    async def main(old: Old) -> None:
        handle: Any = AutoEnv.from_env(
            "counting", base_url=NOBODY, docker_image="mine:1", container_provider=old
        )
        async with handle as client:
            await client.reset()
        assert old.asked[0][0] == "mine:1"

    asyncio.run(main(place.provider()))


def test_what_gives_no_client_says_why(url: str) -> None:
    for base_url in (NOBODY, "http://nobody.invalid"):
        with pytest.raises(ConnectFailed, match="no healthy server"):
            AutoEnv.from_env("counting", base_url=base_url, skip_install=True)
    with pytest.raises(ConnectionError, match="no healthy server"):
        AutoEnv.from_env("counting", base_url="http://nobody.invalid")
    with pytest.raises(ValueError, match="pass base_url or docker_image"):
        AutoEnv.from_env("counting", skip_install=True)
    with pytest.raises(ValueError, match="Did you mean: counting"):
        AutoEnv.from_env("countin", base_url=url)
    with pytest.raises(ValueError, match="owner/name"):
        AutoEnv.from_env("a/b/c")
    with pytest.raises(ValueError, match="names no image"):
        AutoEnv.from_env("somebody/something@v1", skip_install=True)


def test_remote_code_is_not_run_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENENV_TRUST_REMOTE_CODE", raising=False)
    for ask in (AutoEnv.from_env, AutoAction.from_env, AutoAction.from_hub):
        with pytest.raises(ConfigurationError, match="to install it is to run its code"):
            ask("somebody/something")


def test_a_terminal_is_asked_and_no_means_no(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return "\n"

    monkeypatch.setattr("sys.stdin", Terminal())
    with pytest.raises(ConfigurationError, match="was not installed, as you said"):
        AutoEnv.from_env("somebody/something")


def test_actions_by_name() -> None:
    assert AutoAction.from_env("counting") is Add
    assert AutoAction.from_env("counting", skip_install=True) is GenericAction
    assert AutoAction.get_action_info("counting-env") == {
        "env_key": "counting",
        "env_name": "counting_env",
        "package": "openenv-counting-env",
        "action_class": "CountingAction",
        "observation_class": "CountingObservation",
        "module": "counting_env.client",
    }


def test_what_is_known_of_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert AutoEnv.get_env_class("counting").__name__ == "CountingEnv"
    assert AutoEnv.get_env_info("counting") == {
        "env_key": "counting",
        "name": "counting_env",
        "package": "openenv-counting-env",
        "version": "1.0",
        "description": "A world",
        "env_class": "CountingEnv",
        "action_class": "CountingAction",
        "observation_class": "CountingObservation",
        "module": "counting_env.client",
        "default_image": "counting-env:latest",
        "spec_version": None,
    }
    AutoEnv.list_environments()
    AutoAction.list_actions()
    printed = capsys.readouterr().out
    assert "counting: A world (openenv-counting-env 1.0)" in printed
    assert "counting: CountingAction (counting_env)" in printed


@pytest.mark.parametrize("factory", [AutoEnv, AutoAction])
def test_there_are_no_instances(factory: Any) -> None:
    with pytest.raises(TypeError, match="has no instances"):
        factory()


def test_whether_a_server_is_up(url: str) -> None:
    assert is_available(url)
    assert not is_available(NOBODY, timeout_s=1.0)
    assert not is_available("http://nobody.invalid", timeout_s=5.0)
    with pytest.raises(ConfigurationError, match="server's address"):
        is_available("ftp://host")


def test_a_server_that_is_something_else_is_not_up(url: str) -> None:
    assert not is_available(f"{url}/nowhere")
