"""`openenv deploy k8s` against an API double."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
import yaml

from openenv.cli.commands.deploy import deploy
from openenv.protocol.errors import OpenEnvError
from tests.providers.k8s.double import Double, Fault, api_double


@dataclass
class Ended:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def openenv(*args: str) -> Ended:
    """Runs `openenv deploy k8s` in this process."""
    stdout, stderr = io.StringIO(), io.StringIO()
    code = 0
    with redirect_stdout(stdout), redirect_stderr(stderr):
        try:
            typer.main.get_command(deploy)(["k8s", *args], standalone_mode=False)
        except OpenEnvError as error:
            stderr.write(str(error))
            code = getattr(error, "exit_code", 1)
    return Ended(code, stdout.getvalue(), stderr.getvalue())


@pytest.fixture
def double() -> Iterator[Double]:
    with api_double() as double:
        yield double


pytestmark = pytest.mark.timeout(90)


def test_deploy_change_and_delete(double: Double, tmp_path: Path) -> None:
    where = ("--kubeconfig", double.kubeconfig(tmp_path))
    first = openenv("good:1", "--replicas", "2", "-e", "API_TOKEN=s", *where)
    assert first.returncode == 0, first.stderr
    assert "good serves good:1 in namespace rl: 2 pod(s)" in first.stdout
    assert "Inside the cluster: http://good.rl.svc:8000" in first.stdout
    assert "openenv deploy k8s --delete good -n rl" in first.stderr
    service = double.world.objects["Service", "rl", "good"]["spec"]["clusterIP"]

    double.faults = [Fault("replace", "Deployment", 409, times=2)]
    second = json.loads(openenv("good:1", "--replicas", "1", "--json", *where).stdout)
    assert second["name"] == "good"
    assert len(second["pods"]) == 1
    assert double.faults[0].times == 0
    assert double.world.objects["Service", "rl", "good"]["spec"]["clusterIP"] == service

    gone = openenv("--delete", "good", "--json", *where)
    assert json.loads(gone.stdout) == {"deleted": "good", "namespace": "rl"}
    assert double.world.left() == []
    again = openenv("--delete", "good", *where)
    assert again.returncode == 2
    assert "nothing of OpenEnv's is called good in namespace rl" in again.stderr


def test_somebody_elses_deployment_is_left_alone(double: Double, tmp_path: Path) -> None:
    where = ("--kubeconfig", double.kubeconfig(tmp_path))
    assert openenv("good:1", *where).returncode == 0
    strange = {"metadata": {"labels": {"app.kubernetes.io/managed-by": "helm"}}}
    double.act(lambda world: world.patch(("Deployment", "rl", "good"), strange))
    refused = openenv("good:1", *where)
    assert refused.returncode == 1
    assert "Deployment good in namespace rl is not OpenEnv's" in refused.stderr


def test_what_never_runs_is_told(double: Double, tmp_path: Path) -> None:
    ended = openenv("missing:1", "--kubeconfig", double.kubeconfig(tmp_path))
    assert ended.returncode == 1
    assert "ErrImagePull" in ended.stderr or "ImagePullBackOff" in ended.stderr


def test_what_did_not_run_is_put_right_by_the_next(double: Double, tmp_path: Path) -> None:
    where = ("--name", "mine", "--kubeconfig", double.kubeconfig(tmp_path))
    for image in ("crash:1", "quota:1"):
        assert openenv(image, *where).returncode == 1
    fine = openenv("good:1", *where, "--json")
    assert fine.returncode == 0, fine.stderr
    assert len(json.loads(fine.stdout)["pods"]) == 1


def test_printing_asks_no_cluster(tmp_path: Path) -> None:
    (tmp_path / "my_env").mkdir()
    (tmp_path / "my_env" / "openenv.yaml").write_text(
        "name: my_env\nport: 7860\nvariables: {MODE: fast}\n"
    )
    words = ["--print", "--replicas", "3", "-n", "rl", "--kubeconfig", "/none"]
    printed = subprocess.run(
        [sys.executable, "-m", "openenv", "deploy", "k8s", str(tmp_path / "my_env"), *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert printed.returncode == 0, printed.stderr
    deployment, service = yaml.safe_load_all(printed.stdout)
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "openenv-my"
    assert container["ports"][0]["containerPort"] == 7860
    assert container["env"] == [{"name": "MODE", "value": "fast"}]
    assert deployment["spec"]["replicas"] == 3
    assert {deployment["metadata"]["namespace"], service["metadata"]["namespace"]} == {"rl"}
    as_json = json.loads(openenv("registry.example.org/me/echo:1", "--print", "--json").stdout)
    assert [manifest["kind"] for manifest in as_json] == ["Deployment", "Service"]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ([], "say what to deploy"),
        (["./none"], "there is no folder './none'"),
        (["Bad Image"], "'Bad Image' can be no image's name"),
        (["Bad Image", "--print"], "'Bad Image' can be no image's name"),
        (["echo:"], "'echo:' can be no image's name"),
        (["me//echo"], "'me//echo' can be no image's name"),
        (["echo:1", "--image", "other"], "--image goes with a folder"),
        (["echo:1", "--delete", "x"], "--delete NAME goes with neither"),
        (["echo:1", "-e", "SECRET"], "--env takes NAME=VALUE"),
        (["echo:1", "--name", "Bad_Name"], "name must be lower-case"),
        (["echo:1", "--memory", "lots"], "memory must be a size"),
        (["echo:1", "--kubeconfig", "/none"], "there is no cluster to talk to"),
    ],
)
def test_what_cannot_be_meant(args: list[str], told: str) -> None:
    ended = openenv(*args)
    assert ended.returncode > 0
    assert told in ended.stderr
    assert (ended.stdout, "deploying  …" in ended.stderr) == ("", False)


@pytest.mark.parametrize(
    "image",
    [
        "echo",
        "me/my_env__2:v1.0",
        "localhost:5000/a/b-c:latest",
        "Registry.Example.org/me/echo",
        f"echo@sha256:{'0' * 64}",
    ],
)
def test_the_names_that_images_have(image: str) -> None:
    assert image in openenv(image, "--print").stdout


def test_no_pods_are_a_deployment_that_waits(double: Double, tmp_path: Path) -> None:
    ended = openenv("good:1", "--replicas", "0", "--kubeconfig", double.kubeconfig(tmp_path))
    assert ended.returncode == 0, ended.stderr
    assert "0 pod(s)" in ended.stdout
