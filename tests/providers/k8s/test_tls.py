"""An API server that speaks TLS, as all real ones do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from openenv.client.generic import GenericEnvClient
from openenv.protocol.errors import ProviderError
from openenv.providers.kubernetes import KubernetesProvider
from openenv.providers.launch import Launch
from openenv.testing import Counting
from tests.client.peers import self_signed
from tests.providers.k8s.double import Double, api_double
from tests.serving import serving

LAUNCH = Launch(image="good:1", ready_timeout_s=30)

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def double(tmp_path: Path) -> Iterator[Double]:
    with api_double(self_signed(tmp_path)) as double, serving(Counting) as served:
        double.backend = served.port
        yield double


def play(provider: KubernetesProvider) -> None:
    with provider.launch(LAUNCH) as running, GenericEnvClient(running.url).sync() as client:
        client.reset()
        assert client.step({"amount": 3}).observation["count"] == 3
    provider.close()


def test_a_certificate_that_the_kubeconfig_names(double: Double, tmp_path: Path) -> None:
    play(KubernetesProvider(kubeconfig=double.kubeconfig(tmp_path)))


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_a_kubeconfig_that_trusts_anybody(double: Double, tmp_path: Path) -> None:
    double.trust = {"insecure-skip-tls-verify": True}
    play(KubernetesProvider(kubeconfig=double.kubeconfig(tmp_path)))


def test_a_certificate_that_nobody_signed(double: Double, tmp_path: Path) -> None:
    double.trust = {}
    provider = KubernetesProvider(kubeconfig=double.kubeconfig(tmp_path))
    with pytest.raises(ProviderError, match="(?i)certificate verify failed"):
        provider.launch(LAUNCH)
    assert double.calls == []
    provider.close()
