"""KubernetesProvider: environments in a cluster, as a Deployment with a Service.

`KubernetesProvider().launch(Launch(image="example.org/me/echo:1"))` needs
`openenv-core[kubernetes]` and what `kubectl` needs: a kubeconfig, or a pod's service account.
"""

from __future__ import annotations

import threading
import time
import uuid
from contextlib import suppress
from dataclasses import replace
from typing import Any

from openenv.protocol.errors import ConfigurationError, ProviderError
from openenv.providers import owner
from openenv.providers.kubernetes_api import Cluster
from openenv.providers.kubernetes_connect import connect
from openenv.providers.kubernetes_forward import Forward
from openenv.providers.kubernetes_manifests import (
    POD_OPTIONS,
    Access,
    Json,
    PodOptions,
    Workload,
    image_name,
)
from openenv.providers.kubernetes_objects import Objects, reap
from openenv.providers.kubernetes_rollout import (
    current_problem,
    last_words,
    wait_until_placed,
    wait_until_ready,
)
from openenv.providers.kubernetes_verdicts import is_ready
from openenv.providers.launch import Launch, Resources, refuse_unknown
from openenv.providers.peer import ContainerStarter
from openenv.providers.provider import LOG_LINES, Running, unless_failed

NAME_RANDOM = 6
PLACED_S = 60.0


class KubernetesRunning(Running):
    """Pods that serve an image, and the way to them.

    Attributes:
        workload: what runs; its `name` and `namespace` are what `kubectl` knows it by.
        replicas: pods that there shall be.
    """

    def __init__(self, cluster: Cluster, workload: Workload) -> None:
        super().__init__()
        self.workload = workload
        self.replicas = workload.options.replicas
        self._cluster = cluster
        self._objects = Objects(cluster, workload)
        self._forward: Forward | None = None

    def create(self, local_port: int | None, owned_by: Json | None) -> None:
        """Creates its objects, and the way to them."""
        access = self.workload.options.access
        if access == "port-forward":
            self._forward = Forward(self._cluster, self.workload, local_port)
            self.url = self._forward.url
        service = self._objects.create(owned_by)
        if access == "service":
            self.url = _url(service["spec"]["clusterIP"], service["spec"]["ports"][0]["port"])
        elif access == "node-port":
            placed = wait_until_placed(self._cluster, self.workload, PLACED_S)
            node = next(p["status"]["hostIP"] for p in placed if "hostIP" in p["status"])
            self.url = _url(node, service["spec"]["ports"][0]["nodePort"])

    def pods(self) -> list[str]:
        """The names of its pods that serve.

        Raises:
            ProviderError: the cluster does not say.
        """
        found = self._cluster.list("Pod", self.workload.selector)["items"]
        return sorted(pod["metadata"]["name"] for pod in found if is_ready(pod))

    def scale(self, replicas: int, timeout_s: float = 120.0) -> None:
        """Has another number of pods, and waits until they all serve.

        Sessions stay in their pods; those of pods that go are lost. If it fails, there are as
        many pods as before.

        Raises:
            NotReady: they do not serve in time.
            ProviderError: they never will; the text has the cluster's reason.
        """
        if replicas < 0:
            raise ConfigurationError(f"replicas must be 0 or more, got {replicas}")
        self._ask_for(replicas)
        try:
            wait_until_ready(self._cluster, self.workload, replicas, timeout_s)
        except ProviderError:
            self._ask_for(self.replicas)
            raise
        self.replicas = replicas

    def logs(self, lines: int = LOG_LINES) -> str:
        """The last lines of a pod: of one in trouble before one that is well."""
        return last_words(self._cluster, self.workload, lines)

    def problem(self) -> str | None:
        """The cluster's reason why pods do not serve; `None` while they do, or may yet."""
        problem = current_problem(self._cluster, self.workload)
        return str(problem) if problem else None

    def wait_until_healthy(self, timeout_s: float) -> None:
        """Waits until all pods are ready and the way to them works; see `Running`."""
        deadline = time.monotonic() + timeout_s
        wait_until_ready(self._cluster, self.workload, self.replicas, timeout_s)
        if self.replicas:
            super().wait_until_healthy(max(1.0, deadline - time.monotonic()))

    def _ask_for(self, replicas: int) -> None:
        change = {"spec": {"replicas": replicas}}
        self._cluster.patch("Deployment", self.workload.name, change)

    def _end(self) -> None:
        try:
            if self._forward is not None:
                self._forward.close()
        finally:
            self._objects.delete()


class KubernetesProvider(ContainerStarter):
    """Runs images in a Kubernetes cluster; each launch is a Deployment and a Service.

    A launch's options are those of `PodOptions`; `openenv deploy k8s --print` shows the manifests.

    Args:
        namespace: where; the context's own by default.
        kubeconfig: the file that says how to reach the cluster; what `kubectl` takes by default.
        context: in that file.
        options: defaults of all launches, see `PodOptions`.

    Raises:
        ProviderError: there is no such option.
        ConfigurationError: an option cannot be used.
    """

    def __init__(
        self,
        *,
        namespace: str | None = None,
        kubeconfig: str | None = None,
        context: str | None = None,
        **options: Any,
    ) -> None:
        refuse_unknown(options, tuple(POD_OPTIONS), type(self).__name__)
        self._options = PodOptions(**options)
        self._namespace = namespace
        self._where = (kubeconfig, context)
        self._connecting = threading.Lock()
        self._connected: Cluster | None = None
        self._reaped = False

    def launch(self, launch: Launch) -> KubernetesRunning:
        """Creates a workload's objects and waits until all its pods serve; see `Provider`."""
        running = self.begin(launch)
        with unless_failed(running):
            running.wait_until_healthy(launch.ready_timeout_s)
        return running

    def begin(self, launch: Launch) -> KubernetesRunning:
        """Creates a workload's objects; see `ContainerStarter`."""
        _refuse_what_no_cluster_runs(launch)
        cluster = self.cluster()
        workload = self._workload(launch, cluster)
        self._reap_once(cluster)
        running = KubernetesRunning(cluster, workload)
        forwarded = workload.options.access == "port-forward"
        with unless_failed(running):
            running.create(launch.port if forwarded else None, cluster.own_pod())
        return running

    def reap(self) -> list[str]:
        """Deletes what killed processes of this machine left in the namespace; the names of it.

        Raises:
            ProviderError: the cluster refused.
        """
        return reap(self.cluster())

    def cluster(self) -> Cluster:
        """The cluster that it talks to.

        Raises:
            NotAvailable: there is none, or its client is not installed.
        """
        with self._connecting:
            if self._connected is None:
                self._connected = connect(*self._where, self._namespace)
            return self._connected

    def close(self) -> None:
        """Stops the container of `start_container`, and closes the connections to the cluster."""
        super().close()
        with self._connecting:
            if self._connected is not None:
                self._connected.close()
                self._connected = None

    def _reap_once(self, cluster: Cluster) -> None:
        """Before the first launch; it fails if the launch does, not because of this."""
        if not self._reaped:
            self._reaped = True
            with suppress(ProviderError):
                reap(cluster, tries=1)

    def _workload(self, launch: Launch, cluster: Cluster) -> Workload:
        refuse_unknown(launch.options, tuple(POD_OPTIONS), type(self).__name__)
        options = replace(self._options, **launch.options)
        image = launch.image or ""
        token = uuid.uuid4().hex
        access: Access = options.access
        return Workload(
            name=options.name or f"{image_name(image)}-{token[:NAME_RANDOM]}",
            namespace=cluster.namespace,
            image=image,
            env_vars=launch.env_vars,
            resources=launch.resources,
            options=options,
            service_port=None if access == "port-forward" else launch.port,
            start_timeout_s=launch.ready_timeout_s,
            owner=owner.labels(),
            launch=token,
        )


def _refuse_what_no_cluster_runs(launch: Launch) -> None:
    if launch.resources.pids not in (None, Resources().pids):
        raise ProviderError(
            f"a pod cannot limit its processes to {launch.resources.pids}: that is the nodes' "
            "setting (podPidsLimit); leave pids out"
        )
    if not launch.image or launch.project is not None or launch.app is not None:
        raise ProviderError(
            "a cluster runs images, so a launch needs image= and neither project= nor app=; build "
            "one and push it to a registry that the cluster reads"
        )


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
