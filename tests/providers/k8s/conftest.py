"""A provider on an API double, whose pods are one real server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from openenv.providers import kubernetes_api, kubernetes_watch
from openenv.providers.kubernetes import KubernetesProvider
from openenv.testing import Counting
from tests.providers.k8s.double import Double, api_double
from tests.serving import serving


@pytest.fixture
def double() -> Iterator[Double]:
    """An API server whose ready pods serve."""
    with api_double() as double, serving(Counting) as served:
        double.backend = served.port
        yield double


@pytest.fixture
def provider(
    double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[KubernetesProvider]:
    """A provider that talks to it, and is not patient for long."""
    monkeypatch.setattr(kubernetes_api, "FIRST_PAUSE_S", 0.005)
    monkeypatch.setattr(kubernetes_watch, "WINDOW_S", 1)
    provider = KubernetesProvider(kubeconfig=double.kubeconfig(tmp_path), schedule_timeout_s=0.2)
    yield provider
    provider.close()
