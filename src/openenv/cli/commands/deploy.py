"""`openenv deploy k8s`: an environment's image in a Kubernetes cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from openenv.project.deploy_kubernetes import Wanted, Where
    from openenv.providers.kubernetes_manifests import Workload

deploy = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

_Target = Annotated[
    str | None,
    typer.Argument(metavar="IMAGE|DIR", help="An image, or a folder that holds openenv.yaml."),
]
_Print = Annotated[bool, typer.Option("--print", help="Print the manifests, and ask no cluster.")]
_Delete = Annotated[
    str | None, typer.Option(metavar="NAME", help="Delete that deployment instead.")
]
_Image = Annotated[
    str | None, typer.Option(help="The image of DIR; what `openenv build` calls it by default.")
]
_Name = Annotated[str | None, typer.Option(help="Its name; the image's by default.")]
_Namespace = Annotated[
    str | None, typer.Option("--namespace", "-n", help="The context's by default.")
]
_Replicas = Annotated[
    int, typer.Option(min=0, help="How many pods; 0 stops them, and keeps the rest.")
]
_Port = Annotated[
    int | None, typer.Option(min=1, max=65535, help="Where the image listens; 8000 by default.")
]
_Env = Annotated[
    list[str] | None,
    typer.Option("--env", "-e", metavar="NAME=VALUE", help="A variable of the server."),
]
_Memory = Annotated[str, typer.Option(help="The limit of each pod, as 512m or 2g.")]
_Cpus = Annotated[float | None, typer.Option(min=0.01, help="The limit of each pod.")]
_Access = Annotated[
    Literal["service", "node-port"],
    typer.Option(help="Reachable in the cluster, or on a port of every node."),
]
_Pull = Annotated[
    Literal["IfNotPresent", "Always", "Never"], typer.Option(help="When nodes pull the image.")
]
_PullSecret = Annotated[
    list[str] | None, typer.Option(help="A Secret with the registry's credentials.")
]
_ReadOnly = Annotated[bool, typer.Option("--read-only", help="Nothing but /tmp can be written to.")]
_Context = Annotated[str | None, typer.Option(help="Of the kubeconfig.")]
_Kubeconfig = Annotated[str | None, typer.Option(help="What kubectl takes by default.")]
_Timeout = Annotated[float, typer.Option(min=1, help="Seconds until all pods serve.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


@deploy.callback()
def _group() -> None:
    """Run an environment's image somewhere, until it is deleted."""


@deploy.command()
def k8s(
    target: _Target = None,
    print_only: _Print = False,
    delete: _Delete = None,
    image: _Image = None,
    name: _Name = None,
    namespace: _Namespace = None,
    replicas: _Replicas = 1,
    port: _Port = None,
    env: _Env = None,
    memory: _Memory = "2g",
    cpus: _Cpus = None,
    access: _Access = "service",
    pull: _Pull = "IfNotPresent",
    pull_secret: _PullSecret = None,
    read_only: _ReadOnly = False,
    context: _Context = None,
    kubeconfig: _Kubeconfig = None,
    timeout: _Timeout = 300.0,
    as_json: _Json = False,
) -> None:
    """Run an image in a Kubernetes cluster, as a Deployment and a Service."""
    from openenv.project import deploy_kubernetes as deploying
    from openenv.providers.launch import Resources

    where = deploying.Where(namespace=namespace, context=context, kubeconfig=kubeconfig)
    if delete is not None:
        return _delete(deploying.only(delete, target, print_only), where, as_json)
    variables = deploying.parse_variables(env or ())
    pods = {"replicas": replicas, "access": access, "read_only_root": read_only, "name": name}
    pulls = {"image_pull_policy": pull, "image_pull_secrets": tuple(pull_secret or ())}
    limits = Resources(memory=memory, cpus=cpus)
    wanted = deploying.Wanted(target or "", image, port, variables, limits, pods | pulls, timeout)
    planned = deploying.plan(wanted, namespace or "default")  # before anything is begun
    if print_only:
        return _print(planned, as_json)
    return _deploy(wanted, where, as_json)


def _print(workload: Workload, as_json: bool) -> None:
    from openenv.cli.output import answer
    from openenv.providers.kubernetes_manifests import to_yaml

    manifests = workload.manifests()
    answer(manifests, as_json, [to_yaml(manifests).rstrip()])


def _delete(name: str, where: Where, as_json: bool) -> None:
    from openenv.cli.output import answer, step
    from openenv.project.deploy_kubernetes import remove

    with step(f"deleting {name}"):
        namespace = remove(name, where)
    told = f"Deleted {name} from namespace {namespace}"
    answer({"deleted": name, "namespace": namespace}, as_json, [told])


def _deploy(wanted: Wanted, where: Where, as_json: bool) -> None:
    from openenv.cli.output import answer, next_steps, step
    from openenv.project import deploy_kubernetes as deploying

    with step(f"deploying {wanted.target}"):
        deployed = deploying.deploy(wanted, where)
    lines = [
        f"{deployed.name} serves {deployed.image} in namespace {deployed.namespace}: "
        f"{len(deployed.pods)} pod(s) after {deployed.seconds:.1f} s",
        f"Inside the cluster: {deployed.url}",
    ]
    answer(vars(deployed), as_json, lines)
    inside = f"-n {deployed.namespace}"
    next_steps(
        f"kubectl {inside} port-forward service/{deployed.name} 8000:{deployed.port}",
        "openenv validate http://127.0.0.1:8000",
        f"openenv deploy k8s --delete {deployed.name} {inside}",
    )
