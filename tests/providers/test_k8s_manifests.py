"""The manifests, held strictly to the schemas of several Kubernetes versions."""

import base64
from typing import Any

import pytest
import yaml
from kubernetes_validate import ValidationError, validate  # type: ignore[import-untyped]

from openenv.protocol.errors import ConfigurationError
from openenv.providers.kubernetes_manifests import (
    Json,
    PodOptions,
    Workload,
    image_name,
    memory_bytes,
    to_yaml,
)
from openenv.providers.launch import Resources

VERSIONS = ("1.25", "1.28", "1.31", "1.34", "1.37")
PLAIN = Workload(name="echo", namespace="rl", image="registry.example.org/me/echo:1")
FULL = Workload(
    name="echo",
    namespace="rl",
    image="registry.example.org/me/echo:1",
    env_vars={"MODE": "fast", "API_TOKEN": "secret"},
    resources=Resources(memory="512m", cpus=1.5),
    options=PodOptions(
        replicas=3,
        access="node-port",
        container_port=7860,
        command=("serve", "--fast"),
        image_pull_policy="Never",
        image_pull_secrets=("registry",),
        service_account="envs",
        run_as_user=None,
        read_only_root=True,
        tmp_size="1Gi",
        requests={"cpu": "1"},
        limits={"nvidia.com/gpu": "1"},
        labels={"team": "rl"},
        node_selector={"disk": "ssd"},
        runtime_class="gvisor",
    ),
    service_port=30080,
    owner={"openenv.owner": "abc", "openenv.host": "a b:c"},
    launch="123",
)


def by_kind(workload: Workload) -> dict[str, Any]:
    return {manifest["kind"]: manifest for manifest in workload.manifests()}


def container_of(workload: Workload) -> Json:
    container: Json = by_kind(workload)["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    return container


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("workload", [PLAIN, FULL], ids=["plain", "full"])
def test_every_version_takes_them(workload: Workload, version: str) -> None:
    for manifest in yaml.safe_load_all(to_yaml(workload.manifests())):
        validate(manifest, version, strict=True)


def test_the_schemas_do_refuse() -> None:
    [deployment, _] = PLAIN.manifests()
    deployment["spec"]["template"]["spec"]["replica"] = 1
    with pytest.raises(ValidationError):
        validate(deployment, VERSIONS[0], strict=True)


@pytest.mark.parametrize("workload", [PLAIN, FULL], ids=["plain", "full"])
def test_no_pod_has_more_rights_than_it_needs(workload: Workload) -> None:
    pod = by_kind(workload)["Deployment"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["resources"]["limits"]["memory"]
    assert {"hostNetwork", "hostPID", "hostIPC"}.isdisjoint(pod)


def test_credentials_are_in_a_secret_alone() -> None:
    secret = by_kind(FULL)["Secret"]
    assert base64.b64decode(secret["data"]["API_TOKEN"]) == b"secret"
    container = container_of(FULL)
    assert {"name": "MODE", "value": "fast"} in container["env"]
    assert all(variable.get("value") != "secret" for variable in container["env"])
    assert "Secret" not in by_kind(PLAIN)


def test_everything_is_found_by_its_labels() -> None:
    for manifest in FULL.manifests():
        assert FULL.selector.items() <= manifest["metadata"]["labels"].items()
        assert manifest["metadata"]["annotations"]["openenv.host"] == "a b:c"
    kinds = by_kind(FULL)
    deployment, service = kinds["Deployment"]["spec"], kinds["Service"]["spec"]
    assert service["selector"] == deployment["selector"]["matchLabels"] == FULL.selector
    labels = deployment["template"]["metadata"]["labels"]
    assert FULL.selector.items() <= labels.items()
    assert labels["team"] == "rl"


def test_the_port_and_the_probes() -> None:
    container = container_of(FULL)
    assert container["ports"] == [{"name": "http", "containerPort": 7860}]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": "/health", "port": "http"}
    assert container["startupProbe"]["failureThreshold"] == 60
    [port] = by_kind(FULL)["Service"]["spec"]["ports"]
    assert port == {"name": "http", "port": 7860, "targetPort": "http", "nodePort": 30080}


def test_what_is_reserved_is_never_above_the_limit() -> None:
    tiny = Workload(
        name="a", namespace="b", image="c", resources=Resources(memory="32m", cpus=0.01)
    )
    assert container_of(tiny)["resources"] == {
        "requests": {"memory": "32Mi", "cpu": "10m"},
        "limits": {"memory": "32Mi", "cpu": "10m"},
    }


@pytest.mark.parametrize(
    ("text", "size"),
    [("512m", 1 << 29), ("2g", 1 << 31), ("2Gi", 1 << 31), ("1.5G", 3 << 29), ("1024", 1024)],
)
def test_sizes(text: str, size: int) -> None:
    assert memory_bytes(text) == size


@pytest.mark.parametrize("text", ["", "g", "-1g", "2x", "0", "lots", "2 gigs"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ConfigurationError, match="512m or 2g"):
        memory_bytes(text)


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("registry.example.org/me/Echo_Env:1.0", "echo-env"),
        ("localhost:5000/echo@sha256:abc", "echo"),
        ("2048", "env-2048"),
        ("x" * 90, "x" * 40),
        ("___", "env"),
    ],
)
def test_names_of_images(image: str, name: str) -> None:
    assert image_name(image) == name
