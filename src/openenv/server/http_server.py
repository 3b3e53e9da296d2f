"""`HTTPEnvServer`: one kind of environment, its sessions and its routes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import APIRouter, FastAPI
from starlette.routing import WebSocketRoute

from openenv import settings
from openenv.env.environment import HostKind
from openenv.env.metadata import EnvironmentMetadata
from openenv.env.models import Observation, State
from openenv.env.options import Options
from openenv.env.spec import EnvironmentSource, EnvSpec
from openenv.protocol.errors import ConfigurationError, SessionError
from openenv.protocol.wire import HealthResponse, SchemaResponse, ServerMode
from openenv.runtime.capacity import ConcurrencyConfig, ServerCapacityStatus
from openenv.runtime.hosts import Housing
from openenv.runtime.limits import Limits
from openenv.runtime.sessions import Sessions, check_capacity
from openenv.server.authority import Authority
from openenv.server.calls import refuse_episode
from openenv.server.guard import WATCH, Guard
from openenv.server.harness import HarnessSocket
from openenv.server.http import HttpEpisodes, http_routes, session_error_handler
from openenv.server.info import Card, schemas
from openenv.server.mcp.http import McpEndpoint
from openenv.server.watch import WatchEndpoint
from openenv.server.web.mount import add_page
from openenv.server.web.options import Served, WebOptions
from openenv.server.ws import WebSocketEndpoint
from openenv.settings import ServerSettings

if TYPE_CHECKING:
    from openenv.runtime.confine import Isolation

logger = logging.getLogger("openenv.server")


class HTTPEnvServer:
    """Serves one kind of environment: `register_routes(app)` adds it to a FastAPI application.

    Args:
        env: an `Environment` class, a factory (function or `functools.partial`), or an instance,
            which then serves one session at a time; or the `EnvSpec` of any of these.
        action_cls: its actions' class; needed where the environment's class does not say it.
        observation_cls: likewise.
        max_concurrent_envs: sessions at once; `MAX_CONCURRENT_ENVS`, else 64, by default.
        concurrency_config: the same with a timeout; give one of the two.
        env_name: the environment's name for people.
        state_cls: its state's class; read from the class by default.
        reset_observation_cls: what a reset gives, where that is another class.
        limits: all bounds at once, for those that the other arguments don't name.
        host_kind: where environments live, over what the environment says.
        isolation: of a sandbox: `best` is what this machine has, `strict` all or nothing.
        token: what callers must show; `OPENENV_TOKEN`, else nothing, by default.
        control_token: what those must show who control episodes; `OPENENV_CONTROL_TOKEN`, else
            nothing in simulation, and nobody in production, by default.
        allow_agent_control: whoever may call may control episodes, in production too;
            `OPENENV_ALLOW_AGENT_CONTROL` by default.
        watch_token: what those must show who watch running sessions; `OPENENV_WATCH_TOKEN`, else
            nobody may, by default.
        variables: the environment variables that say what the arguments leave open; those of this
            process by default, and `{}` for a server that they do not concern.

    Attributes:
        has_page: whether the web page was asked for where its routes were registered.

    Raises:
        ConfigurationError: something does not fit; the text says what to do.
        ConcurrencyConfigurationError: more sessions than the environment allows.
    """

    def __init__(
        self,
        env: EnvironmentSource | EnvSpec,
        action_cls: Any = None,
        observation_cls: type[Observation] | None = None,
        max_concurrent_envs: int | None = None,
        concurrency_config: ConcurrencyConfig | None = None,
        env_name: str | None = None,
        state_cls: type[State] | None = None,
        *,
        reset_observation_cls: type[Observation] | None = None,
        limits: Limits | None = None,
        host_kind: HostKind | None = None,
        isolation: Isolation | None = None,
        token: str | None = None,
        control_token: str | None = None,
        allow_agent_control: bool | None = None,
        watch_token: str | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.spec = (
            env
            if isinstance(env, EnvSpec)
            else EnvSpec.of(env, action_cls, observation_cls, _specific(state_cls))
        )
        _check_variables(self.spec.traits.options)
        self.env_name = env_name
        self.reset_observation_cls = reset_observation_cls
        self._env_factory = self.spec.make
        self._settings = settings.server_settings(variables)
        self.isolation = settings.isolation(isolation) if isolation else self._settings.isolation
        self.authority = _authority(
            self._settings, token, control_token, watch_token, allow_agent_control
        )
        self.sessions = Sessions(
            self.spec,
            _limits(limits or self._settings.limits, max_concurrent_envs, concurrency_config),
            Housing(
                host_kind or self._settings.host_kind,
                self.isolation,
                self._settings.child_environ,
                self._settings.tracebacks,
            ),
            of_workers=self._settings.workers,
            agents_apart=self.authority.control_token is not None,
        )
        asked = (
            concurrency_config.max_concurrent_envs if concurrency_config else max_concurrent_envs
        )
        check_capacity(self.spec, asked)
        self.has_page = False
        self._episodes = HttpEpisodes(self.sessions)
        self._tools = McpEndpoint(
            self.sessions, env_name or self.spec.name, alone=self._settings.workers == 1
        )

    @property
    def active_sessions(self) -> int:
        """Sessions that exist."""
        return self.sessions.active

    @property
    def max_concurrent_envs(self) -> int:
        """Sessions that may exist at once."""
        return self.sessions.capacity

    @property
    def mode(self) -> ServerMode:
        """For whom it is."""
        return self.sessions.mode

    @property
    def host_kind(self) -> HostKind:
        """Where environments live."""
        return self.sessions.hosts.kind

    def get_capacity_status(self) -> ServerCapacityStatus:
        """How full the server is."""
        return ServerCapacityStatus.from_counts(self.active_sessions, self.max_concurrent_envs)

    async def drain(self) -> None:
        """Opens nothing more; waits for the running calls, and gives up those that hang."""
        await self.sessions.drain()
        self._episodes.give_up()
        self._tools.give_up()

    @property
    def wants_web(self) -> bool:
        """Whether `ENABLE_WEB_INTERFACE` asks for the web page."""
        return self._settings.web

    def register_routes(
        self,
        app: FastAPI,
        mode: ServerMode | str | None = None,
        *,
        web: WebOptions | None = None,
    ) -> None:
        """Adds every route to an application, and closing all sessions to its shutdown.

        Args:
            app: the application.
            mode: `simulation` (everything) or `production` (nothing that controls an episode).
            web: what the author says of the web page; there is none by default.

        Raises:
            ConfigurationError: there is no such mode.
        """
        mode = settings.mode(mode or self._settings.mode)
        simulation = mode is ServerMode.SIMULATION
        self.sessions.hosts.turn_to(mode)
        authority = replace(self.authority, mode=mode)
        card = Card(self.spec, self.sessions.hosts, self.env_name)
        alone = self._settings.workers == 1
        served = Served(
            self.spec, self.sessions, card, authority, self._episodes.calls, alone, self.env_name
        )
        self.has_page = web is not None
        app.add_middleware(
            Guard,
            allowed_origins=self._settings.allowed_origins,
            max_body_bytes=self.sessions.limits.max_message_bytes,
            authority=authority,
            page=add_page(app, served, web, self._settings.allowed_origins) if web else None,
        )
        app.add_exception_handler(SessionError, session_error_handler)
        app.include_router(self._info_routes(card))
        app.include_router(self._tools.routes())
        app.router.routes += self._sockets(authority)
        if simulation:
            app.include_router(http_routes(self._episodes, [] if alone else [refuse_episode]))
        app.router.lifespan_context = _closing(self.sessions, app.router.lifespan_context)

    async def _run_sync_in_thread_pool(
        self, function: Callable[..., ResultT], *args: Any, **kwargs: Any
    ) -> ResultT:
        """Runs a blocking function off the event loop; packages with servers of their own do."""
        return await asyncio.to_thread(function, *args, **kwargs)

    def _sockets(self, authority: Authority) -> Iterator[WebSocketRoute]:
        """The routes of WebSockets."""
        for_agents = authority.mode is ServerMode.PRODUCTION
        v2 = self._settings.v2
        talk = WebSocketEndpoint(self.sessions, self._tools.openenv, v2=v2, for_agents=for_agents)
        yield WebSocketRoute("/mcp", self._tools.socket())
        yield WebSocketRoute("/ws", talk)
        if self.spec.traits.is_harness and for_agents:
            yield WebSocketRoute("/harness", HarnessSocket(self.sessions))
        if authority.watch_token is not None:
            yield WebSocketRoute(WATCH, WatchEndpoint(self.sessions))

    def _info_routes(self, card: Card) -> APIRouter:
        router = APIRouter(tags=["Environment"])
        described = schemas(self.spec, self.reset_observation_cls)

        @router.get("/health")
        async def health() -> HealthResponse:
            """Answers at once, also while steps run."""
            return HealthResponse(
                active_sessions=self.sessions.active,
                max_sessions=self.sessions.capacity,
                waiting=self.sessions.waiting,
                isolation=self.sessions.hosts.isolation,
            )

        @router.get("/metadata")
        async def metadata() -> EnvironmentMetadata:
            """What the environment tells about itself."""
            return await card.read()

        @router.get("/schema")
        async def schema() -> SchemaResponse:
            """The JSON schemas of actions, observations and the state."""
            return described

        return router


def _authority(
    told: ServerSettings,
    token: str | None,
    control_token: str | None,
    watch_token: str | None,
    allow_agent_control: bool | None,
) -> Authority:
    """Who may do what: as the arguments say, and the variables where they say nothing."""
    return Authority(
        told.mode,
        told.token if token is None else settings.checked_token(token),
        told.control_token if control_token is None else settings.checked_token(control_token),
        told.allow_agent_control if allow_agent_control is None else allow_agent_control,
        told.watch_token if watch_token is None else settings.checked_token(watch_token),
    )


def _check_variables(options: type[Options] | None) -> None:
    """Refuses at the start what would fail in every session."""
    if options is None:
        return
    options.from_variables()
    for variable, meant in options.misspelled().items():
        logger.warning("%s has no effect; did you mean %s?", variable, meant)


def _specific(state_cls: type[State] | None) -> type[State] | None:
    """The base class says nothing: the environment's own state class is looked for then."""
    return None if state_cls is State else state_cls


def _limits(
    limits: Limits, max_concurrent_envs: int | None, config: ConcurrencyConfig | None
) -> Limits:
    if max_concurrent_envs is not None and config is not None:
        raise ConfigurationError(
            "give max_concurrent_envs or concurrency_config, not both: one would be ignored"
        )
    if config is not None:
        limits = replace(limits, capacity=config.max_concurrent_envs)
        if "session_timeout" in config.model_fields_set:
            limits = replace(limits, idle_timeout=config.session_timeout)
        return limits
    return limits if max_concurrent_envs is None else replace(limits, capacity=max_concurrent_envs)


ResultT = TypeVar("ResultT")
Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]


def _closing(sessions: Sessions, inner: Lifespan) -> Lifespan:
    """A lifespan that closes every session when the application ends."""

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[Any]:
        async with inner(app) as state:
            sessions.hosts.warm_up()
            try:
                yield state
            finally:
                await sessions.close_all()

    return lifespan
