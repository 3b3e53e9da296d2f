"""A workload's objects in a cluster: made together, gone together."""

from __future__ import annotations

import time
from collections.abc import Callable

from openenv.protocol.errors import NotReady, ProviderError
from openenv.providers import owner
from openenv.providers.kubernetes_api import TRIES, Cluster, ClusterError, reference
from openenv.providers.kubernetes_manifests import MANAGED_BY, Json, Workload

KINDS = ("Deployment", "Service", "Secret")
"""What a workload is made of. The Deployment owns the others."""
_LEFT = (*KINDS, "Pod")
_LOOK_S = 0.5
_SETTLED_S = 2.0
"""How long the server may take over a request whose sender has gone."""


class Objects:
    """What was made for one workload, so that it can be unmade whatever happened meanwhile."""

    def __init__(self, cluster: Cluster, workload: Workload) -> None:
        self._cluster = cluster
        self._workload = workload
        self._made: list[tuple[str, str]] = []
        self._unanswered: tuple[str, str] | None = None

    def create(self, owned_by: Json | None = None) -> Json:
        """Creates all of them; the Service as the cluster made it.

        Args:
            owned_by: what the Deployment goes with, as an owner reference.

        Raises:
            ClusterError: one was refused. What was made before is there still: `delete`.
        """
        return _put_all(self._cluster, self._workload, self._create, owned_by)

    def delete(self) -> None:
        """Deletes what was made.

        Raises:
            ClusterError: an object could not be deleted; call it again.
        """
        if self._unanswered:
            self._await(*self._unanswered)
        while self._made:
            kind, name = self._made[-1]
            self._cluster.delete(kind, name)
            self._made.pop()

    def _create(self, manifest: Json) -> Json:
        made = (manifest["kind"], manifest["metadata"]["name"])
        self._made.append(made)  # before: its answer may be lost, or not be waited for
        self._unanswered = made
        try:
            created = self._cluster.create(manifest)
        except ClusterError as error:
            if error.status not in (0, 504) or not error.sent:
                self._unanswered = None
            if 400 <= error.status < 500 or not error.sent:
                self._made.remove(made)
            raise
        self._unanswered = None
        return created

    def _await(self, kind: str, name: str) -> None:
        """Waits until an object is there whose making was broken off: only then it can go."""
        deadline = time.monotonic() + _SETTLED_S
        while self._cluster.read(kind, name) is None and time.monotonic() < deadline:
            time.sleep(_LOOK_S / 5)
        self._unanswered = None


def apply(cluster: Cluster, workload: Workload) -> Json:
    """Creates a workload's objects, or changes those that there are; the Service.

    Raises:
        ClusterError: one was refused.
        ProviderError: there is an object of that name which is not OpenEnv's.
    """

    def put(manifest: Json) -> Json:
        there = cluster.read(manifest["kind"], workload.name)
        if there is None:
            return cluster.create(manifest)
        if (there["metadata"].get("labels") or {}).get(MANAGED_BY) != "openenv":
            raise ProviderError(
                f"{manifest['kind']} {workload.name} in namespace {workload.namespace} is not "
                "OpenEnv's; choose another name"
            )
        return cluster.replace(manifest)

    return _put_all(cluster, workload, put)


def delete(cluster: Cluster, labels: dict[str, str]) -> int:
    """Deletes all objects with these labels; how many there were.

    Raises:
        ClusterError: one could not be deleted.
    """
    found = [
        (kind, thing["metadata"]["name"])
        for kind in KINDS
        for thing in cluster.list(kind, labels)["items"]
    ]
    for kind, name in found:
        cluster.delete(kind, name)
    return len(found)


def reap(cluster: Cluster, tries: int = TRIES) -> list[str]:
    """Deletes what owners left that are known to be dead; the names of what there was."""
    dead = [
        (kind, thing["metadata"]["name"])
        for kind in KINDS
        for thing in cluster.list(kind, {MANAGED_BY: "openenv"}, tries=tries)["items"]
        if owner.is_dead(thing["metadata"].get("annotations") or {})
    ]
    for kind, name in dead:
        cluster.delete(kind, name)
    return sorted({name for _, name in dead})


def wait_until_gone(cluster: Cluster, labels: dict[str, str], timeout_s: float) -> None:
    """Returns when nothing with these labels is left: the pods are the last to go.

    Raises:
        NotReady: something is left; the text names it.
    """
    deadline = time.monotonic() + timeout_s
    while left := remaining(cluster, labels):
        if time.monotonic() >= deadline:
            raise NotReady(
                f"still there after {timeout_s:g} s: {', '.join(left)}; the cluster deletes them "
                "when it can reach their nodes"
            )
        time.sleep(_LOOK_S)


def remaining(cluster: Cluster, labels: dict[str, str]) -> list[str]:
    """What there is with these labels, as `Kind name`."""
    return [
        f"{kind} {thing['metadata']['name']}"
        for kind in _LEFT
        for thing in cluster.list(kind, labels)["items"]
    ]


def _put_all(
    cluster: Cluster,
    workload: Workload,
    put: Callable[[Json], Json],
    owned_by: Json | None = None,
) -> Json:
    """Puts each object in its place; the Service. What is not the Deployment is owned by it."""
    made: Json = {}
    for manifest in workload.manifests():
        owning = reference(made["Deployment"]) if "Deployment" in made else owned_by
        if owning:
            manifest["metadata"]["ownerReferences"] = [owning]
        made[manifest["kind"]] = put(manifest)
    if "Secret" in made:  # pods wait for it, so it came first
        adopted = {"metadata": {"ownerReferences": [reference(made["Deployment"])]}}
        cluster.patch("Secret", workload.name, adopted)
    service: Json = made["Service"]
    return service
