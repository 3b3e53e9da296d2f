"""`create_app`: an environment as an ASGI application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from openenv.env.environment import HostKind
from openenv.env.models import Observation, State
from openenv.env.spec import EnvironmentSource, EnvSpec
from openenv.protocol.wire import ServerMode
from openenv.runtime.capacity import ConcurrencyConfig
from openenv.runtime.limits import Limits
from openenv.server.http_server import HTTPEnvServer
from openenv.server.web.options import WebOptions

if TYPE_CHECKING:
    from openenv.runtime.confine import Isolation

TITLE = "OpenEnv Environment HTTP API"
API_VERSION = "1.0.0"


def create_app(
    env: EnvironmentSource | EnvSpec,
    action_cls: Any = None,
    observation_cls: type[Observation] | None = None,
    env_name: str | None = None,
    max_concurrent_envs: int | None = None,
    concurrency_config: ConcurrencyConfig | None = None,
    gradio_builder: Any = None,
    custom_tab_name: str = "Custom",
    custom_tab_primary: bool = False,
    show_default_tab: bool = True,
    title_override: str | None = None,
    state_cls: type[State] | None = None,
    *,
    mode: ServerMode | str | None = None,
    reset_observation_cls: type[Observation] | None = None,
    limits: Limits | None = None,
    host_kind: HostKind | None = None,
    isolation: Isolation | None = None,
    token: str | None = None,
    control_token: str | None = None,
    allow_agent_control: bool | None = None,
    watch_token: str | None = None,
    web: bool | None = None,
    variables: Mapping[str, str] | None = None,
) -> FastAPI:
    """An environment as an ASGI application.

    Args:
        env: an `Environment` class, a factory (function or `functools.partial`), or an instance,
            which then serves one session at a time; or the `EnvSpec` of any of these.
        action_cls: its actions' class; needed where the environment's class does not say it.
        observation_cls: likewise.
        env_name: the environment's name for people.
        max_concurrent_envs: sessions at once; `MAX_CONCURRENT_ENVS`, else 64, by default.
        concurrency_config: the same with a timeout; give one of the two.
        gradio_builder: builds a Gradio page of the author's own, beside the built-in one.
        custom_tab_name: what leads to that page is called.
        custom_tab_primary: that page is shown first.
        show_default_tab: the built-in page is shown besides it.
        title_override: the title of the author's page.
        state_cls: the state's class; read from the environment's class by default.
        mode: `simulation` or `production`; `OPENENV_MODE`, else simulation, by default.
        reset_observation_cls: what a reset gives, where that is another class.
        limits: all bounds at once, for those that the other arguments don't name.
        host_kind: where environments live, over what the environment says.
        isolation: of a sandbox: `best` is what this machine has, `strict` all or nothing.
        token: what callers must show, as `Authorization: Bearer TOKEN`; `OPENENV_TOKEN`, else
            nothing, by default.
        control_token: what those must show who control episodes; `OPENENV_CONTROL_TOKEN`, else
            nothing in simulation, and nobody in production, by default.
        allow_agent_control: whoever may call may control episodes, in production too, as in other
            servers of this API; `OPENENV_ALLOW_AGENT_CONTROL` by default.
        watch_token: what those must show who watch running sessions, and do nothing else;
            `OPENENV_WATCH_TOKEN`, else nobody may, by default.
        web: serve the web page at `/web/`; as `ENABLE_WEB_INTERFACE` says, by default.
        variables: the environment variables that say what the arguments leave open; those of this
            process by default, and `{}` for a server that they do not concern.

    Raises:
        ConfigurationError: something does not fit; the text says what to do.
        ConcurrencyConfigurationError: more sessions than the environment allows.
    """
    server = HTTPEnvServer(
        env,
        action_cls,
        observation_cls,
        max_concurrent_envs,
        concurrency_config,
        env_name,
        state_cls,
        reset_observation_cls=reset_observation_cls,
        limits=limits,
        host_kind=host_kind,
        isolation=isolation,
        token=token,
        control_token=control_token,
        allow_agent_control=allow_agent_control,
        watch_token=watch_token,
        variables=variables,
    )
    options = WebOptions(
        gradio_builder, custom_tab_name, custom_tab_primary, show_default_tab, title_override
    )
    return _app(server, mode, options if (server.wants_web if web is None else web) else None)


def create_web_interface_app(
    env: EnvironmentSource | EnvSpec,
    action_cls: Any = None,
    observation_cls: type[Observation] | None = None,
    env_name: str | None = None,
    max_concurrent_envs: int | None = None,
    concurrency_config: ConcurrencyConfig | None = None,
    gradio_builder: Any = None,
    custom_tab_name: str = "Custom",
    custom_tab_primary: bool = False,
    show_default_tab: bool = True,
    title_override: str | None = None,
    state_cls: type[State] | None = None,
    *,
    mode: ServerMode | str | None = None,
    reset_observation_cls: type[Observation] | None = None,
) -> FastAPI:
    """`create_app(..., web=True)`: an application with the web page, whatever the variables say."""
    return create_app(
        env,
        action_cls,
        observation_cls,
        env_name,
        max_concurrent_envs,
        concurrency_config,
        gradio_builder,
        custom_tab_name,
        custom_tab_primary,
        show_default_tab,
        title_override,
        state_cls,
        mode=mode,
        reset_observation_cls=reset_observation_cls,
        web=True,
    )


def create_fastapi_app(
    env: EnvironmentSource,
    action_cls: Any = None,
    observation_cls: type[Observation] | None = None,
    max_concurrent_envs: int | None = None,
    concurrency_config: ConcurrencyConfig | None = None,
    env_name: str | None = None,
    state_cls: type[State] | None = None,
    *,
    mode: ServerMode | str | None = None,
    reset_observation_cls: type[Observation] | None = None,
) -> FastAPI:
    """`create_app` in the other order of arguments that existing packages use."""
    server = HTTPEnvServer(
        env,
        action_cls,
        observation_cls,
        max_concurrent_envs,
        concurrency_config,
        env_name,
        state_cls,
        reset_observation_cls=reset_observation_cls,
    )
    return _app(server, mode)


def _app(
    server: HTTPEnvServer, mode: ServerMode | str | None, web: WebOptions | None = None
) -> FastAPI:
    app = FastAPI(title=TITLE, version=API_VERSION)
    server.register_routes(app, mode, web=web)
    app.state.openenv = server
    return app
