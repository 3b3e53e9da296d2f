"""What a cluster is asked to run, as the manifests that `kubectl apply` takes: no I/O here."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from openenv.protocol.errors import ConfigurationError
from openenv.providers.launch import Resources
from openenv.providers.owner import OWNER
from openenv.settings import without_secrets

Json = dict[str, Any]
Access = Literal["port-forward", "service", "node-port"]
PullPolicy = Literal["IfNotPresent", "Always", "Never"]

INSTANCE = "app.kubernetes.io/instance"
MANAGED_BY = "app.kubernetes.io/managed-by"
LAUNCH = "openenv.launch"
CONTAINER = "environment"
_PORT = "http"
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?)(?P<unit>[kmgt]?)i?b?", re.IGNORECASE)
_RESERVED_BYTES = 64 << 20  # what a small environment takes; limits are what it may take
_RESERVED_CPU = 50


@dataclass(frozen=True, kw_only=True)
class PodOptions:
    """How a cluster runs an image, beyond what every provider takes.

    Attributes:
        name: of the Deployment and its Service; made from the image's by default.
        replicas: pods that serve; a client's session lives in one of them.
        access: how this process reaches them: `port-forward` through the API server, which works
            from anywhere; `service`, the Service's own address, from inside the cluster;
            `node-port`, a port that every node opens.
        container_port: where the image listens.
        command: the program and its arguments, over the image's own.
        image_pull_policy: when nodes pull the image.
        image_pull_secrets: Secrets with a registry's credentials.
        service_account: the pods' own; no token of it is mounted.
        run_as_user: the user's number, which must not be 0; `None` leaves it to the image, whose
            `USER` must then be a number.
        read_only_root: nothing but `/tmp` can be written to.
        tmp_size: what `/tmp` holds.
        requests: what the scheduler reserves for a pod, such as `{"cpu": "1"}`.
        limits: more limits, such as `{"nvidia.com/gpu": "1"}`.
        labels: more labels, on every object.
        node_selector: labels of the nodes that may run it.
        runtime_class: a sandboxed runtime of the cluster, such as `gvisor`.
        schedule_timeout_s: how long a pod may find no node before that is an error; more than
            the minutes that a cluster needs which adds nodes by itself.
        node_loss_s: how long a node may be away before its pods start elsewhere.
    """

    name: str | None = None
    replicas: int = 1
    access: Access = "port-forward"
    container_port: int = 8000
    command: tuple[str, ...] = ()
    image_pull_policy: PullPolicy = "IfNotPresent"
    image_pull_secrets: tuple[str, ...] = ()
    service_account: str | None = None
    run_as_user: int | None = 1000
    read_only_root: bool = False
    tmp_size: str = "256Mi"
    requests: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    runtime_class: str | None = None
    schedule_timeout_s: float = 15.0
    node_loss_s: int = 30

    def __post_init__(self) -> None:
        """Refuses what no cluster could run.

        Raises:
            ConfigurationError: an option cannot be used; the text names it.
        """
        if self.name is not None and not _NAME.fullmatch(self.name):
            raise ConfigurationError(
                f"name must be lower-case letters, digits and dashes, begin with a letter and have "
                f"at most 63 of them, got {self.name!r}"
            )
        for option, choices in (("access", Access), ("image_pull_policy", PullPolicy)):
            if getattr(self, option) not in get_args(choices):
                known = ", ".join(get_args(choices))
                raise ConfigurationError(
                    f"{option} must be one of {known}, got {getattr(self, option)!r}"
                )
        if self.replicas < 0:
            raise ConfigurationError(f"replicas must be 0 or more, got {self.replicas}")
        if self.run_as_user == 0:
            raise ConfigurationError("run_as_user must not be 0: environments do not run as root")


POD_OPTIONS = frozenset(option.name for option in fields(PodOptions))


@dataclass(frozen=True, kw_only=True)
class Workload:
    """An image that is to run in a cluster.

    Attributes:
        name: of each of its objects.
        namespace: where they live.
        image: what runs.
        env_vars: the container's variables; those that look like credentials go into a Secret.
        resources: limits; a number of processes is the node's to limit, not a pod's.
        options: how it runs.
        service_port: the Service's own port; a `node-port` access opens it on the nodes.
        start_timeout_s: how long the server may take before it is started anew.
        owner: whose it is, see `openenv.providers.owner`; empty for what outlives its maker.
        launch: tells this launch from others of the same name.
    """

    name: str
    namespace: str
    image: str
    env_vars: Mapping[str, str] = field(default_factory=dict)
    resources: Resources = field(default_factory=Resources)
    options: PodOptions = field(default_factory=PodOptions)
    service_port: int | None = None
    start_timeout_s: float = 60.0
    owner: Mapping[str, str] = field(default_factory=dict)
    launch: str = ""

    def __post_init__(self) -> None:
        """Refuses limits that are none.

        Raises:
            ConfigurationError: the memory is no size.
        """
        self._resources()

    @property
    def selector(self) -> dict[str, str]:
        """The labels that tell its objects from all others."""
        return {INSTANCE: self.name, MANAGED_BY: "openenv"}

    def manifests(self) -> list[Json]:
        """All of it, in the order in which it is created."""
        secret = [self._secret()] if self._secrets() else []
        return [*secret, self._deployment(), self._service()]

    def _deployment(self) -> Json:
        return self._object("apps/v1", "Deployment") | {
            "spec": {
                "replicas": self.options.replicas,
                "revisionHistoryLimit": 1,
                "selector": {"matchLabels": self.selector},
                "template": {"metadata": self._template_metadata(), "spec": self._pod()},
            }
        }

    def _template_metadata(self) -> Json:
        """With the launch's mark, so that pods are made anew when only a Secret has changed."""
        marks = {"annotations": {LAUNCH: self.launch}} if self.launch else {}
        return {"labels": self._labels(), **marks}

    def _service(self) -> Json:
        opened = self.options.access == "node-port"
        port: Json = {
            "name": _PORT,
            "port": self.options.container_port if opened else self._service_port(),
            "targetPort": _PORT,
        }
        if opened and self.service_port:
            port["nodePort"] = self.service_port
        kind = "NodePort" if opened else "ClusterIP"
        return self._object("v1", "Service") | {
            "spec": {"type": kind, "selector": self.selector, "ports": [port]}
        }

    def _secret(self) -> Json:
        encoded = {n: base64.b64encode(v.encode()).decode() for n, v in self._secrets().items()}
        return self._object("v1", "Secret") | {"type": "Opaque", "data": encoded}

    def _pod(self) -> Json:
        options = self.options
        optional: Json = {
            "serviceAccountName": options.service_account,
            "runtimeClassName": options.runtime_class,
            "nodeSelector": dict(options.node_selector),
            "imagePullSecrets": [{"name": name} for name in options.image_pull_secrets],
        }
        return {
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 10,
            "securityContext": self._pod_security(),
            "tolerations": [self._node_loss("not-ready"), self._node_loss("unreachable")],
            "topologySpreadConstraints": [self._spread()],
            **{name: value for name, value in optional.items() if value},
            "containers": [self._container()],
            "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": options.tmp_size}}],
        }

    def _container(self) -> Json:
        command = {"command": list(self.options.command)} if self.options.command else {}
        return {
            "name": CONTAINER,
            "image": self.image,
            "imagePullPolicy": self.options.image_pull_policy,
            **command,
            "ports": [{"name": _PORT, "containerPort": self.options.container_port}],
            "env": self._env(),
            "resources": self._resources(),
            "startupProbe": _probe(1, max(3, math.ceil(self.start_timeout_s))),
            "readinessProbe": _probe(2, 5),
            "livenessProbe": _probe(10, 6),
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": self.options.read_only_root,
            },
            "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
        }

    def _pod_security(self) -> Json:
        user = self.options.run_as_user
        return {
            "runAsNonRoot": True,
            **({"runAsUser": user, "runAsGroup": user} if user is not None else {}),
            "seccompProfile": {"type": "RuntimeDefault"},
        }

    def _env(self) -> list[Json]:
        secrets = self._secrets()
        plain = [{"name": n, "value": v} for n, v in self.env_vars.items() if n not in secrets]
        kept = [
            {"name": n, "valueFrom": {"secretKeyRef": {"name": self.name, "key": n}}}
            for n in secrets
        ]
        return [*plain, *kept]

    def _secrets(self) -> dict[str, str]:
        plain = without_secrets(self.env_vars)
        return {name: value for name, value in self.env_vars.items() if name not in plain}

    def _resources(self) -> Json:
        memory = memory_bytes(self.resources.memory) if self.resources.memory else None
        thousandths = None if self.resources.cpus is None else round(self.resources.cpus * 1000)
        limits: dict[str, str] = {}
        if memory is not None:
            limits["memory"] = _quantity(memory)
        if thousandths is not None:
            limits["cpu"] = f"{thousandths}m"
        reserved = {
            "memory": _quantity(min(memory or _RESERVED_BYTES, _RESERVED_BYTES)),
            "cpu": f"{min(thousandths or _RESERVED_CPU, _RESERVED_CPU)}m",
        }
        return {
            "requests": reserved | dict(self.options.requests),
            "limits": limits | dict(self.options.limits),
        }

    def _node_loss(self, condition: str) -> Json:
        return {
            "key": f"node.kubernetes.io/{condition}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": self.options.node_loss_s,
        }

    def _spread(self) -> Json:
        """Over nodes, as far as there is room, so that a lost node takes few pods with it."""
        return {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": self.selector},
        }

    def _object(self, version: str, kind: str) -> Json:
        marks = dict(self.owner) | ({LAUNCH: self.launch} if self.launch else {})
        metadata: Json = {"name": self.name, "namespace": self.namespace, "labels": self._labels()}
        if marks:
            metadata["annotations"] = marks
        return {"apiVersion": version, "kind": kind, "metadata": metadata}

    def _labels(self) -> dict[str, str]:
        return {
            **self.options.labels,
            "app.kubernetes.io/name": image_name(self.image),
            "app.kubernetes.io/component": "environment",
            **self.selector,
            **({OWNER: self.owner[OWNER]} if OWNER in self.owner else {}),
        }

    def _service_port(self) -> int:
        return self.service_port or self.options.container_port


def image_name(image: str) -> str:
    """A name as Kubernetes takes it, made from an image's: `example.org/me/Echo:1` is `echo`."""
    bare = image.split("@", maxsplit=1)[0].rsplit("/", 1)[-1].split(":", maxsplit=1)[0].lower()
    slug = re.sub(r"[^a-z0-9]+", "-", bare).strip("-")[:40].rstrip("-")
    return slug if slug[:1].isalpha() else f"env-{slug}".rstrip("-")


def memory_bytes(text: str) -> int:
    """A size in Docker's spelling or Kubernetes': `512m`, `2g` and `2Gi` are powers of 1024.

    Raises:
        ConfigurationError: it is no size.
    """
    found = _SIZE.fullmatch(text.strip())
    size = (
        int(float(found["number"]) * 1024 ** " kmgt".index(found["unit"].lower() or " "))
        if found
        else 0
    )
    if size < 1:
        raise ConfigurationError(f"memory must be a size such as 512m or 2g, got {text!r}")
    return size


def _quantity(size: int) -> str:
    """Bytes as Kubernetes writes them, whole where that is exact."""
    for unit, power in (("Gi", 30), ("Mi", 20), ("Ki", 10)):
        if size % (1 << power) == 0:
            return f"{size >> power}{unit}"
    return str(size)


def to_yaml(manifests: Iterable[Json]) -> str:
    """The documents that `kubectl apply -f -` takes."""
    import yaml

    return yaml.safe_dump_all(manifests, sort_keys=False, explicit_start=True)


def _probe(period_s: int, failures: int) -> Json:
    return {
        "httpGet": {"path": "/health", "port": _PORT},
        "periodSeconds": period_s,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    }
