"""Endpoint: where a server is, and on what terms a connection to it is made and kept."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode, urljoin, urlsplit, urlunsplit

from openenv.protocol.envelope import SUBPROTOCOLS, Encoding
from openenv.protocol.errors import (
    ConfigurationError,
    ConnectFailed,
    MessageTooLarge,
    OpenEnvError,
    ReplyTimeout,
    SessionLost,
)

UNAUTHORIZED_STATUS = 401
SESSIONS, TOOLS = "/ws", "/mcp"
"""The paths of WebSockets: a trainer's, and an agent's."""
RETRYABLE_STATUSES = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class Endpoint:
    """Times are in seconds, `None` is off.

    Attributes:
        base_url: the server's address, `http://…` or `https://…`, without a slash at the end.
        headers: extra headers of the handshake, for example `Authorization`.
        connect_timeout: for one attempt.
        connect_retries: further attempts when nobody listens or the server is busy.
        ping_interval: how often a quiet connection is pinged.
        ping_timeout: how long a ping may stay unanswered.
        max_message_bytes: the largest message that is read.
        wait_s: how long to queue when the server is full.
        subprotocols: what the handshake offers to speak, the most wanted first.
        path: where on the server the WebSocket is.
        session_id: the session there to take part in, rather than to open one.
    """

    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    connect_timeout: float = 10.0
    connect_retries: int = 3
    ping_interval: float | None = 20.0
    ping_timeout: float | None = 20.0
    max_message_bytes: int = 100 * 1024 * 1024
    wait_s: float = 0.0
    subprotocols: tuple[str, ...] = ()
    path: str = SESSIONS
    session_id: str | None = None

    @property
    def ws_url(self) -> str:
        """The address of the server's WebSocket."""
        asked = {"session_id": self.session_id} if self.session_id is not None else {}
        if self.wait_s > 0:
            asked["wait_s"] = f"{self.wait_s:g}"
        query = f"?{urlencode(asked)}" if asked else ""
        return f"{convert_to_ws_url(self.base_url)}{self.path}{query}"

    @property
    def is_local(self) -> bool:
        """Whether it is this machine: proxies are not asked then."""
        host = urlsplit(self.base_url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return address.is_loopback or address.is_unspecified

    @property
    def proxy(self) -> str | None:
        """The proxy that the environment names for it, if it does.

        Raises:
            ConnectFailed: it is of a kind that clients cannot use.
        """
        from urllib.request import getproxies, proxy_bypass

        url = urlsplit(self.ws_url)
        if self.is_local or proxy_bypass(url.netloc.rpartition("@")[2]):
            return None
        proxies = getproxies()
        proxy = proxies.get("https" if url.scheme == "wss" else "http") or proxies.get("all")
        if not proxy:
            return None
        proxy = proxy if "://" in proxy else f"http://{proxy}"
        if (scheme := urlsplit(proxy).scheme) != "http":
            raise self.failed(
                f"the proxy that the environment names speaks {scheme}, only http proxies work; "
                "NO_PROXY excepts hosts"
            )
        return proxy

    def at(self, url: str, headers: Mapping[str, str]) -> Endpoint:
        """This endpoint at another address, which needs headers of its own."""
        return replace(self, base_url=normalised(url), headers={**self.headers, **headers})

    def of_tools(self) -> Endpoint:
        """Where an agent has its session."""
        return replace(self, path=TOOLS, subprotocols=())

    def of_episode(self, session_id: str | None) -> Endpoint:
        """Where that session's episode is controlled; in v1, whatever the server knows."""
        return replace(self, path=SESSIONS, session_id=session_id)

    def moved(self, target: str) -> Endpoint | None:
        """This endpoint where a redirect points to; `None` if it should not be followed.

        It leads to the same path elsewhere, never out of TLS; another host gets no headers.
        """
        old, new = urlsplit(self.ws_url), urlsplit(urljoin(self.ws_url, target))
        secure = new.scheme in ("wss", "https")
        at_path = new.path.endswith(self.path)
        if not at_path or not new.hostname or (old.scheme == "wss" and not secure):
            return None
        scheme = "https" if secure else "http"
        base_url = urlunsplit((scheme, new.netloc, new.path.removesuffix(self.path), "", ""))
        moved = replace(self, base_url=base_url)
        at_home = urlsplit(moved.ws_url)[:2] == old[:2]
        return moved if at_home else replace(moved, headers={})

    def failed(self, why: object, status: int | None = None) -> ConnectFailed:
        """The error of an attempt to connect that failed."""
        cause = getattr(why, "__cause__", None)  # of a handshake that was cut off
        refused = isinstance(why, ConnectionError | TimeoutError) or isinstance(
            cause, ConnectionError | EOFError
        )
        url = urlsplit(self.ws_url)
        shown = urlunsplit(url._replace(netloc=url.netloc.rpartition("@")[2]))  # no password
        advice = (
            "is the server running, and is this its address?"
            if status is None
            else "the server asks for its token: set OPENENV_CLIENT_TOKEN, or pass "
            'headers={"Authorization": "Bearer TOKEN"}'
            if status == UNAUTHORIZED_STATUS
            else "something answers there, but serves no episodes at this path: compare base_url "
            "with the server's own address, and its mode and credentials with yours"
        )
        return ConnectFailed(
            f"Failed to connect to {shown}: {why or type(why).__name__}; {advice}",
            status,
            worth_retrying=refused or status in RETRYABLE_STATUSES,
        )

    def late(self, timeout_s: float) -> ReplyTimeout:
        """The error of a call whose answer did not come in time."""
        return ReplyTimeout(
            f"no answer within {timeout_s:g} s; the connection was dropped and its session with "
            "it: give the call more time (timeout_s, message_timeout_s), then reset()"
        )

    def closed(self, code: int | None, reason: str) -> OpenEnvError:
        """The error of a call whose connection has ended."""
        if code == 1009:
            return MessageTooLarge(
                "a message was larger than one side accepts: the server's limit is "
                f"OPENENV_MAX_MESSAGE_MB (16 by default), this client's max_message_size_mb is "
                f"{self.max_message_bytes / 2**20:g}; reset() begins a new session",
                limit=self.max_message_bytes,
            )
        how = "without a goodbye" if code is None else f"with code {code} {reason}".rstrip()
        return SessionLost(
            f"the connection was closed {how}, and a session that cannot be resumed ended with it; "
            "reset() begins a new one"
        )


def normalised(base_url: str) -> str:
    """An address as the client keeps it: with a scheme of HTTP, no slash at the end.

    Raises:
        ConfigurationError: it is no address of a server.
    """
    url = base_url.strip()
    scheme, rest = (url if "://" in url else f"http://{url}").split("://", 1)
    scheme = {"ws": "http", "wss": "https"}.get(scheme.lower(), scheme.lower())
    try:
        parts = urlsplit(f"{scheme}://{rest.rstrip('/')}")
        usable = scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(character.isspace() for character in url):
        raise ConfigurationError(
            f"base_url must be a server's address such as http://localhost:8000, got {base_url!r}"
        )
    return urlunsplit((scheme, parts.netloc, parts.path.removesuffix("/ws"), "", ""))


def offers(protocol: str | None, *, msgpack: bool) -> tuple[str, ...]:
    """The subprotocols of a handshake.

    Args:
        protocol: what the caller insists on.
        msgpack: whether the client reads what MessagePack holds: bytes and arrays as they are.

    Raises:
        ConfigurationError: there is no such protocol.
    """
    if protocol is None:
        return SUBPROTOCOLS if msgpack else (Encoding.JSON.value,)
    wanted = tuple(name for name in SUBPROTOCOLS if name == f"openenv.{protocol}")
    if not wanted and protocol != "v1":
        known = ", ".join(["v1", *(name.removeprefix("openenv.") for name in SUBPROTOCOLS)])
        raise ConfigurationError(f"protocol must be one of {known}, got {protocol!r}")
    return wanted


def convert_to_ws_url(url: str) -> str:
    """The WebSocket form of an address: `http` → `ws`, `https` → `wss`, no scheme → `ws`."""
    url = url.rstrip("/")
    for scheme, socket_scheme in (("http://", "ws://"), ("https://", "wss://")):
        if url.startswith(scheme):
            return socket_scheme + url[len(scheme) :]
    return url if url.startswith(("ws://", "wss://")) else f"ws://{url}"
