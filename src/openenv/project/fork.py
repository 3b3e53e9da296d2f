"""`openenv fork`: somebody's Space becomes one of your own."""

from __future__ import annotations

from typing import Any

from openenv.client.spaces import Space
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.hub import Hub, SpaceSettings
from openenv.project.push import check_public, is_repo_id
from openenv.protocol.errors import ConfigurationError


def checked(source: str, repo_id: str | None, settings: SpaceSettings) -> str:
    """The Space to copy, as `owner/name`, whether its id or its page was given.

    Raises:
        UsageProblem: a name is none, or a variable is a secret.
    """
    try:
        space = Space.named(source)
    except ConfigurationError as error:
        raise UsageProblem(
            f"{source!r} is no Space; it takes OWNER/SPACE, as openenv/echo_env"
        ) from error
    if space.revision is not None:
        raise UsageProblem(
            f"{source!r} names a revision, and the Hub copies Spaces whole; leave out what follows "
            "the @"
        )
    if repo_id is not None and not is_repo_id(repo_id):
        raise UsageProblem(
            f"--repo-id {repo_id!r} is no name of a Space; it takes name or namespace/name"
        )
    check_public(settings.variables, "--set-env")
    return space.id


def fork(hub: Hub, source: str, repo_id: str | None, settings: SpaceSettings) -> dict[str, Any]:
    """Copies a Space; the answer is as JSON takes it.

    Args:
        hub: where both are.
        source: the Space to copy, as `owner/name`.
        repo_id: the copy, as `name` or `namespace/name`; by default the same name, of your own.
        settings: what the copy is given.

    Raises:
        NotLoggedIn: there is no account to copy to.
        ProjectError: the Hub refuses, or the copy exists already.
    """
    account = hub.account()
    name = repo_id or source.partition("/")[2]
    target = name if "/" in name else f"{account}/{name}"
    if target == source:
        raise UsageProblem(f"{source} is yours already; give the copy a name with --repo-id")
    if hub.exists(target):
        raise ProjectError(
            f"the Space {target} exists already and is left as it is; give another --repo-id"
        )
    hub.duplicate(source, target, settings)
    page = f"{hub.endpoint}/spaces/{target}"
    app = Space.named(target).url
    return {"source": source, "repo_id": target, "url": page, "app_url": app}
