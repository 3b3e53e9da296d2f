"""DockerSwarmProvider on a real swarm of one node: a daemon of the test's own."""

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from openenv.protocol.errors import NotAvailable, NotReady, ProviderError
from openenv.providers import DockerSwarmProvider, Launch, LocalDockerProvider, Resources
from openenv.providers.engine import Engine
from openenv.providers.swarm_service import SwarmService
from tests.containers.conftest import containers
from tests.containers.daemons import own_daemon
from tests.containers.images import built, write_faulty
from tests.serving import eventually

pytestmark = pytest.mark.timeout(240)
LABEL = "openenv.test-swarm=1"
IMAGE = "openenv-test-faulty:swarm"
LONG_S = 120.0


@pytest.fixture(scope="module")
def swarm(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine that is in no swarm, and has the faulty image."""
    with pytest.MonkeyPatch.context() as patch, own_daemon(3) as daemon:
        patch.setenv("DOCKER_HOST", daemon.host)
        directory = write_faulty(tmp_path_factory.mktemp("swarm-image"))
        with built(engine, IMAGE, LABEL, directory):
            yield engine


@pytest.fixture
def provider(swarm: Engine) -> Iterator[DockerSwarmProvider]:
    """Its swarm ends with it, and nothing is left of it."""
    with DockerSwarmProvider() as provider:
        yield provider
    assert swarm.swarm()["LocalNodeState"] == "inactive"
    assert containers(swarm, f"label={LABEL}") == []
    networks = swarm.call("network", "ls", "--format", "{{.Name}}").stdout.split()
    assert sorted(networks) == ["bridge", "host", "none"]
    assert swarm.call("volume", "ls", "--quiet").stdout == ""


def of(fault: str = "", **options: object) -> Launch:
    options = {"replicas": 2, "endpoint_mode": "dnsrr"} | options
    return Launch(image=IMAGE, env_vars={"FAULT": fault}, ready_timeout_s=LONG_S, options=options)


def get(url: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=30) as answer:
        text: str = answer.read().decode()
        return text


def test_replicas_scale_and_are_replaced(provider: DockerSwarmProvider, swarm: Engine) -> None:
    with provider.launch(of()) as service:
        assert isinstance(service, SwarmService)
        assert service.url in service.urls()
        assert len({get(url) for url in service.urls()}) == 2, "each tells its own host name"
        service.scale(3, LONG_S)
        assert len(service.urls()) == 3
        before = set(containers(swarm, "status=running"))
        swarm.call("kill", "--signal=KILL", next(iter(before)))
        eventually(lambda: len(set(containers(swarm, "status=running")) - before) == 1, LONG_S)
        service.wait_until_healthy(LONG_S)
        assert len(service.urls()) == 3
        assert "the fault is none" in service.logs()
        service.scale(1, LONG_S)
        assert len(service.urls()) == 1
    service.stop()


def test_a_service_has_limits(provider: DockerSwarmProvider, swarm: Engine) -> None:
    limits = Resources(memory="64m", cpus=0.5, pids=50)
    options = {"replicas": 1, "endpoint_mode": "dnsrr", "memory_limit": "96m"}
    launch = Launch(image=IMAGE, resources=limits, options=options, ready_timeout_s=LONG_S)
    with provider.launch(launch) as service:
        assert isinstance(service, SwarmService)
        found = swarm.inspect("service", service.name) or {}
        template = found["Spec"]["TaskTemplate"]
        assert template["Resources"]["Limits"] == {
            "MemoryBytes": 96 << 20,
            "NanoCPUs": 500_000_000,
            "Pids": 50,
        }
        assert template["ContainerSpec"]["CapabilityDrop"] == ["ALL"]
        assert "openenv.owner" in found["Spec"]["Labels"]
        assert provider.reap() == []


def test_a_port_of_all_nodes(provider: DockerSwarmProvider, swarm: Engine) -> None:
    """The mesh behind that port needs IPVS, which a kernel may lack: then it says what was seen."""
    launch = Launch(
        image=IMAGE, options={"replicas": 1, "command": "python3 /faulty.py"}, ready_timeout_s=4
    )
    service = provider.begin(launch)
    assert isinstance(service, SwarmService)
    with service:
        found = swarm.inspect("service", service.name) or {}
        port = found["Endpoint"]["Ports"][0]
        assert (port["TargetPort"], port["PublishMode"]) == (8000, "ingress")
        assert service.urls() == [f"http://127.0.0.1:{port['PublishedPort']}"]
        if not Path("/proc/net/ip_vs").exists():
            with pytest.raises(NotReady, match="task .*: running"):
                service.wait_until_healthy(3)


@pytest.mark.parametrize(
    ("fault", "told"), [("exit", "the level file is missing"), ("status:500", "it answered 500")]
)
def test_a_service_that_fails(
    provider: DockerSwarmProvider, swarm: Engine, fault: str, told: str
) -> None:
    launch = Launch(
        image=IMAGE,
        env_vars={"FAULT": fault},
        ready_timeout_s=90 if fault == "exit" else 3,
        options={"replicas": 1, "endpoint_mode": "dnsrr"},
    )
    with pytest.raises(ProviderError, match=told):
        provider.launch(launch)
    assert swarm.call("service", "ls", "--quiet").stdout == ""


def test_an_image_that_no_node_has(provider: DockerSwarmProvider) -> None:
    with pytest.raises(ProviderError, match="No such image"):
        provider.launch(
            Launch(image="no-such/image:1", options={"endpoint_mode": "dnsrr"}, ready_timeout_s=60)
        )


def test_the_older_interface(provider: DockerSwarmProvider, swarm: Engine) -> None:
    url = provider.start_container(IMAGE, replicas=1, endpoint_mode="dnsrr", labels={"a": "b"})
    provider.wait_for_ready(url, timeout_s=LONG_S)
    assert "PATH" in get(url)
    provider.stop_container()
    assert swarm.call("service", "ls", "--quiet").stdout == ""
    with pytest.raises(ValueError, match="no option bogus;"):
        provider.start_container(IMAGE, bogus=1)
    for wrong in ({"endpoint_mode": "vip"}, {"replicas": 0}):
        with pytest.raises(ProviderError):
            provider.start_container(IMAGE, **wrong)


def test_a_swarm_is_made_only_if_it_may(swarm: Engine) -> None:
    with pytest.raises(NotAvailable, match="docker swarm init"):
        DockerSwarmProvider(auto_init_swarm=False)
    with DockerSwarmProvider() as first:
        with DockerSwarmProvider(auto_init_swarm=False):
            pass
        assert swarm.swarm()["LocalNodeState"] == "active", "it is not the second one's"
        with pytest.raises(NotAvailable, match="no network nowhere"):
            DockerSwarmProvider(overlay_network="nowhere")
        first.close()
    assert swarm.swarm()["LocalNodeState"] == "inactive"
    with pytest.raises(NotAvailable, match="no network nowhere"):
        DockerSwarmProvider(overlay_network="nowhere")
    assert swarm.swarm()["LocalNodeState"] == "inactive"
    LocalDockerProvider(engine="docker").reap()
