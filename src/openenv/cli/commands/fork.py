"""`openenv fork`: a copy of somebody's Space."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from openenv.cli.hub_options import SECRET_HELP, VARIABLE_HELP, AsJson, Private, space_settings
from openenv.cli.output import answer, next_steps, say, step

Source = Annotated[str, typer.Argument(metavar="OWNER/SPACE", help="The Space to copy.")]
RepoId = Annotated[
    str | None,
    typer.Option(
        "--repo-id", "-r", help="The copy, as NAME or NAMESPACE/NAME. By default the same name."
    ),
]
SetEnv = Annotated[list[str] | None, typer.Option("--set-env", "-e", help=VARIABLE_HELP)]
SetSecret = Annotated[
    list[str] | None, typer.Option("--set-secret", "--secret", "-s", help=SECRET_HELP)
]
Hardware = Annotated[str, typer.Option("--hardware", "-H", help="What the copy runs on.")]


def fork(
    source: Source,
    repo_id: RepoId = None,
    private: Private = False,
    set_env: SetEnv = None,
    set_secret: SetSecret = None,
    hardware: Hardware = "cpu-basic",
    as_json: AsJson = False,
) -> None:
    """Copy a Space of the Hugging Face Hub to your own account."""
    from openenv.project import fork as forking
    from openenv.project.hub import Hub

    settings = space_settings(private, hardware, set_env, set_secret, variable_option="--set-env")
    source = forking.checked(source, repo_id, settings)
    hub = Hub(told=say)
    if not hub.has_token and sys.stdin.isatty():
        hub.log_in()
    with step(f"Copying {source}"):
        copied = forking.fork(hub, source, repo_id, settings)
    answer(copied, as_json, [copied["url"]])
    next_steps(f"openenv validate {copied['app_url']}   # once the copy has been built")
