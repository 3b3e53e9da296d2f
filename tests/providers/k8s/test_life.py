"""A workload's whole life, through the official client, on an API double."""

import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from openenv.client.generic import GenericEnvClient
from openenv.protocol.errors import ConfigurationError, NotAvailable, NotReady, ProviderError
from openenv.providers import cleanup, kubernetes_api, owner
from openenv.providers.kubernetes import KubernetesProvider, KubernetesRunning
from openenv.providers.kubernetes_api import ClusterError
from openenv.providers.launch import Launch, Resources
from tests.providers.k8s.double import Double
from tests.providers.k8s.world import World
from tests.serving import eventually

pytestmark = pytest.mark.timeout(60)


def launch(
    provider: KubernetesProvider,
    image: str = "good:1",
    *,
    port: int | None = None,
    env_vars: dict[str, str] | None = None,
    **options: Any,
) -> KubernetesRunning:
    asked = Launch(
        image=image, port=port, env_vars=env_vars or {}, ready_timeout_s=30, options=options
    )
    return provider.launch(asked)


def test_from_created_to_deleted(double: Double, provider: KubernetesProvider) -> None:
    with launch(provider, env_vars={"MODE": "fast", "API_TOKEN": "secret"}) as running:
        kinds = sorted(thing.split()[0] for thing in double.world.left())
        assert kinds == ["Deployment", "Pod", "Secret", "Service"]
        with GenericEnvClient(running.url).sync() as client:
            client.reset()
            assert client.step({"amount": 3}).observation["count"] == 3
        assert running.problem() is None
        assert running.logs() == "serving\n"
        assert len(running.pods()) == 1
    assert double.world.left() == []
    running.stop()


def test_what_belongs_to_a_deployment_goes_with_it(
    double: Double, provider: KubernetesProvider
) -> None:
    running = launch(provider, env_vars={"API_TOKEN": "secret"})
    double.act(lambda world: world.delete(("Deployment", "rl", running.workload.name)))
    assert double.world.left() == []
    assert "somebody deleted it" in str(running.problem())
    running.stop()


def test_scaling(double: Double, provider: KubernetesProvider) -> None:
    with launch(provider, replicas=2) as running:
        running.scale(4, timeout_s=30)
        assert len(running.pods()) == 4
        running.scale(1, timeout_s=30)
        assert len(running.pods()) == 1
        running.scale(0, timeout_s=30)
        assert running.pods() == []
        with pytest.raises(ConfigurationError, match="-1"):
            running.scale(-1)


def test_a_scaling_that_fails_is_taken_back(double: Double, provider: KubernetesProvider) -> None:
    with launch(provider) as running:
        double.world.fates["good"] = "big"
        with pytest.raises(ProviderError, match="Insufficient memory"):
            running.scale(3, timeout_s=30)
        eventually(lambda: len([t for t in double.world.left() if t.startswith("Pod")]) == 1)
        assert running.replicas == 1


def test_a_lost_pod_is_replaced_and_found(double: Double, provider: KubernetesProvider) -> None:
    with launch(provider) as running:
        [lost] = running.pods()
        double.act(lambda world: world.lose(lost))
        running.wait_until_healthy(5)
        assert running.pods() != [lost]
        with GenericEnvClient(running.url).sync() as client:
            client.reset()


@pytest.mark.parametrize(
    ("image", "told"),
    [
        ("missing:1", r"ErrImagePull: manifest for \"missing:1\" not found; push the image"),
        ("never:1", "ErrImageNeverPull: .*load the image into every node"),
        ("crash:1", r"CrashLoopBackOff: .*exit code 1(.|\n)*ModuleNotFoundError"),
        ("oom:1", "OOMKilled: .*exit code 137.*; give it more memory"),
        ("big:1", "Unschedulable: 0/2 nodes are available: 2 Insufficient memory"),
        ("quota:1", "FailedCreate: .*exceeded quota.*; ask for less"),
    ],
)
def test_what_will_never_run_is_told_at_once(
    double: Double, provider: KubernetesProvider, image: str, told: str
) -> None:
    with pytest.raises(ProviderError, match=told):
        launch(provider, image)
    assert double.world.left() == []


def test_what_was_killed_once_and_runs_again_is_well(provider: KubernetesProvider) -> None:
    with launch(provider, "survivor:1") as running:
        assert running.problem() is None
        running.scale(2, timeout_s=30)


def test_what_does_not_become_ready_in_time(double: Double, provider: KubernetesProvider) -> None:
    with pytest.raises(
        NotReady, match=r"waited 0.3 s for 1 ready pod\(s\): slow-.* is Running, not ready"
    ):
        provider.launch(Launch(image="slow:1", ready_timeout_s=0.3))
    assert double.world.left() == []


@pytest.mark.parametrize("access", ["service", "node-port"])
def test_other_ways_to_a_pod(double: Double, provider: KubernetesProvider, access: str) -> None:
    running = provider.begin(Launch(image="good:1", options={"access": access}))
    expected = {"service": "http://10.0.0.7:8000", "node-port": "http://127.0.0.1:31234"}
    assert running.url == expected[access]
    running.stop()


def test_the_older_interface(double: Double, provider: KubernetesProvider) -> None:
    url = provider.start_container("good:1", memory="256m", replicas=2)
    provider.wait_for_ready(url, timeout_s=30)
    [deployment] = [o for key, o in double.world.objects.items() if key[0] == "Deployment"]
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["resources"]["limits"] == {"memory": "256Mi"}
    provider.stop_container()
    assert double.world.left() == []


def test_a_taken_port_is_told_before_anything_is_made(
    double: Double, provider: KubernetesProvider
) -> None:
    with pytest.raises(ProviderError, match=f"port {double.port} .*cannot be had"):
        launch(provider, port=double.port)
    assert "create Deployment" not in double.calls


def test_a_name_that_is_taken_is_left_alone(double: Double, provider: KubernetesProvider) -> None:
    with launch(provider, name="mine") as running:
        with pytest.raises(ClusterError, match="already exists"):
            launch(provider, name="mine")
        assert len(running.pods()) == 1
    assert double.world.left() == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"replica": 2}, "has no option replica"),
        ({"name": "Not_A_Name"}, "name must be lower-case"),
        ({"access": "magic"}, "access must be one of port-forward, service, node-port"),
        ({"replicas": -1}, "replicas must be 0 or more"),
        ({"run_as_user": 0}, "do not run as root"),
        ({"image_pull_policy": "Sometimes"}, "image_pull_policy must be one of"),
    ],
)
def test_options_that_cannot_be_meant(
    double: Double, provider: KubernetesProvider, options: dict[str, Any], told: str
) -> None:
    with pytest.raises((ProviderError, ConfigurationError), match=told):
        launch(provider, **options)
    assert double.calls == []


def test_a_launch_that_no_cluster_can_run(provider: KubernetesProvider) -> None:
    with pytest.raises(ProviderError, match="a cluster runs images"):
        provider.launch(Launch(project="."))
    with pytest.raises(ProviderError, match="cannot limit its processes to 5"):
        provider.launch(Launch(image="good", resources=Resources(pids=5)))
    with pytest.raises(ConfigurationError, match="memory must be a size such as 512m"):
        provider.launch(Launch(image="good", resources=Resources(memory="lots")))


def test_what_is_no_object_of_kubernetes(double: Double, provider: KubernetesProvider) -> None:
    with pytest.raises(ClusterError, match="nodeSelector.disk|Deployment is invalid"):
        launch(provider, node_selector={"disk": 3})
    assert "create Deployment" not in double.calls


def test_no_cluster(tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="there is no cluster to talk to"):
        KubernetesProvider(kubeconfig=str(tmp_path / "none")).cluster()
    broken = tmp_path / "broken"
    broken.write_text("clusters: [")
    with pytest.raises(NotAvailable, match="there is no cluster to talk to"):
        KubernetesProvider(kubeconfig=str(broken)).cluster()


def test_a_cluster_that_is_down(
    double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes_api, "FIRST_PAUSE_S", 0.005)
    before = dict(cleanup._running)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        double.server = f"http://127.0.0.1:{taken.getsockname()[1]}"
    provider = KubernetesProvider(kubeconfig=double.kubeconfig(tmp_path))
    with pytest.raises(ClusterError, match="cannot be reached: .*refused"):
        launch(provider, env_vars={"API_TOKEN": "secret"})
    assert cleanup._running == before


def test_no_client() -> None:
    script = (
        "import sys; sys.modules['kubernetes'] = None\n"
        "from openenv.providers.kubernetes import KubernetesProvider\n"
        "KubernetesProvider().cluster()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=15, check=False
    )
    assert "pip install 'openenv-core[kubernetes]'" in ended.stderr


def test_what_a_pod_starts_goes_with_it(
    double: Double, provider: KubernetesProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider.cluster(), "_pod", "trainer")
    double.act(lambda world: world.create(TRAINER))
    running = launch(provider, env_vars={"API_TOKEN": "secret"})
    double.act(lambda world: world.delete(("Pod", "rl", "trainer")))
    assert double.world.left() == []
    running.stop()


TRAINER = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "trainer", "namespace": "rl"},
    "spec": {"containers": [{"name": "trainer", "image": "trainer:1"}]},
}


LAUNCHING = """
import sys
from openenv.providers.kubernetes import KubernetesProvider
from openenv.providers.launch import Launch
launch = Launch(image="good:1", env_vars={"API_TOKEN": "secret"})
KubernetesProvider(kubeconfig=sys.argv[1]).launch(launch)
"""


@pytest.mark.parametrize("call", ["create Deployment", "create Service", "watch Pod"])
def test_a_trainer_that_is_killed_while_it_launches(
    double: Double, provider: KubernetesProvider, tmp_path: Path, call: str
) -> None:
    config = double.kubeconfig(tmp_path)
    with subprocess.Popen([sys.executable, "-c", LAUNCHING, config]) as trainer:
        double.watched = lambda seen: trainer.kill() if seen == call else None
        trainer.wait(50)
    double.watched = lambda seen: None
    eventually(lambda: any(name.startswith("Secret") for name in double.world.left()))
    [reaped] = provider.reap()
    assert reaped.startswith("good-")
    eventually(lambda: double.world.left() == [])


def test_what_a_killed_owner_left_is_reaped(
    double: Double, provider: KubernetesProvider, tmp_path: Path
) -> None:
    config = double.kubeconfig(tmp_path)
    living = launch(provider)
    left = launch(provider, env_vars={"API_TOKEN": "secret"}, replicas=2)
    dead = dict(owner.labels()) | {"openenv.pid": str(2**22 - 1), "openenv.pid-started": "1"}
    change = {"metadata": {"annotations": dead}}
    for kind in ("Secret", "Deployment", "Service"):
        key = (kind, "rl", left.workload.name)
        double.act(partial(World.patch, key=key, change=change))
    assert provider.reap() == [left.workload.name]
    names = [thing.split()[1] for thing in double.world.left()]
    assert len(names) == 3 and all(n.startswith(living.workload.name) for n in names)
    assert provider.reap() == []
    double.act(partial(World.patch, key=("Service", "rl", living.workload.name), change=change))
    KubernetesProvider(kubeconfig=config).launch(Launch(image="good:1", ready_timeout_s=30)).stop()
    assert f"Service {living.workload.name}" not in double.world.left()
    living.stop()
    left.stop()
    assert double.world.left() == []
