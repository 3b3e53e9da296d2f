"""An environment that a command plays: one that runs, or one that is served for the time being."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def served(env: str | None, base_url: str | None, sessions: int) -> Iterator[str]:
    """The address of an environment.

    Args:
        env: a package's folder or name, a file, or whatever else `openenv serve` takes. It is
            served in a process of its own, which ends with the block.
        base_url: a server that runs; the environment is then only a name.
        sessions: how many a server of ours has room for.

    Raises:
        UsageProblem: neither was given, or it is nothing that can be served.
        ProviderError: it could not be started. The text has the end of its log.
    """
    from openenv.cli.output import step
    from openenv.project.errors import UsageProblem
    from openenv.protocol.errors import ConfigurationError
    from openenv.providers import Launch, ProcessProvider
    from openenv.validation.target import Target

    if env is None and base_url is None:
        raise UsageProblem("name an environment to be served, or a server with --base-url")
    try:
        target = Target.named(str(env)) if base_url is None else Target.at_url(base_url)
    except ConfigurationError as error:
        raise UsageProblem(str(error) if base_url is None else f"--base-url: {error}") from error
    if target.kind == "url":
        yield target.place
        return
    if target.kind == "image":
        raise UsageProblem(f"run the image {target.place}, and give its address with --base-url")
    room = {"MAX_CONCURRENT_ENVS": str(sessions)}
    with step(f"Starting {target.name}"):
        running = ProcessProvider().launch(Launch(project=target.place, env_vars=room))
    with running:
        yield running.url
