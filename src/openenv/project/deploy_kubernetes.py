"""`openenv deploy k8s`: an image in a Kubernetes cluster, until it is deleted."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from openenv.catalog.manifest import read_manifest
from openenv.project.build import default_tag
from openenv.project.errors import UsageProblem
from openenv.providers.kubernetes_connect import connect
from openenv.providers.kubernetes_manifests import INSTANCE, MANAGED_BY, PodOptions, Workload
from openenv.providers.kubernetes_manifests import image_name as name_of
from openenv.providers.kubernetes_objects import apply, delete, wait_until_gone
from openenv.providers.kubernetes_rollout import wait_until_ready
from openenv.providers.launch import Resources

DELETED_S = 120.0
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:[\w.-]+(?::\d+)?/|\[[0-9a-f:]+\](?::\d+)?/)?(?:{_PART}/)*{_PART}"
    r"(?::\w[\w.-]{0,127})?(?:@[a-z0-9]+:[0-9a-f]{32,128})?",
    re.ASCII,
)


@dataclass(frozen=True, kw_only=True)
class Where:
    """Which cluster, and where in it; `None` is what `kubectl` would take."""

    namespace: str | None = None
    context: str | None = None
    kubeconfig: str | None = None


@dataclass(frozen=True)
class Wanted:
    """What `openenv deploy k8s` is asked for.

    Attributes:
        target: an image's name, or a folder with an openenv.yaml, which says the port and the
            variables.
        image: the folder's image; by default what `openenv build` calls it.
        port: where the image listens; 8000 by default, or what the folder's openenv.yaml says.
        env_vars: more variables.
        resources: limits of each pod.
        pods: the other options, see `PodOptions`.
        timeout_s: how long until all pods serve.
    """

    target: str
    image: str | None = None
    port: int | None = None
    env_vars: Mapping[str, str] = field(default_factory=dict)
    resources: Resources = field(default_factory=Resources)
    pods: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float = 300.0


@dataclass(frozen=True)
class Deployed:
    """What runs in the cluster.

    Attributes:
        url: inside the cluster.
        port: the Service's.
        pods: their names.
        seconds: until they served.
    """

    name: str
    namespace: str
    image: str
    url: str
    port: int
    pods: tuple[str, ...]
    seconds: float


def plan(wanted: Wanted, namespace: str) -> Workload:
    """What a deployment consists of.

    Raises:
        UsageProblem: the target or an option cannot be meant.
        ManifestError: the folder's openenv.yaml is missing or wrong.
        ConfigurationError: an option cannot be used; the text names it.
    """
    image, port, variables = _target(wanted)
    if not _IMAGE.fullmatch(image):
        raise UsageProblem(
            f"{image!r} can be no image's name; one is lower-case, as "
            "registry.example.org/me/my-env:1"
        )
    options = PodOptions(container_port=wanted.port or port, **wanted.pods)
    return Workload(
        name=options.name or name_of(image),
        namespace=namespace,
        image=image,
        env_vars={**variables, **wanted.env_vars},
        resources=wanted.resources,
        options=options,
        start_timeout_s=wanted.timeout_s,
    )


def deploy(wanted: Wanted, where: Where) -> Deployed:
    """Creates or changes a deployment, and waits until all its pods serve.

    Raises:
        UsageProblem: see `plan`.
        NotAvailable: there is no cluster, or its client is not installed.
        NotReady: the pods did not serve in time. They are left, to be looked at.
        ProviderError: the cluster refused, or the pods never will serve.
    """
    began = time.monotonic()
    planned = plan(wanted, where.namespace or "default")
    cluster = connect(where.kubeconfig, where.context, where.namespace)
    try:
        launch = uuid.uuid4().hex
        workload = replace(planned, namespace=cluster.namespace, launch=launch)
        service = apply(cluster, workload)
        pods = wait_until_ready(cluster, workload, workload.options.replicas, wanted.timeout_s)
    finally:
        cluster.close()
    port: int = service["spec"]["ports"][0]["port"]
    return Deployed(
        name=workload.name,
        namespace=workload.namespace,
        image=workload.image,
        url=f"http://{workload.name}.{workload.namespace}.svc:{port}",
        port=port,
        pods=tuple(sorted(pod["metadata"]["name"] for pod in pods)),
        seconds=round(time.monotonic() - began, 1),
    )


def remove(name: str, where: Where) -> str:
    """Deletes a deployment with all that belongs to it; the namespace that it was in.

    Raises:
        UsageProblem: there is no deployment of ours of that name.
        NotReady: its pods are still there; the cluster goes on deleting them.
        ProviderError: the cluster refused, or there is none.
    """
    cluster = connect(where.kubeconfig, where.context, where.namespace)
    labels = {INSTANCE: name, MANAGED_BY: "openenv"}
    try:
        if not delete(cluster, labels):
            raise UsageProblem(
                f"nothing of OpenEnv's is called {name} in namespace {cluster.namespace}; `kubectl "
                f"get deployments -A -l {MANAGED_BY}=openenv` lists what there is"
            )
        wait_until_gone(cluster, labels, DELETED_S)
    finally:
        cluster.close()
    return cluster.namespace


def parse_variables(pairs: Sequence[str]) -> dict[str, str]:
    """`NAME=value` pairs.

    Raises:
        UsageProblem: one is no such pair; its value is not told.
    """
    for pair in pairs:
        name, sign, _ = pair.partition("=")
        if not sign or not name.isidentifier():
            raise UsageProblem(f"--env takes NAME=VALUE, got one whose name is {name!r}")
    return dict(pair.split("=", 1) for pair in pairs)


def only(name: str, target: str | None, print_only: bool) -> str:
    """The name of what is to be deleted, if nothing else is asked for.

    Raises:
        UsageProblem: something is.
    """
    if target is not None or print_only:
        raise UsageProblem("--delete NAME goes with neither a target nor --print")
    return name


def _target(wanted: Wanted) -> tuple[str, int, Mapping[str, str]]:
    """The image, its port and its variables."""
    if not wanted.target:
        raise UsageProblem("say what to deploy: an image's name, or a folder with openenv.yaml")
    folder = Path(wanted.target)
    if not folder.is_dir():
        if wanted.image:
            raise UsageProblem(f"--image goes with a folder, and {wanted.target!r} is none")
        if wanted.target.startswith((".", "/", "~")):
            raise UsageProblem(f"there is no folder {wanted.target!r}")
        return wanted.target, 8000, {}
    manifest = read_manifest(folder.resolve())
    return wanted.image or default_tag(folder.resolve()), manifest.port, manifest.variables
