"""A port of this machine whose connections end in a cluster's pods, through its API server.

One thread with an event loop of its own carries all connections. Each is a WebSocket to the
`portforward` of a ready pod: channel 0 is the data, channel 1 the error, and the first frame of
each says only which port it is for.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
import ssl
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from openenv.protocol.errors import NotReady, ProviderError
from openenv.providers.kubernetes_api import Cluster, ClusterError
from openenv.providers.kubernetes_manifests import Workload
from openenv.providers.kubernetes_verdicts import is_ready

MAX_CONNECTIONS = 1024
OPEN_S = 15.0
CLOSE_S = 5.0
FRESH_S = 1.0
"""How long a list of the ready pods is good for."""
_CHUNK = 65536
_MAX_FRAME = 16 << 20
_DATA, _ERROR = 0, 1
_PROTOCOL = Subprotocol("v4.channel.k8s.io")
_log = logging.getLogger(__name__)


class Forward:
    """The local port; it takes connections from its construction until it is closed.

    Attributes:
        url: of the port.
    """

    def __init__(self, cluster: Cluster, workload: Workload, port: int | None = None) -> None:
        try:
            self._listening = socket.create_server(("127.0.0.1", port or 0), backlog=128)
        except OSError as error:
            raise ProviderError(
                f"port {port} of this machine cannot be had ({error.strerror}); choose another, or "
                "none"
            ) from None
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._cluster = cluster
        self._workload = workload
        self._turns = itertools.count()
        self._pods: list[str] = []
        self._fresh_until = 0.0
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="openenv-forward", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Gives the port back and ends its connections.

        Raises:
            NotReady: a request to the cluster hangs; it ends by its own timeout.
        """
        with suppress(RuntimeError):  # it has been closed before
            self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(CLOSE_S * 2)
        if self._thread.is_alive():
            raise NotReady("a forwarded port does not close; the cluster does not answer")

    def _run(self) -> None:
        with self._listening:
            self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._accept, sock=self._listening)
        await self._ended.wait()
        server.close()
        await _end(self._connections)
        await _end(asyncio.all_tasks() - {asyncio.current_task()})
        for _ in range(3):  # a transport closes at the loop's next turns
            await asyncio.sleep(0)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection is not None
        with suppress(asyncio.CancelledError, OSError):  # streams take a cancelled task for a fault
            try:
                if len(self._connections) < MAX_CONNECTIONS:
                    self._connections.add(connection)
                    await self._carry(reader, writer)
            finally:
                self._connections.discard(connection)
                writer.close()
                await writer.wait_closed()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from a pod's choice to the end of either side."""
        try:
            url, headers = await self._loop.run_in_executor(None, self._target)
            configuration = self._cluster.client.configuration
            websocket = await connect(
                url,
                additional_headers=headers,
                subprotocols=[_PROTOCOL],
                ssl=_tls(configuration),
                server_hostname=configuration.tls_server_name or None,
                proxy=_proxy(configuration),
                compression=None,
                max_size=_MAX_FRAME,
                open_timeout=OPEN_S,
                close_timeout=1.0,
            )
            try:
                await _first(_up(reader, websocket), _down(websocket, writer))
                await websocket.close()
            finally:
                websocket.transport.abort()  # cancelled, it would stay open
        except (OSError, ValueError, WebSocketException, RuntimeError) as error:
            self._fresh_until = 0.0  # that pod may be gone
            _log.debug("a forwarded connection ended: %s", error)

    def _target(self) -> tuple[str, dict[str, str]]:
        """The address of a ready pod's port, a different pod each time, and the credentials."""
        if time.monotonic() >= self._fresh_until:
            listed = self._cluster.list("Pod", self._workload.selector, tries=1)["items"]
            self._pods = sorted(pod["metadata"]["name"] for pod in listed if is_ready(pod))
            self._fresh_until = time.monotonic() + FRESH_S
        if not self._pods:
            raise ClusterError(f"no pod of {self._workload.name} is ready")
        pod = self._pods[next(self._turns) % len(self._pods)]
        configuration = self._cluster.client.configuration
        shown = configuration.auth_settings().values()
        host = configuration.host.rstrip("/").replace("http", "ws", 1)
        path = f"/api/v1/namespaces/{self._workload.namespace}/pods/{pod}/portforward"
        port = self._workload.options.container_port
        headers = {each["key"]: each["value"] for each in shown if each["in"] == "header"}
        return f"{host}{path}?ports={port}", headers


async def _end(tasks: Iterable[asyncio.Task[Any] | None]) -> None:
    """Cancels tasks, and waits a while until they have ended."""
    cancelled = [task for task in tasks if task is not None]
    for task in cancelled:
        task.cancel()
    if cancelled:
        await asyncio.wait(cancelled, timeout=CLOSE_S)


async def _first(*ways: Any) -> None:
    """Runs both ways until one ends."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _up(reader: asyncio.StreamReader, websocket: ClientConnection) -> None:
    while chunk := await reader.read(_CHUNK):
        await websocket.send(bytes([_DATA]) + chunk)


async def _down(websocket: ClientConnection, writer: asyncio.StreamWriter) -> None:
    opened: set[int] = set()
    async for frame in websocket:
        if not isinstance(frame, bytes) or not frame:
            raise ProviderError(f"the cluster sent a frame of no channel: {frame[:80]!r}")
        channel, payload = frame[0], frame[1:]
        if channel not in opened:
            opened.add(channel)
        elif channel == _ERROR:
            raise ProviderError(payload.decode(errors="replace"))
        else:
            writer.write(payload)
            await writer.drain()


def _proxy(configuration: Any) -> str | None:
    """The proxy that the official client goes through, if it does."""
    from kubernetes.client.rest import should_bypass_proxies

    around = should_bypass_proxies(configuration.host, configuration.no_proxy or "")
    return None if around else configuration.proxy


def _tls(configuration: Any) -> ssl.SSLContext | None:
    """What the official client's configuration says of TLS; `None` for plain HTTP."""
    if not configuration.host.startswith("https"):
        return None
    context = ssl.create_default_context(
        cafile=configuration.ssl_ca_cert, cadata=getattr(configuration, "ca_cert_data", None)
    )
    if configuration.assert_hostname is False or not configuration.verify_ssl:
        context.check_hostname = False
    if not configuration.verify_ssl:
        context.verify_mode = ssl.CERT_NONE
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    return context
