"""Finding the cluster: what `kubectl` would talk to, or the one that this process runs in."""

from __future__ import annotations

import platform
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from openenv.protocol.errors import NotAvailable
from openenv.providers.kubernetes_api import Cluster


def connect(
    kubeconfig: str | None = None, context: str | None = None, namespace: str | None = None
) -> Cluster:
    """The cluster of a kubeconfig, or the one that this process runs in.

    Args:
        kubeconfig: a file; by default what `kubectl` would take.
        context: in the file; its current one by default.
        namespace: the context's, or the pod's own, by default.

    Raises:
        NotAvailable: the client is not installed, or there is no such configuration.
    """
    from yaml import YAMLError

    try:
        from kubernetes import client
        from kubernetes.config import ConfigException
    except ImportError as error:
        raise NotAvailable(
            f"Kubernetes needs its client ({error}): pip install 'openenv-core[kubernetes]'"
        ) from None
    configuration = client.Configuration()
    try:
        found = _configure(configuration, kubeconfig, context)
    except (ConfigException, OSError, ValueError, YAMLError) as error:
        raise NotAvailable(
            f"there is no cluster to talk to: {error}; `kubectl config get-contexts` lists those "
            "that this machine knows, KUBECONFIG or kubeconfig= names another file"
        ) from None
    configuration.retries = False  # they are counted here, and none is made of a POST unseen
    own_pod = platform.node() if found.inside and namespace in (None, found.namespace) else None
    return Cluster(client.ApiClient(configuration), namespace or found.namespace, own_pod)


class _Found(NamedTuple):
    namespace: str
    inside: bool


def _configure(configuration: Any, kubeconfig: str | None, context: str | None) -> _Found:
    """Fills a configuration; the namespace that it names, and whether it is a pod's own."""
    from kubernetes import config

    loader: Any = config
    inside = kubeconfig is None and context is None
    try:
        loader.load_kube_config(kubeconfig, context, client_configuration=configuration)
    except config.ConfigException as no_file:
        if not inside:
            raise
        with suppress(config.ConfigException):
            return _Found(_configure_inside(configuration), inside=True)
        raise no_file from None
    contexts, current = loader.list_kube_config_contexts(kubeconfig)
    chosen = next((c for c in contexts if c["name"] == context), current)
    return _Found(chosen["context"].get("namespace") or "default", inside=False)


def _configure_inside(configuration: Any) -> str:
    """What a pod's service account is told; the namespace of the pod."""
    from kubernetes.config import incluster_config

    account: Any = incluster_config
    account.load_incluster_config(configuration)
    mounted = Path(account.SERVICE_TOKEN_FILENAME).parent
    return (mounted / "namespace").read_text().strip()
