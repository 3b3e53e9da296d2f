"""What an API server and its network do wrong, at each call of a workload's life."""

import time
from pathlib import Path

import pytest

from openenv.client.generic import GenericEnvClient
from openenv.protocol.errors import ProviderError
from openenv.providers.kubernetes import KubernetesProvider
from openenv.providers.kubernetes_api import TRIES, ClusterError
from openenv.providers.launch import Launch
from tests.providers.k8s.double import LATE_S, Double, Fault

pytestmark = pytest.mark.timeout(60)
LAUNCH = Launch(image="good:1", env_vars={"API_TOKEN": "secret"}, ready_timeout_s=30)
CALLS = [
    ("create", "Secret"),
    ("create", "Deployment"),
    ("create", "Service"),
    ("patch", "Secret"),
    ("list", "Pod"),
    ("watch", "Pod"),
    ("read", "Deployment"),
    ("delete", "Deployment"),
    ("delete", "Service"),
]


PASSING = [
    *((verb, kind, 503) for verb, kind in CALLS),
    *((verb, kind, "lose") for verb, kind in CALLS if verb not in ("list", "read", "watch")),
    ("create", "Deployment", 429),
    ("create", "Deployment", 500),
    ("create", "Deployment", "half"),
    ("list", "Pod", "drop"),
    ("list", "Pod", "half"),
    ("watch", "Pod", 429),
    ("watch", "Pod", "drop"),
]


@pytest.mark.parametrize(("verb", "kind", "what"), PASSING)
def test_a_fault_that_passes_is_not_noticed(
    double: Double, provider: KubernetesProvider, verb: str, kind: str, what: int | str
) -> None:
    double.faults = [Fault(verb, kind, what, times=2)]
    double.world.held = lambda: verb == "watch" and double.faults[0].times > 0
    with provider.launch(LAUNCH) as running:
        assert len(running.pods()) == 1
    assert double.world.left() == []
    assert double.faults[0].times == 0


@pytest.mark.parametrize(("verb", "kind"), CALLS[:7])
def test_a_fault_that_stays_is_told_and_nothing_is_left(
    double: Double, provider: KubernetesProvider, verb: str, kind: str
) -> None:
    double.faults = [Fault(verb, kind, 503, times=TRIES)]
    double.world.held = lambda: verb == "watch"
    with pytest.raises(ClusterError, match="503"):
        provider.launch(LAUNCH)
    assert double.world.left() == []
    assert double.calls.count(f"{verb} {kind}") >= TRIES


@pytest.mark.parametrize("kind", ["Secret", "Deployment", "Service"])
def test_what_is_made_after_all_is_not_left(
    double: Double, provider: KubernetesProvider, kind: str
) -> None:
    double.faults = [Fault("create", kind, "late"), Fault("create", kind, "drop", times=TRIES)]
    with pytest.raises(ClusterError, match="cannot be reached"):
        provider.launch(LAUNCH)
    time.sleep(LATE_S)  # nothing may come after it
    assert double.world.left() == []


@pytest.mark.parametrize(("verb", "kind"), CALLS[:7])
def test_a_right_that_is_lacking_is_told_at_once(
    double: Double, provider: KubernetesProvider, verb: str, kind: str
) -> None:
    double.forbidden = {f"{verb} {kind}"}
    double.world.held = lambda: verb == "watch"
    with pytest.raises(ClusterError, match="403: .*forbidden.*has the Role that it needs"):
        provider.launch(LAUNCH)
    assert double.world.left() == []


@pytest.mark.parametrize("status", [400, 404, 409, 422])
def test_a_refusal_that_lasts_is_told_at_once(
    double: Double, provider: KubernetesProvider, status: int
) -> None:
    double.faults = [Fault("create", "Service", status)]
    with pytest.raises(ClusterError, match=f"{status}: a fault"):
        provider.launch(LAUNCH)
    assert double.world.left() == []
    assert double.calls.count("create Service") == 1


def test_a_proxys_page_is_no_answer(double: Double, provider: KubernetesProvider) -> None:
    double.faults = [Fault("create", "Deployment", "page")]
    with pytest.raises(ClusterError, match="no API server of Kubernetes: b'<html>Log in"):
        provider.launch(LAUNCH)
    assert double.world.left() == []


def test_rights_that_only_explanations_need(double: Double, provider: KubernetesProvider) -> None:
    double.forbidden = {"list Event", "log Pod"}
    with pytest.raises(ProviderError, match="CrashLoopBackOff"):
        provider.launch(Launch(image="crash:1", ready_timeout_s=30))


@pytest.mark.parametrize("what", ["cut", "end", "error", 410])
def test_a_watch_that_breaks_is_taken_up(
    double: Double, provider: KubernetesProvider, what: int | str
) -> None:
    double.faults = [Fault("watch", "Pod", what, times=2)]
    double.world.held = lambda: double.faults[0].times > 0
    with provider.launch(LAUNCH):
        assert double.faults[0].times == 0
        relists = double.calls[: double.calls.index("forward Pod")].count("list Pod") - 1
        assert relists == (3 if what in ("error", 410) else 1)  # the last one is to forward


def test_a_version_that_the_server_forgets(double: Double, provider: KubernetesProvider) -> None:
    running = provider.launch(LAUNCH)
    double.act(lambda world: world.forget())
    running.scale(3, timeout_s=30)
    assert len(running.pods()) == 3
    running.stop()


@pytest.mark.parametrize("what", [409, "lose"])
def test_scaling_against_others(
    double: Double, provider: KubernetesProvider, what: int | str
) -> None:
    with provider.launch(LAUNCH) as running:
        double.faults = [Fault("patch", "Deployment", what, times=3)]
        running.scale(2, timeout_s=30)
        assert len(running.pods()) == 2


def test_the_wait_that_a_server_asks_for(double: Double, provider: KubernetesProvider) -> None:
    double.faults = [Fault("create", "Service", 429, retry_after="1")]
    began = time.monotonic()
    provider.launch(LAUNCH).stop()
    assert time.monotonic() - began >= 1.0


def test_a_deletion_that_fails_can_be_tried_again(
    double: Double, provider: KubernetesProvider
) -> None:
    running = provider.launch(LAUNCH)
    double.faults = [Fault("delete", "Deployment", 500, times=TRIES)]
    with pytest.raises(ClusterError, match="500"):
        running.stop()
    running.stop()
    assert double.world.left() == []


def test_a_wrong_token(double: Double, tmp_path: Path) -> None:
    provider = KubernetesProvider(kubeconfig=double.kubeconfig(tmp_path, token="wrong"))
    with pytest.raises(ClusterError, match="401: Unauthorized; log in to the cluster again"):
        provider.launch(LAUNCH)
    provider.close()


@pytest.mark.parametrize("what", [404, 500, "drop"])
def test_a_forwarded_connection_that_fails_is_one_connection(
    double: Double, provider: KubernetesProvider, what: int | str
) -> None:
    with provider.launch(LAUNCH) as running:
        double.faults = [Fault("forward", "Pod", what)]
        with GenericEnvClient(running.url).sync() as client:  # which connects again
            client.reset()
            assert client.step({"amount": 2}).observation["count"] == 2


def test_many_forwarded_connections_and_big_messages(
    double: Double, provider: KubernetesProvider
) -> None:
    with provider.launch(LAUNCH) as running:
        clients = [GenericEnvClient(running.url).sync() for _ in range(12)]
        for client in clients:
            client.connect()
            client.reset()
        payload = b"x" * 3_000_000
        for client in clients[:3]:
            assert client.step({"payload": payload}).observation["payload"] == payload
        for client in clients:
            client.close()
