"""A connected socket, through a proxy and TLS where the address asks for them."""

from __future__ import annotations

import http.client
import socket
import ssl
from base64 import b64encode
from typing import Any
from urllib.parse import unquote, urlsplit

from openenv.client.endpoint import Endpoint
from openenv.protocol.errors import ConnectFailed


def dial(endpoint: Endpoint) -> socket.socket:
    """Connects to the server of an endpoint; blocks for `connect_timeout` at most at each step.

    Raises:
        ConnectFailed: it could not.
    """
    host, port, secure = place(endpoint)
    try:
        opened: Any = tunnel(endpoint) or socket.create_connection(
            (host, port), endpoint.connect_timeout
        )
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if secure:
            opened = _secured(opened, host)
    except ConnectFailed:
        raise
    except (OSError, http.client.HTTPException) as error:
        raise endpoint.failed(error) from error
    connection: socket.socket = opened
    return connection


def _secured(opened: socket.socket, host: str) -> ssl.SSLSocket:
    secured = ssl.create_default_context().wrap_socket(
        opened, server_hostname=host, do_handshake_on_connect=False
    )
    try:
        secured.do_handshake()
    except BaseException:  # older Pythons leave it open
        secured.close()
        raise
    return secured


def place(endpoint: Endpoint) -> tuple[str, int, bool]:
    """The host, the port, and whether it is reached over TLS."""
    url = urlsplit(endpoint.ws_url)
    secure = url.scheme == "wss"
    return url.hostname or "", url.port or (443 if secure else 80), secure


def tunnel(endpoint: Endpoint) -> socket.socket | None:
    """A tunnel through the proxy that the environment names for this address, if it does.

    Raises:
        ConnectFailed: the proxy is of a kind that clients cannot use.
        OSError: it did not answer, or refused.
    """
    if endpoint.proxy is None:
        return None
    host, port, _ = place(endpoint)
    proxy = urlsplit(endpoint.proxy)
    through = http.client.HTTPConnection(
        proxy.hostname or "", proxy.port or 80, timeout=endpoint.connect_timeout
    )
    headers = {}
    if proxy.username is not None:
        login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
    through.set_tunnel(host, port, headers)
    answers: list[http.client.HTTPResponse] = []

    def answer(*args: Any, **kwargs: Any) -> http.client.HTTPResponse:
        answers.append(http.client.HTTPResponse(*args, **kwargs))
        return answers[-1]

    through.response_class = answer  # type: ignore[assignment]  # a function makes one as well
    try:
        through.connect()
    finally:  # older Pythons leave it open, and with it the socket
        for each in answers:
            each.close()
    opened: socket.socket = through.sock
    return opened
