"""Every environment variable that OpenEnv reads, typed. Nothing else reads the environment.

| variable | default | meaning |
| --- | --- | --- |
| `MAX_CONCURRENT_ENVS` | 64 | sessions that a server holds at once |
| `OPENENV_STEP_TIMEOUT_S` | 3600 | the longest step a server allows; `0` is no limit |
| `OPENENV_TOOL_TIMEOUT_S` | 30 | how long a tool may run that says nothing else; `0` is for ever |
| `OPENENV_RESET_TIMEOUT_S` | 3600 | the longest reset; `0` is no limit |
| `OPENENV_IDLE_TIMEOUT_S` | 0 | how long a connected session may do nothing; `0` is no limit |
| `OPENENV_UNATTACHED_TIMEOUT_S` | 1800 | how long a session made over HTTP may do nothing |
| `OPENENV_RESUME_GRACE_S` | 300 | how long a session waits for a client that was cut off |
| `OPENENV_MAX_MESSAGE_MB` | 16 | the largest message that a server reads |
| `OPENENV_WIRE` | v2 | `v1` switches wire v2 off in a server |
| `OPENENV_ALLOWED_ORIGINS` | – | other web origins that may call, comma-separated; `*` is any |
| `OPENENV_WORKERS` | 1 | how many server processes share the port; `serve --workers` sets it |
| `ENABLE_WEB_INTERFACE` | false | `true` serves the web page at `/web/` |
| `ENV_README_PATH` | – | the README that a server shows; else the one of its package |
| `SPACE_HOST` | – | where a server in a Space is reached; the Space sets it |
| `OPENENV_TOKEN` | – | what a server's callers must show, as `Authorization: Bearer TOKEN` |
| `OPENENV_CONTROL_TOKEN` | – | what those must show who control episodes; agents need not |
| `OPENENV_WATCH_TOKEN` | – | what those must show who watch running sessions; unset, nobody may |
| `OPENENV_ALLOW_AGENT_CONTROL` | 0 | `1` lets every caller control episodes, in production too |
| `OPENENV_HOST_KIND` | – | `inline`, `thread`, `process` or `sandbox`, over the environment's |
| `OPENENV_ISOLATION` | best | of a sandbox: `best` takes what there is, `strict` all or nothing |
| `OPENENV_TRACEBACKS` | 0 | `1` sends the author's part of a traceback to the client |
| `OPENENV_CHILD_ENV` | – | variables that process hosts get although they look like secrets |
| `OPENENV_MODE` | simulation | a server's mode: `simulation` or `production` |
| `OPENENV_CLIENT_MODE` | simulation | a client's mode |
| `OPENENV_CLIENT_TOKEN` | – | what a client shows to every server that it is pointed at |
| `OPENENV_LLM_API_KEY` | – | the key of a language model; else the vendor's, `OPENAI_API_KEY` say |
| `OPENENV_TRUST_REMOTE_CODE` | 0 | `1` installs environments from the Hub unasked |
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast, get_args

from openenv.credentials import find_credentials, has_password
from openenv.env.environment import HostKind
from openenv.protocol.errors import ConfigurationError
from openenv.protocol.wire import ServerMode
from openenv.runtime.limits import DEFAULT_CAPACITY, Limits

if TYPE_CHECKING:
    from openenv.runtime.confine import Isolation

HOST_KINDS = get_args(HostKind)
ISOLATIONS = ("best", "strict")
_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|COOKIE|PRIVATE|APIKEY"
    r"|(API|ACCESS|AUTH|ENCRYPTION)_?KEY|^KEY$|(?<!BY)(?<!COM)PASS$"
    r"|_(KEYS?|PWD|PAT|DSN|SK|PSK|JWT|SAS|CREDS?|BEARER)(_?\d+)?$"
    r"|(?<!DESKTOP)(?<!FULL)_SESSION$"
    r"|_AUTH|AUTHORIZATION|DATABASE_URL|CONNECTION_STRING|WEBHOOK",
    re.IGNORECASE,
)
_PERHAPS = re.compile(r"_(API|MASTER)(_?\d+)?$", re.IGNORECASE)
"""Names of credentials to some, and of addresses and switches to others."""
_HARMLESS = re.compile(
    r"[a-z][\w+.-]*://\S*|[\w.-]+:\d+|\d{0,6}|true|false|yes|no|on|off", re.IGNORECASE
)


@dataclass(frozen=True)
class ServerSettings:
    """What the environment variables say to a server."""

    limits: Limits
    mode: ServerMode
    host_kind: HostKind | None
    isolation: Isolation
    allowed_origins: frozenset[str]
    tracebacks: bool
    v2: bool
    child_environ: Mapping[str, str]
    token: str | None = field(repr=False)
    control_token: str | None = field(repr=False)
    watch_token: str | None = field(repr=False)
    allow_agent_control: bool
    workers: int
    web: bool


def server_settings(environ: Mapping[str, str] | None = None) -> ServerSettings:
    """Reads the variables that concern a server.

    Raises:
        ConfigurationError: one of them cannot be used; the text names it.
    """
    env = os.environ if environ is None else environ
    workers = _whole(env, "OPENENV_WORKERS", 1)
    limits = Limits(
        capacity=_whole(env, "MAX_CONCURRENT_ENVS", DEFAULT_CAPACITY),
        step_timeout=_seconds(env, "OPENENV_STEP_TIMEOUT_S", 3600.0),
        tool_timeout=_seconds(env, "OPENENV_TOOL_TIMEOUT_S", 30.0),
        reset_timeout=_seconds(env, "OPENENV_RESET_TIMEOUT_S", 3600.0),
        idle_timeout=_seconds(env, "OPENENV_IDLE_TIMEOUT_S", 0.0),
        unattached_timeout=_seconds(env, "OPENENV_UNATTACHED_TIMEOUT_S", 1800.0),
        resume_grace=_number(env, "OPENENV_RESUME_GRACE_S", 300.0) if workers == 1 else 0.0,
        max_message_bytes=int(_number(env, "OPENENV_MAX_MESSAGE_MB", 16.0) * 1024 * 1024),
    )
    kind = env.get("OPENENV_HOST_KIND") or None
    if kind is not None and kind not in HOST_KINDS:
        raise ConfigurationError(
            f"OPENENV_HOST_KIND must be one of {', '.join(HOST_KINDS)}, got {kind!r}"
        )
    origins = env.get("OPENENV_ALLOWED_ORIGINS", "")
    return ServerSettings(
        limits=limits,
        mode=mode(env.get("OPENENV_MODE")),
        host_kind=cast("HostKind | None", kind),
        isolation=isolation(env.get("OPENENV_ISOLATION")),
        allowed_origins=frozenset(o.strip().rstrip("/") for o in origins.split(",") if o.strip()),
        tracebacks=_switch(env, "OPENENV_TRACEBACKS"),
        v2=_wire(env) == "v2",
        child_environ=without_secrets(env),
        token=_token(env, "OPENENV_TOKEN"),
        control_token=_token(env, "OPENENV_CONTROL_TOKEN"),
        watch_token=_token(env, "OPENENV_WATCH_TOKEN"),
        allow_agent_control=_switch(env, "OPENENV_ALLOW_AGENT_CONTROL"),
        workers=workers,
        web=_switch(env, "ENABLE_WEB_INTERFACE"),
    )


def readme_path() -> str | None:
    """The README that a server shows, if `ENV_README_PATH` names one."""
    return os.environ.get("ENV_README_PATH") or None


def space_url() -> str | None:
    """Where this server is reached if it runs in a Space, which says so in `SPACE_HOST`."""
    host = os.environ.get("SPACE_HOST")
    return f"https://{host}" if host else None


def preset(values: Mapping[str, str | int | None]) -> None:
    """Sets variables for this process and those that it starts, as a command's options do.

    Args:
        values: by variable; `None` leaves one as it is.
    """
    os.environ.update({name: str(value) for name, value in values.items() if value is not None})


def client_mode() -> ServerMode:
    """The mode of clients that were given none.

    Raises:
        ConfigurationError: `OPENENV_CLIENT_MODE` is no mode.
    """
    return mode(os.environ.get("OPENENV_CLIENT_MODE"))


def client_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """The headers of a client's handshake: its own, and the token of the environment's variables.

    Raises:
        ConfigurationError: `OPENENV_CLIENT_TOKEN` cannot be sent.
    """
    own = dict(headers or {})
    token = os.environ.get("OPENENV_CLIENT_TOKEN")
    if token and not any(name.lower() == "authorization" for name in own):
        own["Authorization"] = f"Bearer {checked_token(token)}"
    return own


def checked_token(token: str) -> str:
    """A token that a header can carry.

    Raises:
        ConfigurationError: it cannot; the text does not tell it.
    """
    if not re.fullmatch(r"[!-~]+", token):
        raise ConfigurationError(
            "a token must be one word of printable ASCII characters; the one given is "
            f"{'empty' if not token else 'not'}"
        )
    return token


def mode(name: ServerMode | str | None) -> ServerMode:
    """A mode by its name in any case, `simulation` by default.

    Raises:
        ConfigurationError: there is no such mode.
    """
    if isinstance(name, ServerMode):
        return name
    try:
        return ServerMode(name.lower()) if name else ServerMode.SIMULATION
    except ValueError:
        known = ", ".join(mode.value for mode in ServerMode)
        raise ConfigurationError(f"mode must be one of {known}, got {name!r}") from None


def isolation(name: str | None) -> Isolation:
    """How much of a sandbox must be there, by its name; `best` by default.

    Raises:
        ConfigurationError: there is no such isolation.
    """
    asked = (name or "").strip().lower() or "best"
    if asked not in ISOLATIONS:
        raise ConfigurationError(f"isolation must be best or strict, got {name!r}")
    return cast("Isolation", asked)


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that a child process may see: none that looks like a credential.

    By its name, or by a value that has the shape of a well-known token or a password in it, as
    the address of a proxy may.
    """
    kept = {name.strip() for name in environ.get("OPENENV_CHILD_ENV", "").split(",")}
    return {n: v for n, v in environ.items() if n in kept or not _is_secret(n, v)}


def _is_secret(name: str, value: str) -> bool:
    if _SECRET.search(name) or has_password(value) or any(find_credentials(value)):
        return True
    return _PERHAPS.search(name) is not None and _HARMLESS.fullmatch(value) is None


@contextmanager
def hidden_secrets() -> Iterator[None]:
    """Within, a process that is started inherits nothing that looks like a credential."""
    kept = without_secrets(os.environ)
    secrets = {name: value for name, value in os.environ.items() if name not in kept}
    for name in secrets:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(secrets)


def server_environ(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of a server that is started on this machine: no credential but those given."""
    return without_secrets(os.environ) | dict(extra or {})


def tool_environ(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of a tool that acts for the user, such as `docker`: all of them, and these."""
    return dict(os.environ) | dict(extra or {})


def model_key(vendor: str, *, at_vendor: bool) -> str | None:
    """The key that is shown to a language model.

    Args:
        vendor: `openai` or `anthropic`.
        at_vendor: the model is asked at the vendor's own address; nobody else sees its key.
    """
    key = os.environ.get("OPENENV_LLM_API_KEY")
    return key or (os.environ.get(f"{vendor.upper()}_API_KEY") if at_vendor else None)


def named(variable: str) -> str | None:
    """The value of a variable that a configuration names, for the one that it is meant for."""
    return os.environ.get(variable)


def trusts_remote_code() -> bool:
    """Whether the Hub's environments, which are code, may be installed without asking."""
    return _switch(os.environ, "OPENENV_TRUST_REMOTE_CODE")


def _token(environ: Mapping[str, str], name: str) -> str | None:
    return checked_token(environ[name]) if environ.get(name) else None


def _switch(environ: Mapping[str, str], name: str) -> bool:
    return environ.get(name, "").strip().lower() in ("1", "true", "yes")


def _wire(environ: Mapping[str, str]) -> str:
    wire = environ.get("OPENENV_WIRE", "").strip().lower() or "v2"
    if wire not in ("v1", "v2"):
        raise ConfigurationError(f"OPENENV_WIRE must be v1 or v2, got {wire!r}")
    return wire


def _number(environ: Mapping[str, str], name: str, default: float) -> float:
    text = environ.get(name, "").strip()
    try:
        value = float(text) if text else default
    except ValueError:
        raise ConfigurationError(f"{name} must be a number, got {text!r}") from None
    if not 0 <= value < float("inf"):
        raise ConfigurationError(f"{name} must be 0 or more, got {text!r}")
    return value


def _seconds(environ: Mapping[str, str], name: str, default: float) -> float | None:
    return _number(environ, name, default) or None


def _whole(environ: Mapping[str, str], name: str, default: int) -> int:
    value = _number(environ, name, default)
    if value != int(value) or value < 1:
        raise ConfigurationError(f"{name} must be a whole number from 1, got {environ[name]!r}")
    return int(value)
