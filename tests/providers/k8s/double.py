"""An API server of the tests: real HTTP on loopback over a `World`, with faults on demand."""

import asyncio
import json
import re
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.frames import Frame, Opcode
from websockets.http11 import Request as Handshake
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from tests.providers.k8s.world import Json, Refusal, World, fate_of

TOKEN = "double-token"
BEAT_S = 0.01
"""How long a pod, or a controller, takes over anything."""
LATE_S = 0.5
_PATH = re.compile(
    r"/apis?/(apps/)?v1/namespaces/(?P<namespace>[^/]+)/(?P<plural>[a-z]+)"
    r"(/(?P<name>[^/]+)(/(?P<part>[a-z]+))?)?"
)
_KINDS = {
    f"{kind.lower()}s": kind for kind in ("Deployment", "ReplicaSet", "Pod", "Service", "Secret")
} | {"events": "Event"}
_VERBS = {"GET": "read", "POST": "create", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}


@dataclass
class Fault:
    """What happens to the next calls of a kind instead, or besides.

    Attributes:
        verb: `create`, `read`, `list`, `watch`, `patch`, `replace`, `delete`, `log`.
        kind: such as `Pod`; empty is any.
        what: a status; `drop` (cut before it is done), `lose` (done, and cut before the answer),
            `late` (cut, and done a while later), `half` (done, and cut in mid-answer),
            `page` (a proxy's page in the place of an answer);
            of a watch also `cut` (in the middle of an event), `end` (at once) and `error` (an
            event that says 410).
        times: how often.
        retry_after: of a 429 or 503.
    """

    verb: str
    kind: str
    what: int | str
    times: int = 1
    retry_after: str | None = None


@dataclass
class Call:
    """One request."""

    verb: str
    kind: str
    namespace: str
    name: str | None
    query: dict[str, str]
    body: Json
    headers: Headers

    @property
    def labels(self) -> dict[str, str]:
        pairs = self.query.get("labelSelector", "").split(",")
        return dict(pair.split("=", 1) for pair in pairs if pair)


@dataclass
class Double:
    """A running API server.

    Attributes:
        world: what is in it.
        faults: what goes wrong, each as often as it says.
        calls: what was asked, as `verb Kind`.
        watched: is told of each call before it is done.
        forbidden: what the account may not do, as `verb Kind`.
        backend: the port where pods serve.
        port: its own.
        server: its address.
        trust: what a kubeconfig says of its certificate.
    """

    world: World = field(default_factory=World)
    faults: list[Fault] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    forbidden: set[str] = field(default_factory=set)
    watched: Callable[[str], None] = lambda call: None
    backend: int = 0
    port: int = 0
    server: str = ""
    trust: Json = field(default_factory=dict)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def act(self, change: Callable[[World], object]) -> None:
        """Changes the world, in the thread that it lives in."""
        done = threading.Event()
        self.world.later(lambda: change(self.world))
        self.world.later(done.set)
        assert done.wait(10)

    def kubeconfig(self, directory: Path, token: str = TOKEN) -> str:
        """A file that says how to reach it."""
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": self.server} | self.trust}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [
                {"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "rl"}}
            ],
            "current-context": "x",
        }
        path = directory / "kubeconfig"
        path.write_text(json.dumps(config))
        return str(path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The requests of one connection."""
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while head := await _head(reader):
                await self._answer(head, reader, writer)
        writer.transport.abort()

    async def _answer(
        self, head: tuple[str, str, Headers], reader: asyncio.StreamReader, writer: Any
    ) -> None:
        method, target, headers = head
        body = await reader.readexactly(int(headers.get("Content-Length", 0)))
        call = _call(method, target, headers, body)
        self.calls.append(f"{call.verb} {call.kind}")
        self.watched(self.calls[-1])
        fault = self._fault(call)
        try:
            self._refuse(call, fault)
            if call.verb == "forward":
                await self._forward(target, headers, reader, writer)
            elif call.verb == "watch":
                await self._watch(call, fault, writer)
            else:
                answer = self._do(call) if fault != "page" else "<html>Log in</html>"
                if fault == "lose":
                    raise ConnectionError
                await _send(writer, 200, answer, half=fault == "half")
        except Refusal as refusal:
            await _send(writer, refusal.status, refusal.body)

    def _fault(self, call: Call) -> int | str | None:
        for fault in self.faults:
            if fault.times and fault.verb == call.verb and fault.kind in ("", call.kind):
                fault.times -= 1
                call.query["retryAfter"] = fault.retry_after or ""
                return fault.what
        return None

    def _refuse(self, call: Call, fault: int | str | None) -> None:
        if call.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise Refusal(401, "Unauthorized", "Unauthorized")
        if f"{call.verb} {call.kind}" in self.forbidden:
            what = (
                f"{call.kind.lower()}s is forbidden: User cannot {call.verb} it in {call.namespace}"
            )
            raise Refusal(403, "Forbidden", what)
        if isinstance(fault, int):
            refusal = Refusal(fault, "Fault", f"a fault: {fault}")
            if call.query.get("retryAfter"):
                refusal.body["details"] = {"retryAfterSeconds": call.query["retryAfter"]}
            raise refusal
        if fault == "late":
            asyncio.get_running_loop().call_later(LATE_S, self._late, call)
        if fault in ("drop", "late"):
            raise ConnectionError

    def _late(self, call: Call) -> None:
        with suppress(Refusal):
            self._do(call)

    def _do(self, call: Call) -> Json | str:
        key = (call.kind, call.namespace, call.name or "")
        if call.verb == "list":
            return self.world.listed(call.kind, call.namespace, call.labels)
        if call.verb == "log":
            image = self.world.get(key)["spec"]["containers"][0]["image"]
            return self.world.logs.get(fate_of(image), "")
        if call.verb in ("create", "replace"):
            act = self.world.create if call.verb == "create" else self.world.replace
            return act(call.body)
        if call.verb == "patch":
            return self.world.patch(key, call.body)
        return self.world.delete(key) if call.verb == "delete" else self.world.get(key)

    async def _watch(self, call: Call, fault: int | str | None, writer: Any) -> None:
        version = int(call.query["resourceVersion"])
        list(self.world.since(version, call.kind, call.labels))  # refused before it begins
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        if fault == "error":
            expired = Refusal(410, "Expired", "too old resource version")
            await _chunk(writer, {"type": "ERROR", "object": expired.body})
        elif fault != "end":
            with suppress(asyncio.TimeoutError):
                window_s = float(call.query["timeoutSeconds"])
                await asyncio.wait_for(self._events(call, version, fault, writer), window_s)
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _events(self, call: Call, version: int, fault: Any, writer: Any) -> None:
        async for event in self._changes(call, version):
            if fault == "cut":
                half = json.dumps(event).encode()[:40]
                writer.write(f"{len(half):x}\r\n".encode() + half + b"\r\n")
                await writer.drain()
                raise ConnectionError
            await _chunk(writer, event)

    async def _changes(self, call: Call, version: int) -> AsyncIterator[Json]:
        while True:
            self._changed.clear()
            for event in self.world.since(version, call.kind, call.labels):
                version = int(event["object"]["metadata"]["resourceVersion"])
                yield event
            await self._changed.wait()

    async def _forward(self, target: str, headers: Headers, reader: Any, writer: Any) -> None:
        """A WebSocket whose channel 0 is a connection to where pods serve."""
        protocol = ServerProtocol(subprotocols=[Subprotocol("v4.channel.k8s.io")])
        protocol.receive_data(f"GET {target} HTTP/1.1\r\n{headers}".encode())
        [handshake] = protocol.events_received()
        assert isinstance(handshake, Handshake)
        protocol.send_response(protocol.accept(handshake))
        port = int(parse_qs(urlsplit(target).query)["ports"][0]).to_bytes(2, "little")
        for channel in (b"\x00", b"\x01"):
            protocol.send_binary(channel + port)
        await _flush(protocol, writer)
        try:
            pod_reader, pod_writer = await asyncio.open_connection("127.0.0.1", self.backend)
        except OSError as error:
            protocol.send_binary(b"\x01" + str(error).encode())
            await _flush(protocol, writer)
            return
        down = asyncio.ensure_future(_down(protocol, pod_reader, writer))
        try:
            while chunk := await reader.read(65536):
                protocol.receive_data(chunk)
                for frame in protocol.events_received():
                    if isinstance(frame, Frame) and frame.opcode is Opcode.BINARY:
                        pod_writer.write(frame.data[1:])
                await _flush(protocol, writer)
        finally:
            down.cancel()
            pod_writer.transport.abort()
            raise ConnectionError  # the connection is no HTTP any more


async def _down(protocol: ServerProtocol, pod: asyncio.StreamReader, writer: Any) -> None:
    while chunk := await pod.read(65536):
        protocol.send_binary(b"\x00" + chunk)
        await _flush(protocol, writer)
    protocol.send_close()
    await _flush(protocol, writer)


async def _flush(protocol: ServerProtocol, writer: Any) -> None:
    for chunk in protocol.data_to_send():
        if chunk:
            writer.write(chunk)
        else:
            writer.close()
    await writer.drain()


async def _head(reader: asyncio.StreamReader) -> tuple[str, str, Headers] | None:
    try:
        text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = text.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = Headers([tuple(line.split(": ", 1)) for line in lines])  # type: ignore[misc]
    return method, target, headers


def _call(method: str, target: str, headers: Headers, body: bytes) -> Call:
    parts = urlsplit(target)
    found = _PATH.fullmatch(parts.path)
    assert found, target
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    verb = _VERBS[method]
    if verb == "read" and not found["name"]:
        verb = "watch" if query.get("watch") else "list"
    verb = {"log": "log", "portforward": "forward"}.get(found["part"] or "", verb)
    content = json.loads(body) if body else {}
    kind = _KINDS[found["plural"]]
    return Call(verb, kind, found["namespace"], found["name"], query, content, headers)


async def _send(writer: Any, status: int, answer: Json | str, *, half: bool = False) -> None:
    body = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
    details = answer.get("details", {}) if isinstance(answer, dict) else {}
    wait = details.get("retryAfterSeconds")
    retry = f"Retry-After: {wait}\r\n" if wait else ""
    kind = "text/plain" if isinstance(answer, str) else "application/json"
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{retry}Content-Length: {len(body)}"
    writer.write(f"{head}\r\n\r\n".encode() + (body[: len(body) // 2] if half else body))
    await writer.drain()
    if half:
        raise ConnectionError


async def _chunk(writer: Any, event: Json) -> None:
    line = json.dumps(event).encode() + b"\n"
    writer.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
    await writer.drain()


def _tls(double: Double, certificate: tuple[Path, Path]) -> ssl.SSLContext:
    double.server = f"https://localhost:{double.port}"
    double.trust = {"certificate-authority": str(certificate[0])}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


@contextmanager
def api_double(certificate: tuple[Path, Path] | None = None) -> Iterator[Double]:
    """An API server of its own thread, until the block ends.

    Args:
        certificate: for localhost, with its key, for one that speaks TLS.
    """
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()
    listening = socket.create_server(("127.0.0.1", 0))
    double = Double(port=listening.getsockname()[1])
    double.server = f"http://127.0.0.1:{double.port}"
    tls = _tls(double, certificate) if certificate else None
    double.world.later = lambda act: loop.call_soon_threadsafe(loop.call_later, BEAT_S, act)
    double.world.changed = double._changed.set

    async def run() -> None:
        server = await asyncio.start_server(double.serve, sock=listening, ssl=tls)
        await ended.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for _ in range(5):  # a transport closes at the loop's next turns
            await asyncio.sleep(0)

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), name="api-double")
    thread.start()
    try:
        yield double
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
        loop.close()
        listening.close()
    assert not thread.is_alive()
