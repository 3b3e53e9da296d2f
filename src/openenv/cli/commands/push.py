"""`openenv push`: an environment to the Hub, or to a Docker registry."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openenv.cli.hub_options import (
    SECRET_HELP,
    VARIABLE_HELP,
    AsJson,
    Hardware,
    Private,
    space_settings,
)
from openenv.cli.output import answer, next_steps, say, step, table

if TYPE_CHECKING:
    from openenv.project.deployment import Deployment
    from openenv.project.hub import Hub
    from openenv.project.push import Publication, PushOptions

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The environment's directory.")]
RepoId = Annotated[
    str | None,
    typer.Option(
        "--repo-id",
        "-r",
        help="The Space, as NAME or NAMESPACE/NAME. By default your own, with the manifest's name.",
    ),
]
BaseImage = Annotated[
    str | None, typer.Option("--base-image", "-b", help="Build on this image instead.")
]
Interface = Annotated[bool, typer.Option("--interface", help="Switch the web interface on.")]
NoInterface = Annotated[bool, typer.Option("--no-interface", help="Leave it as it is.")]
Registry = Annotated[
    str | None,
    typer.Option(help="Build an image and push it here instead, as registry.example.org/me."),
]
CreatePr = Annotated[bool, typer.Option("--create-pr", help="Open a pull request on the Space.")]
Exclude = Annotated[
    Path | None, typer.Option(help="A file of globs that are not published, one a line.")
]
Delete = Annotated[
    list[str] | None,
    typer.Option(help="Delete the Space's files of this glob, unless they are pushed. Repeatable."),
]
Count = Annotated[
    int | None,
    typer.Option("--count", "-n", min=1, help="Make that many Spaces, NAME-1 to NAME-N."),
]
EnvVar = Annotated[list[str] | None, typer.Option("--env-var", "-e", help=VARIABLE_HELP)]
Secret = Annotated[list[str] | None, typer.Option(help=SECRET_HELP)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change; change nothing.")]


def push(
    directory: Directory = Path("."),
    repo_id: RepoId = None,
    base_image: BaseImage = None,
    interface: Interface = False,
    no_interface: NoInterface = False,
    registry: Registry = None,
    private: Private = False,
    create_pr: CreatePr = False,
    exclude: Exclude = None,
    delete: Delete = None,
    hardware: Hardware = None,
    count: Count = None,
    env_var: EnvVar = None,
    secret: Secret = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Publish an environment as a Space of the Hugging Face Hub, or as an image in a registry."""
    from openenv.project.push import PushOptions, prepare

    options = PushOptions(
        directory=directory,
        repo_id=repo_id,
        registry=registry,
        base_image=base_image,
        interface=_either(interface, no_interface),
        exclude=exclude,
        delete=delete or (),
        count=count,
        create_pr=create_pr,
        settings=space_settings(private, hardware, env_var, secret),
    )
    publication = prepare(options)
    for left in publication.staging.left_out:
        say(f"left out: {left.path} ({left.reason})")
    perform = _to_hub if registry is None else _to_registry
    perform(options, publication, dry_run, as_json)


def _either(interface: bool, no_interface: bool) -> bool | None:
    from openenv.project.errors import ProjectError

    if interface and no_interface:
        raise ProjectError("--interface and --no-interface exclude each other; leave one out")
    return True if interface else False if no_interface else None


# ── the Hub ───────────────────────────────────────────────────────────────────────────────────────


def _to_hub(options: PushOptions, publication: Publication, dry_run: bool, as_json: bool) -> None:
    hub = _hub_to_look_at() if dry_run else _hub_to_write_to()
    if hub is None:
        name = options.repo_id or publication.manifest.name
        _show_plan(publication, {"spaces": [_unseen(name, publication)]}, as_json)
        return
    deployments = _deployments(hub, options, publication)
    with step("Looking at what is there"):
        for deployment in deployments:
            deployment.look()
    if dry_run:
        plans = [deployment.plan() for deployment in deployments]
        _show_plan(publication, {"spaces": plans}, as_json)
        return
    done: list[Deployment] = []
    for deployment in deployments:
        with _telling_what_is_left(done, deployment):
            for title, action in deployment.steps():
                with step(title):
                    action()
        done.append(deployment)
    _show_results([deployment.result() for deployment in done], as_json)


def _hub_to_write_to() -> Hub:
    """The Hub, after a login if there is somebody who could log in."""
    from openenv.project.hub import Hub

    hub = Hub(told=say)
    if not hub.has_token and sys.stdin.isatty():
        hub.log_in()
    return hub


def _hub_to_look_at() -> Hub | None:
    """The Hub, if it can be read without asking anybody for anything."""
    from openenv.project.errors import ProjectError
    from openenv.project.hub import Hub

    try:
        hub = Hub(told=say)
    except ProjectError as error:
        say(f"not compared with the Hub: {error}")
        return None
    if not hub.has_token:
        say("not compared with the Hub: no access token was found")
        return None
    return hub


def _deployments(hub: Hub, options: PushOptions, publication: Publication) -> list[Deployment]:
    from openenv.project.deployment import Deployment
    from openenv.project.push import repo_ids

    with step(f"Logging in to {hub.endpoint}"):
        account = hub.account()
    return [
        Deployment(
            hub,
            repo_id,
            publication.staging,
            publication.settings,
            delete=options.delete,
            create_pr=options.create_pr,
        )
        for repo_id in repo_ids(options, publication.manifest, account)
    ]


@contextmanager
def _telling_what_is_left(done: list[Deployment], failing: Deployment) -> Iterator[None]:
    """Whatever ends a push half-way, what exists by then is said."""
    try:
        yield
    except BaseException:
        for finished in done:
            say(f"{finished.page} is complete.")
        if left := failing.left_behind():
            say(left)
        raise


def _unseen(name: str, publication: Publication) -> dict[str, Any]:
    """The plan for a place that nobody has looked at: every file counts as new."""
    from openenv.project.deployment import changes

    files = [vars(change) for change in changes(publication.staging, {})]
    return {"name": name, "exists": None, "files": files}


def _show_plan(
    publication: Publication, places: dict[str, list[dict[str, Any]]], as_json: bool
) -> None:
    """What a push would do, by what it pushes to: `spaces` or `images`."""
    from openenv.project.deployment import human_size

    settings = publication.settings
    plan = {
        "dry_run": True,
        **places,
        "size": publication.staging.size,
        "variables": dict(settings.variables),
        "secrets": sorted(settings.secrets),
        "hardware": settings.hardware,
        "private": settings.private,
        "left_out": [vars(left) for left in publication.staging.left_out],
    }
    lines = []
    for place in (place for listed in places.values() for place in listed):
        known = {True: "it exists", False: "it would be made", None: "not looked at"}
        lines.append(f"{place['name']} ({known[place['exists']]})")
        rows = [(f["fate"], f["path"], human_size(f["size"])) for f in place["files"]]
        lines += table(("", "file", "size"), rows)
    lines += [f"variable {name}={value}" for name, value in settings.variables.items()]
    lines += [f"secret {name} (its value is not shown)" for name in sorted(settings.secrets)]
    lines += [f"hardware {settings.hardware}"] if settings.hardware else []
    lines.append(f"{human_size(publication.staging.size)} in all; nothing was changed")
    answer(plan, as_json, lines)


def _show_results(results: list[dict[str, Any]], as_json: bool) -> None:
    lines = [result["pull_request"] or result["url"] for result in results]
    for result in results:
        if result["commit_url"] is None:
            say(f"{result['repo_id']} had every file already; nothing was uploaded")
    answer({"dry_run": False, "spaces": results}, as_json, lines)
    address = results[0]["app_url"]
    if results[0]["pull_request"]:
        next_steps(f"merge it at {results[0]['pull_request']}")
        return
    next_steps(
        f"openenv validate {address}   # once the Space has been built",
        'python -c "from openenv import GenericEnvClient; '
        f"print(GenericEnvClient(base_url='{address}').reset())\"",
    )


# ── a registry ────────────────────────────────────────────────────────────────────────────────────


def _to_registry(
    options: PushOptions, publication: Publication, dry_run: bool, as_json: bool
) -> None:
    from openenv.project.registry import build_image, image_name, push_image
    from openenv.providers.engine import Engine

    image = image_name(str(options.registry), publication.manifest)
    if dry_run:
        _show_plan(publication, {"images": [_unseen(image, publication)]}, as_json)
        return
    with step(f"Building {image}"):
        build_image(image, publication)
    with step(f"Pushing {image}"):
        push_image(image)
    answer({"dry_run": False, "image": image}, as_json, [image])
    port = publication.manifest.port
    next_steps(f"{Engine().name} run --rm --init -p 127.0.0.1:8000:{port} {image}")
