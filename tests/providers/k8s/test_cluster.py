"""KubernetesProvider on a real cluster of two nodes: `make test-k8s`.

It runs where `scripts/k8s/cluster run` puts it, with OPENENV_TEST_CLUSTER naming that script. Each
phase's time is printed (`-s` shows it). Pods of this old Kubernetes take up to a minute to go.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from openenv.client.generic import GenericEnvClient
from openenv.protocol.errors import NotReady, ProviderError
from openenv.providers.engine import Engine
from openenv.providers.kubernetes import KubernetesProvider, KubernetesRunning
from openenv.providers.kubernetes_connect import connect
from openenv.providers.kubernetes_manifests import MANAGED_BY
from openenv.providers.kubernetes_objects import remaining, wait_until_gone
from openenv.providers.launch import Launch, Resources
from tests.containers.images import ROOT, built, write_echo
from tests.serving import eventually

SCRIPT = os.environ.get("OPENENV_TEST_CLUSTER", "")
IMAGE = "openenv-k8s-echo:1"
OURS = ("-l", f"{MANAGED_BY}=openenv")
NODES = ("node1", "node2")
GONE_S = 150.0
START_S = 120.0

if not SCRIPT:
    pytest.skip("no cluster; make test-k8s brings one up", allow_module_level=True)

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An image of ours on every node."""
    directory = write_echo(tmp_path_factory.mktemp("image"))
    with built(Engine("docker"), IMAGE, "openenv.test=k8s", directory):
        subprocess.run([SCRIPT, "load", IMAGE], check=True, timeout=120, stdout=subprocess.DEVNULL)
        yield IMAGE


@pytest.fixture
def provider(image: str) -> Iterator[KubernetesProvider]:
    """A provider after whose test nothing but pods on their way out is left in the cluster."""
    provider = KubernetesProvider(image_pull_policy="Never")
    yield provider
    try:
        eventually(lambda: kubectl("get", "deploy,rs,svc,secrets", "-o", "name", *OURS) == "", 30)
    finally:
        kubectl("delete", "deploy,svc,secrets", "--wait=false", *OURS)
        provider.close()


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Fails if a pod is left after all tests."""
    yield
    cluster = connect()
    with timed("until the last pod is gone"):
        wait_until_gone(cluster, {MANAGED_BY: "openenv"}, GONE_S)
    cluster.close()


@contextmanager
def timed(what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    tell(f"{what}: {time.monotonic() - began:.2f} s")


def tell(what: str) -> None:
    sys.stdout.write(f"\n  {what}")


def launch(
    provider: KubernetesProvider,
    *,
    memory: str = "256m",
    timeout_s: float = START_S,
    image: str = IMAGE,
    **options: Any,
) -> KubernetesRunning:
    resources = Resources(memory=memory, cpus=1.0)
    return provider.launch(
        Launch(image=image, resources=resources, ready_timeout_s=timeout_s, options=options)
    )


def kubectl(*args: str) -> str:
    ended = subprocess.run(
        ["kubectl", *args], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def play(url: str) -> None:
    """Some steps of an episode."""
    with GenericEnvClient(url).sync() as client:
        client.reset()
        for text in ("a", "b", "c"):
            assert text in json.dumps(client.step({"message": text}).observation)


def test_start_step_see_and_stop(provider: KubernetesProvider) -> None:
    with timed("launch"):
        running = launch(provider)
    with running:
        with timed("connect, reset, three steps, close, through the port-forward"):
            play(running.url)
        steps = step_times(running.url, 300)
        tell(f"a step: p50 {steps[150] * 1e3:.2f} ms, p99 {steps[297] * 1e3:.2f} ms")
        seen = kubectl("get", "deployment,service", *OURS)
        assert seen.count(running.workload.name) == 2
        assert "serving" in running.logs()
        assert running.problem() is None
        with timed("stop"):
            running.stop()


def step_times(url: str, count: int) -> list[float]:
    times = []
    with GenericEnvClient(url).sync() as client:
        client.reset()
        for _ in range(count):
            began = time.perf_counter()
            client.step({"message": "x"})
            times.append(time.perf_counter() - began)
    return sorted(times)


def test_a_quiet_connection_stays(provider: KubernetesProvider) -> None:
    """Longer than any ping of the forwarding may go unanswered."""
    with launch(provider) as running, GenericEnvClient(running.url).sync() as client:
        client.reset()
        time.sleep(50)
        client.step({"message": "still there"})


INSIDE = """
from openenv.client.generic import GenericEnvClient
from openenv.providers.kubernetes import KubernetesProvider
from openenv.providers.launch import Launch
provider = KubernetesProvider(image_pull_policy="Never")
launch = Launch(image={image!r}, ready_timeout_s=120, options={{"access": "service"}})
with provider.launch(launch) as running:
    with GenericEnvClient(running.url).sync() as client:
        client.reset()
        client.step({{"message": "hello"}})
    print(running.url)
"""


def test_step_through_the_service(provider: KubernetesProvider) -> None:
    script = INSIDE.format(image=IMAGE)
    on_a_node = ["nsenter", "--net=/run/netns/openenv-k8s-1", sys.executable, "-c", script]
    with timed("launch, episode and stop through the Service, from a node"):
        ended = subprocess.run(on_a_node, capture_output=True, text=True, timeout=180, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("http://10.96.0.")


def test_step_through_a_port_of_the_nodes(provider: KubernetesProvider) -> None:
    with launch(provider, access="node-port") as running:
        assert running.url.startswith("http://172.31.201.1")
        play(running.url)


def test_scale(provider: KubernetesProvider) -> None:
    with launch(provider) as running:
        with timed("scale from 1 to 4"):
            running.scale(4, timeout_s=START_S)
        assert len(running.pods()) == 4
        assert nodes_of(running.pods()) == set(NODES)
        for _ in range(4):
            play(running.url)
        with timed("scale from 4 to 1"):
            running.scale(1, timeout_s=START_S)
        play(running.url)


def nodes_of(pods: Iterable[str]) -> set[str]:
    node = "jsonpath={.spec.nodeName}"
    return {kubectl("get", "pod", pod, "-o", node) for pod in pods}


def test_a_lost_node(provider: KubernetesProvider) -> None:
    with launch(provider, replicas=2, node_loss_s=2) as running:
        first = set(running.pods())
        assert nodes_of(first) == set(NODES)
        subprocess.run([SCRIPT, "cut", "1"], check=True, timeout=10)
        try:
            with timed("node cut off -> its pod not ready"):
                eventually(lambda: len(running.pods()) < 2, 60)
            with timed("-> two pods ready elsewhere"):
                running.wait_until_healthy(START_S)
            assert set(running.pods()) - first
            play(running.url)
        finally:
            subprocess.run([SCRIPT, "mend", "1"], check=True, timeout=10)
        with timed("node mended -> ready"):
            eventually(lambda: kubectl("get", "nodes").count(" Ready ") == 2, 90)


@pytest.mark.parametrize(
    ("policy", "reason"), [("Never", "ErrImageNeverPull"), ("Always", "ErrImagePull")]
)
def test_an_image_that_is_missing(provider: KubernetesProvider, policy: str, reason: str) -> None:
    with timed(f"{reason} told"), pytest.raises(ProviderError, match=reason):
        launch(provider, image="openenv-no-such:1", image_pull_policy=policy)


def test_a_server_that_crashes(provider: KubernetesProvider) -> None:
    command = ("python3", "-c", "raise SystemExit('no module named echo')")
    with timed("CrashLoopBackOff told"), pytest.raises(ProviderError) as raised:
        launch(provider, command=command)
    assert "CrashLoopBackOff" in str(raised.value)
    assert "exit code 1" in str(raised.value)
    assert "no module named echo" in str(raised.value)


def test_a_server_that_takes_too_much(provider: KubernetesProvider) -> None:
    command = ("python3", "-c", "x = [bytearray(1 << 20) for _ in range(1000)]")
    with timed("OOMKilled told"), pytest.raises(ProviderError, match="OOMKilled"):
        launch(provider, command=command, memory="64m")


def test_a_server_that_never_answers(provider: KubernetesProvider) -> None:
    command = ("python3", "-c", "print('waiting', flush=True); import time; time.sleep(600)")
    with timed("NotReady told"), pytest.raises(NotReady, match="not ready(.|\n)*waiting"):
        launch(provider, command=command, timeout_s=10)


def test_what_no_node_can_hold(provider: KubernetesProvider) -> None:
    with pytest.raises(ProviderError, match="Unschedulable: .*Insufficient memory"):
        launch(provider, memory="900g", requests={"memory": "900Gi"}, schedule_timeout_s=1)


def test_limits_hold(provider: KubernetesProvider) -> None:
    with launch(provider, read_only_root=True, tmp_size="16Mi") as running:
        [pod] = running.pods()
        look = (
            "cat /sys/fs/cgroup/memory/memory.limit_in_bytes; id -u; "
            "touch /site/x 2>&1; touch /tmp/x && echo writable; "
            "grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status; "
            "ls /var/run/secrets 2>&1 || true"
        )
        seen = kubectl("exec", pod, "--", "sh", "-c", look)
        assert seen.startswith(f"{256 << 20}\n1000\n")
        assert "Read-only file system" in seen
        assert "writable" in seen
        assert "CapEff:\t0000000000000000" in seen
        assert "NoNewPrivs:\t1" in seen
        assert "Seccomp:\t2" in seen
        assert "No such file" in seen


def test_a_quota(provider: KubernetesProvider) -> None:
    kubectl("create", "namespace", "small")
    kubectl("create", "quota", "one", "--hard=pods=1", "-n", "small")
    small = KubernetesProvider(namespace="small", image_pull_policy="Never")
    try:
        with launch(small) as running:
            with timed("quota told"), pytest.raises(ProviderError, match="exceeded quota"):
                running.scale(2, timeout_s=60)
            play(running.url)
        wait_until_gone(small.cluster(), running.workload.selector, GONE_S)
    finally:
        small.close()
        kubectl("delete", "namespace", "small", "--wait=false")


@pytest.fixture
def trainer(tmp_path: Path) -> Iterator[str]:
    """The token of an account that has the Role of the documentation, and no other right."""
    page = (ROOT / "docs" / "providers.md").read_text()
    role = page[page.index("apiVersion: rbac") :].split("```")[0]
    name = yaml.safe_load(role)["metadata"]["name"]
    manifest = tmp_path / "role.yaml"
    manifest.write_text(role)
    kubectl("create", "serviceaccount", "trainer")
    kubectl("apply", "-f", str(manifest))
    kubectl(
        "create", "rolebinding", "trainer", f"--role={name}", "--serviceaccount=default:trainer"
    )
    try:
        yield token_of("trainer")
    finally:
        kubectl("delete", "serviceaccount,rolebinding", "trainer")
        kubectl("delete", "-f", str(manifest))


def token_of(account: str) -> str:
    names: list[str] = []

    def there() -> bool:
        found = kubectl("get", "secrets", "-o", "name").split()
        names[:] = [name for name in found if name.startswith(f"secret/{account}-token")]
        return bool(names)

    eventually(there, 30)
    return kubectl("get", names[0], "-o", "go-template={{.data.token | base64decode}}")


def test_the_role_of_the_documentation_suffices(
    provider: KubernetesProvider, trainer: str, tmp_path: Path
) -> None:
    config = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())
    config["users"][0]["user"] = {"token": trainer}
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    account = KubernetesProvider(kubeconfig=str(path), image_pull_policy="Never")
    with account.launch(
        Launch(image=IMAGE, env_vars={"API_TOKEN": "secret"}, ready_timeout_s=START_S)
    ) as running:
        play(running.url)
        running.scale(2, timeout_s=START_S)
        assert running.logs()
        assert account.reap() == []
    account.close()
    elsewhere = connect(str(path), namespace="kube-system")
    with pytest.raises(ProviderError, match="403"):
        elsewhere.list("Pod")
    elsewhere.close()


IN_A_POD = """
import os
from openenv.providers.kubernetes import KubernetesProvider
from openenv.providers.launch import Launch
KubernetesProvider(image_pull_policy="Never").launch(Launch(image={image!r}, ready_timeout_s=120))
os._exit(0)
"""
AS_A_POD = """
mount -t tmpfs tmpfs /var/run && hostname {pod} && cd /var/run
mkdir -p secrets/kubernetes.io/serviceaccount && cd secrets/kubernetes.io/serviceaccount
cp {ca} ca.crt && printf %s "$TOKEN" > token && printf default > namespace
exec "$@"
"""


def test_what_a_pod_started_goes_with_it(provider: KubernetesProvider, trainer: str) -> None:
    """The process has of a pod its name, its account and its network, and so finds the cluster."""
    kubectl("run", "trainer", f"--image={IMAGE}", "--image-pull-policy=Never")
    config = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())["clusters"][0]["cluster"]
    host, port = config["server"].removeprefix("https://").split(":")
    inside = AS_A_POD.format(pod="trainer", ca=config["certificate-authority"])
    script = IN_A_POD.format(image=IMAGE)
    try:
        ended = subprocess.run(
            ["unshare", "--mount", "--uts", "sh", "-c", inside, "-", sys.executable, "-c", script],
            env={
                "PATH": os.environ["PATH"],
                "TOKEN": trainer,
                "KUBERNETES_SERVICE_HOST": host,
                "KUBERNETES_SERVICE_PORT": port,
            },
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert len(deployments(provider)) == 1
    finally:
        kubectl("delete", "pod", "trainer", "--wait=false", "--grace-period=0", "--force")
    eventually(lambda: deployments(provider) == [], 60)


def test_deploy_update_and_delete(provider: KubernetesProvider) -> None:
    deploy = ("deploy", "k8s", IMAGE, "--pull", "Never", "--name", "kept", "--memory", "256m")
    with timed("openenv deploy"):
        first = json.loads(openenv(*deploy, "--replicas", "2", "--json"))
    assert len(first["pods"]) == 2
    with timed("openenv deploy again"):
        second = json.loads(openenv(*deploy, "--env", "API_TOKEN=x", "--json"))
    assert len(second["pods"]) == 1
    assert set(first["pods"]).isdisjoint(second["pods"])
    with timed("openenv deploy --delete"):
        openenv("deploy", "k8s", "--delete", "kept")
    assert remaining(provider.cluster(), {"app.kubernetes.io/instance": "kept"}) == []


def test_what_is_printed_is_what_the_server_takes(
    provider: KubernetesProvider, tmp_path: Path
) -> None:
    manifests = tmp_path / "manifests.yaml"
    manifests.write_text(openenv("deploy", "k8s", IMAGE, "--print", "-e", "API_TOKEN=x"))
    said = kubectl("apply", "--dry-run=server", "--validate=true", "-f", str(manifests))
    assert said.count("created (server dry run)") == 3


def openenv(*args: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "openenv", *args],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


KILLED = """
import os, signal
from openenv.providers.kubernetes import KubernetesProvider
from openenv.providers.launch import Launch
KubernetesProvider(image_pull_policy="Never").launch(Launch(image={image!r}, ready_timeout_s=120))
os.kill(os.getpid(), signal.{signal})
"""


def test_a_trainer_that_is_killed(provider: KubernetesProvider) -> None:
    script = KILLED.format(image=IMAGE, signal="SIGKILL")
    subprocess.run([sys.executable, "-c", script], timeout=180, check=False)
    assert len(deployments(provider)) == 1
    [reaped] = provider.reap()
    assert reaped.startswith("openenv-k8s-echo-")
    assert deployments(provider) == []


def test_a_trainer_that_is_told_to_end(provider: KubernetesProvider) -> None:
    script = KILLED.format(image=IMAGE, signal="SIGTERM")
    subprocess.run([sys.executable, "-c", script], timeout=180, check=False)
    assert deployments(provider) == []


def deployments(provider: KubernetesProvider) -> list[Any]:
    items: list[Any] = provider.cluster().list("Deployment")["items"]
    return items
