"""Providers that others wrote to the two older interfaces."""

from collections.abc import Mapping
from typing import Any

import pytest

from openenv.core.containers.runtime import ContainerProvider, RuntimeProvider
from openenv.env.environment import Environment
from openenv.env.models import Action, Observation
from openenv.protocol.errors import ConfigurationError, NotReady, ProviderError
from openenv.providers import Launch, LocalDockerProvider, Provider, Resources, as_provider
from tests.serving import serving


class Quiet(Environment[Action, Observation]):
    def reset(self, **_: Any) -> Observation:
        return Observation()

    def step(self, action: Action, **_: Any) -> Observation:
        return Observation()


class Cloud(ContainerProvider):
    """Starts "containers" somewhere."""

    def __init__(self, url: str, fails: Exception | None = None) -> None:
        self.url = url
        self.fails = fails
        self.calls: list[Any] = []

    def start_container(
        self,
        image: str,
        port: int | None = None,
        env_vars: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> str:
        self.calls.append(("start", image, port, env_vars, kwargs))
        return self.url

    def stop_container(self) -> None:
        self.calls.append("stop")

    def wait_for_ready(self, base_url: str, timeout_s: float = 30.0) -> None:
        self.calls.append(("wait", base_url, timeout_s))
        if self.fails:
            raise self.fails


class Local(RuntimeProvider):
    """Starts "servers" here."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.calls: list[Any] = []

    def start(
        self, port: int | None = None, env_vars: Mapping[str, str] | None = None, **kwargs: Any
    ) -> str:
        self.calls.append(("start", port, env_vars, kwargs))
        return self.url

    def stop(self) -> None:
        self.calls.append("stop")

    def wait_for_ready(self, timeout_s: float = 30.0) -> None:
        self.calls.append(("wait", timeout_s))


def test_a_container_provider_is_used_as_it_expects() -> None:
    cloud = Cloud("https://far.example/env")
    launch = Launch(image="i", port=7, env_vars={"A": "b"}, options={"gpu": 1}, ready_timeout_s=9.0)
    with as_provider(cloud).launch(launch) as running:
        assert running.url == "https://far.example/env"
        assert running.logs() == ""
        assert running.problem() is None
    running.stop()
    assert cloud.calls == [
        ("start", "i", 7, {"A": "b"}, {"gpu": 1}),
        ("wait", "https://far.example/env", 9.0),
        "stop",
    ]


def test_a_runtime_provider_is_used_as_it_expects() -> None:
    local = Local("http://127.0.0.1:1")
    with as_provider(local).launch(Launch(options={"workers": 2}, ready_timeout_s=9.0)):
        pass
    assert local.calls == [("start", None, None, {"workers": 2}), ("wait", 9.0), "stop"]


def test_limits_reach_those_who_may_know_them_and_are_never_dropped() -> None:
    cloud = Cloud("x")
    limits = Resources(memory="512m", pids=None)
    with as_provider(cloud).launch(Launch(image="i", resources=limits)):
        assert cloud.calls[0] == ("start", "i", None, None, {"memory": "512m", "pids": None})


@pytest.mark.parametrize(
    ("provider", "launch", "refused"),
    [
        (Cloud("x"), Launch(image="i", project="p"), "Cloud has no use of project='p'"),
        (Local("x"), Launch(image="i"), "Local has no use of image='i'"),
    ],
)
def test_what_they_cannot_start_is_refused(provider: Any, launch: Launch, refused: str) -> None:
    with pytest.raises(ProviderError, match=refused):
        as_provider(provider).launch(launch)
    assert provider.calls == []


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (TimeoutError("too slow"), NotReady),
        (RuntimeError("no quota"), ProviderError),
        (NotReady("ours"), NotReady),
        (ValueError(), ProviderError),
    ],
)
def test_what_they_raise_is_typed_and_they_are_stopped(
    raised: Exception, expected: type[ProviderError]
) -> None:
    cloud = Cloud("http://127.0.0.1:1", raised)
    with pytest.raises(expected, match=str(raised) or "ValueError"):
        as_provider(cloud).launch(Launch(image="i"))
    assert cloud.calls[-1] == "stop"


def test_what_acts_like_a_provider_is_one() -> None:
    class Duck:
        def start(self) -> str:
            return "http://127.0.0.1:1"

        def stop(self) -> None:
            pass

        def wait_for_ready(self, timeout_s: float) -> None:
            pass

    assert isinstance(as_provider(Duck()), Provider)
    with pytest.raises(ConfigurationError, match="start_container"):
        as_provider("docker")


def test_the_two_interfaces_are_context_managers() -> None:
    cloud, local = Cloud("x"), Local("x")
    with cloud as same:
        assert same is cloud
    with local as same_local:
        assert same_local is local
    assert cloud.calls == ["stop"]
    assert local.calls == [("start", None, None, {}), "stop"]


@pytest.mark.parametrize("kind", [ContainerProvider, RuntimeProvider, Provider])
def test_an_interface_is_not_a_provider(kind: type) -> None:
    with pytest.raises(TypeError):
        kind()


def test_ours_are_both() -> None:
    assert issubclass(LocalDockerProvider, ContainerProvider)
    assert issubclass(LocalDockerProvider, Provider)


def test_a_server_that_is_up_is_waited_for_by_its_address() -> None:
    with serving(Quiet) as served:
        url = f"http://127.0.0.1:{served.port}"

        class Here(Cloud):
            def wait_for_ready(self, base_url: str, timeout_s: float = 30.0) -> None:
                from openenv.providers.health import wait_until_healthy

                wait_until_healthy(base_url, timeout_s)

        with as_provider(Here(url)).launch(Launch(image="i")) as running:
            assert running.url == url
