"""A list of hosts that a session may reach: through a proxy that runs outside its network.

The session has a network namespace with nothing but a loopback. On that listens a socket which was
handed out of it: a process in the host's network accepts what comes, and connects it to the hosts
that are listed. Programs find it by the usual variables, HTTPS_PROXY and the like.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from openenv.runtime.confine import kernel, landlock, privileges, seccomp
from openenv.runtime.confine.features import Features
from openenv.runtime.confine.keeper import close_descriptors

PORTS = (80, 443)
READS = ("/etc", "/usr", "/lib", "/lib64", "/run/systemd/resolve")
"""What finding a host's address takes."""
CONNECTIONS = 64
RESOLVERS = 4
"""Threads that look up names."""
HEAD_BYTES = 1 << 14
CHUNK_BYTES = 1 << 16
PATIENCE_S = 15.0

_NO_REQUEST = (asyncio.TimeoutError, asyncio.LimitOverrunError)
_REQUEST = re.compile(rb"([A-Z]+) (?:http://)?([^/:\s]+)(?::(\d+))?(/\S*)? (HTTP/1\.[01])\r\n")


@dataclass(frozen=True)
class Egress:
    """The proxy of one session, as the session's process sees it before it goes in."""

    _channel: socket.socket

    @classmethod
    def fork(cls, allowed: tuple[str, ...], features: Features) -> Egress:
        """Starts the proxy, in the network of the process that calls.

        Raises:
            OSError: there can be no more processes.
        """
        ours, its = socket.socketpair()
        parent = privileges.pidfd()
        if os.fork() == 0:
            _be_proxy(its, parent, allowed, features)
        its.close()
        privileges.forget(parent)
        return cls(ours)

    def listen(self) -> dict[str, str]:
        """Hands out a socket of the network that this process is in now.

        Returns:
            The variables by which programs find it.
        """
        with self._channel, socket.create_server(("127.0.0.1", 0)) as listener:
            socket.send_fds(self._channel, [b"!"], [listener.fileno()])
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        names = ("http_proxy", "https_proxy", "all_proxy")
        found = {name: url for each in names for name in (each, each.upper())}
        return {**found, "no_proxy": "localhost,127.0.0.1", "NO_PROXY": "localhost,127.0.0.1"}


def _be_proxy(
    channel: socket.socket, parent: int, allowed: tuple[str, ...], features: Features
) -> NoReturn:
    """Proxies until the session ends; what it may do itself is little."""
    code = 1
    try:
        close_descriptors(3, [channel.fileno(), parent])
        _lock_up(features)
        privileges.die_with(parent)
        _, (descriptor,), _, _ = socket.recv_fds(channel, 1, 1)
        asyncio.run(_serve(socket.socket(fileno=descriptor), allowed))
        code = 0
    finally:
        os._exit(code)


def _lock_up(features: Features) -> None:
    "".encode("idna")  # which addresses need, and is loaded then
    if "no_new_privs" in features:
        privileges.forget_capabilities()
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if "own_user" in features and not features.user_namespace:
        privileges.become(privileges.unused_uid())
    if "no_new_privs" in features:
        kernel.drop_capabilities()
    if "landlock" in features:
        landlock.restrict([(path, landlock.READ) for path in READS], ports=True)
    if "seccomp" in features:
        seccomp.filter_calls(sockets=True)
    privileges.shield()


async def _serve(listener: socket.socket, allowed: tuple[str, ...]) -> None:
    free = CONNECTIONS

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal free
        free -= 1
        with suppress(OSError, ValueError, EOFError, *_NO_REQUEST):
            if free >= 0:
                await _connect(reader, writer, allowed)
        free += 1
        writer.close()

    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(RESOLVERS))
    server = await asyncio.start_server(serve, sock=listener, limit=HEAD_BYTES)
    await server.serve_forever()


async def _connect(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, allowed: tuple[str, ...]
) -> None:
    """One request of a session, and all that follows on its connection."""
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
    match = _REQUEST.match(head)
    if match is None:
        return writer.write(_refusal("400 Bad Request", "this proxy knows CONNECT and http://"))
    method, host, port, path, version = match.groups()
    is_tunnel = method == b"CONNECT"
    target = (host.decode("ascii").lower(), int(port or (443 if is_tunnel else 80)))
    if not is_allowed(*target, allowed):
        why = f"{target[0]}:{target[1]} is not among the hosts that the environment declares"
        return writer.write(_refusal("403 Forbidden", why))
    try:
        there = await asyncio.wait_for(_open(*target, allowed), PATIENCE_S)
    except (OSError, asyncio.TimeoutError) as error:
        return writer.write(_refusal("502 Bad Gateway", f"{target[0]}: {error}"))
    if is_tunnel:
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    else:
        start = b" ".join((method, path or b"/", version)) + b"\r\n"
        there[1].write(start + head[match.end() :])
    await _relay((reader, writer), there)
    return None


def is_allowed(host: str, port: int, allowed: Iterable[str]) -> bool:
    """Whether one of the entries names a host and port."""
    for entry in allowed:
        name, _, wanted = entry.lower().partition(":")
        if port not in ((int(wanted),) if wanted else PORTS):
            continue
        if host == name or (name.startswith("*.") and host.endswith(name[1:])):
            return True
    return False


async def _open(
    host: str, port: int, allowed: tuple[str, ...]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a host; not to this machine, by whatever name, unless by its own."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for address in (str(each[-1][0]) for each in found):
        if host in (address, "localhost") or not _is_own(address):
            return await asyncio.open_connection(address, port)
    raise OSError("its name leads to this machine itself")


def _is_own(address: str) -> bool:
    ip = ipaddress.ip_address(address)
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return ip.is_loopback or ip.is_link_local or ip.is_unspecified


_Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _relay(one: _Stream, other: _Stream) -> None:
    """Carries both ways until both ends are done."""
    try:
        await asyncio.gather(_carry(one[0], other[1]), _carry(other[0], one[1]))
    finally:
        other[1].close()


async def _carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while chunk := await source.read(CHUNK_BYTES):
        target.write(chunk)
        await target.drain()
    with suppress(OSError):
        target.write_eof()


def _refusal(status: str, why: str) -> bytes:
    body = f"{why}\n".encode()
    return (
        f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        + body
    )
