"""Subject: what checks look at, from its files to its running server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openenv.client.generic import GenericEnvClient
from openenv.providers import Running
from openenv.rollout.made_up.calls import Player
from openenv.testing.stage import Stage
from openenv.testing.trajectory import Plan
from openenv.validation.declared import Declared
from openenv.validation.plan import plan_for
from openenv.validation.policy import Policy
from openenv.validation.target import Target
from openenv.validation.web import Site

START_S = 60.0
"""How long a server may take until it is healthy."""
CALL_S = 60.0
"""How long a reset or a step may take."""
LOG_LINES = 20
CAPACITY = 8
"""Sessions that a server of ours holds, unless its package says otherwise."""


@dataclass
class Subject:
    """What checks look at.

    Attributes:
        target: what was named.
        policy: what it is held to.
        timeout_s: how long an HTTP request may take, in seconds.
        headers: of every request to a server that was named.
        declared: what its manifest declares, once that was read; `None` if it declares nothing.
        manifest: the manifest, as reports have it.
        site: the server, once it runs.
        pid: the process under which a server of ours lives.
        running: the report on the endpoints, once they were asked.
    """

    target: Target
    policy: Policy
    timeout_s: float = 5.0
    headers: Mapping[str, str] = field(default_factory=dict)
    declared: Declared | None = None
    manifest: dict[str, Any] | None = None
    site: Site | None = None
    pid: int | None = None
    running: dict[str, Any] | None = None
    _stage: Stage | None = None
    _server: Running | None = None
    _open: ExitStack = field(default_factory=ExitStack)

    @property
    def directory(self) -> Path:
        """The package's files.

        Raises:
            LookupError: it has none.
        """
        if self.target.directory is None:
            raise LookupError(f"{self.target.name} has no files")
        return self.target.directory

    @property
    def is_ours(self) -> bool:
        """Whether the server was started for this validation, and nobody else uses it."""
        return self.target.kind != "url"

    @property
    def server(self) -> Site:
        """The running server.

        Raises:
            LookupError: it does not run.
        """
        if self.site is None:
            raise LookupError("the server does not run")
        return self.site

    @property
    def stage(self) -> Stage:
        """The running environment, to be played.

        Raises:
            NoSample: there is no plan, and no action can be made up.
            ConfigurationError: the plan is wrong.
        """
        if self._stage is None:
            self._stage = self.stage_at(self.server)
        return self._stage

    def stage_at(self, site: Site, plan: Plan | None = None) -> Stage:
        """A server of the environment, to be played.

        Args:
            site: the server.
            plan: what is done; by default the package's plan, or actions that are made up.

        Raises:
            NoSample: there is no plan, and no action can be made up.
            ConfigurationError: the plan is wrong.
        """
        answered = site.get("/schema").content
        schemas = answered if isinstance(answered, dict) else {}
        action = schemas.get("action") or {}
        reward = None if self.declared is None else self.declared.reward
        capacity = site.get("/health").field("max_sessions")

        def player() -> Player:
            return self.client(site).sync()

        return Stage(
            client=player,
            schemas=schemas,
            plan=plan or plan_for(self.target.directory, self.declared, action, player),
            reward_range=None if reward is None else reward.range,
            reward_tolerance=0.0 if reward is None else reward.variance_tolerance or 0.0,
            capacity=capacity if isinstance(capacity, int) else None,
            remote=True,
        )

    def client(self, site: Site) -> GenericEnvClient:
        """A client of a server that has not connected yet."""
        return GenericEnvClient(
            base_url=site.url,
            message_timeout_s=CALL_S,
            connect_timeout_s=max(self.timeout_s, 5.0),
            headers=dict(site.headers),
            protocol="v2+json",
        )

    def start(self) -> None:
        """Starts the server, or takes the one that was named.

        Raises:
            ProviderError: it could not be started. The text has the end of its log.
        """
        if self.target.kind == "url":
            self.site = Site(self.target.place, self.timeout_s, self.headers)
            return
        self._server = self._open.enter_context(_launched(self.target))
        self.pid = getattr(self._server, "pid", None)
        self.site = self._site(self._server)

    def last_words(self) -> list[str]:
        """How a server of ours has died, and the end of its log; nothing while it lives."""
        why = None if self._server is None else self._server.problem()
        if self._server is None or why is None:
            return []
        return [why, *self._server.logs(LOG_LINES).splitlines()]

    @contextmanager
    def another(self, **options: str) -> Iterator[Site]:
        """A server of its own for as long as the block lasts.

        Args:
            **options: the provider's, for example `host_kind`.

        Raises:
            ProviderError: it could not be started.
        """
        with _launched(self.target, **options) as running:
            yield self._site(running)

    def _site(self, running: Running) -> Site:
        return Site(running.url, self.timeout_s, running.headers)

    def close(self) -> None:
        """Stops what was started."""
        self._open.close()


def _launched(target: Target, **options: str) -> Running:
    """A server of a target, healthy; `with` stops it."""
    from openenv.providers import Launch, LocalDockerProvider, ProcessProvider

    is_image = target.kind == "image"
    provider = LocalDockerProvider() if is_image else ProcessProvider()
    return provider.launch(
        Launch(
            image=target.place if is_image else None,
            project=None if is_image else target.place,
            env_vars={"MAX_CONCURRENT_ENVS": str(CAPACITY)},
            ready_timeout_s=START_S,
            options=options,
        )
    )
