"""ProcessHost: an environment in a process of its own, which can crash or be killed alone."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pydantic_core import from_json

from openenv.protocol.errors import EnvironmentFactoryError, HostCrashed, Json, SessionError
from openenv.protocol.messages import Reply, Request
from openenv.protocol.msgpack import decode_msgpack, encode_msgpack
from openenv.protocol.values import encode
from openenv.runtime.host import Host
from openenv.runtime.plan import Plan
from openenv.runtime.stderr import Stderr

HEADER = struct.Struct("!B?I")
"""Each answer of the child: its kind, whether its body is MessagePack, the size of that."""
KINDS = ("ready", "observation", "state", "error")
MAX_ANSWER_BYTES = 1 << 28
CHUNK_BYTES = 1 << 16
PIPE_CLOSED_S = 1.0
"""How long the pipe to a child that has ended may take to be closed."""


class ProcessHost(Host):
    """In a child process of its own.

    What crosses the pipe is JSON or MessagePack, as on the client's own road, never pickles of the
    child's: an environment gone bad can lie about its own observations and do nothing else to the
    server.
    """

    def __init__(self, name: str, plan: Plan, environ: Mapping[str, str]) -> None:
        self._name = name
        self._plan = plan
        self._environ = environ
        self._process: asyncio.subprocess.Process | None = None
        self._stderr: Stderr | None = None

    async def start(self) -> None:
        """Starts the child and waits until it has built the environment."""
        self._stderr = stderr = Stderr()
        try:
            self._process = await _start_child(stderr.child_end, self._environ)
        finally:
            await stderr.open()
        answer = await self._exchange(pickle.dumps(self._plan))
        if answer.type != "ready":
            raise EnvironmentFactoryError(self._name, answer.body.decode())

    def serve(self, request: Request) -> asyncio.Future[Reply]:
        """The reply, when the child has it."""
        return asyncio.ensure_future(self._serve(request))

    async def close(self) -> None:
        """Lets the child close its environment and end; a dead one is only collected."""
        process = self._process
        if process is not None:
            await _end(process)
        if self._stderr is not None:
            await self._stderr.close()

    def kill(self) -> bool:
        """Kills the child and all that it started."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        return True

    async def _serve(self, request: Request) -> Reply:
        reply = await self._exchange(encode_question(request))
        if reply.type == "ready" or not _is_object(reply):
            raise self._lied()
        return reply

    async def _exchange(self, question: bytes) -> Reply:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise HostCrashed("the environment's process is not running")
        try:
            process.stdin.write(len(question).to_bytes(4, "big") + question)
            await process.stdin.drain()
            kind, binary, size = HEADER.unpack(await process.stdout.readexactly(HEADER.size))
            if size > MAX_ANSWER_BYTES or kind >= len(KINDS):
                raise self._lied()
            body = await process.stdout.readexactly(size)
            return Reply(KINDS[kind], body, binary=binary)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise await self._crashed(process) from error

    def _lied(self) -> HostCrashed:
        self.kill()
        return HostCrashed(f"the process of {self._name} sent something that is no answer")

    async def _crashed(self, process: asyncio.subprocess.Process) -> HostCrashed:
        self.kill()
        code = await process.wait()
        if self._stderr is not None:
            await self._stderr.close()
        return HostCrashed(
            f"the process of {self._name} died ({_cause(code)}); reset() begins a new session",
            exit_code=code,
            stderr=self._stderr.tail if self._stderr is not None else "",
        )


class _Pipes(asyncio.subprocess.SubprocessStreamProtocol):
    """The pipes of a child. When it dies, what it has started dies too, unless that left its group.

    At once: later, the child's id may be that of another process.
    """

    _pid: int | None = None

    def connection_made(self, transport: Any) -> None:
        """The child runs."""
        super().connection_made(transport)
        self._pid = transport.get_pid()

    def process_exited(self) -> None:
        """The child has died."""
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGKILL)
        super().process_exited()


async def _start_child(stderr: int, environ: Mapping[str, str]) -> asyncio.subprocess.Process:
    loop = asyncio.get_running_loop()
    transport, pipes = await loop.subprocess_exec(
        lambda: _Pipes(limit=CHUNK_BYTES, loop=loop),
        *(sys.executable, "-m", "openenv.runtime.child"),
        stderr=stderr,
        env=dict(environ),
        start_new_session=True,
    )
    return asyncio.subprocess.Process(transport, pipes, loop)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Lets a child end: it reads the end of its input, after the call that it may be in."""
    if process.stdin is not None:
        process.stdin.close()
    unread = asyncio.ensure_future(_discard(process.stdout))
    try:
        await process.wait()
    finally:
        unread.cancel()
        await asyncio.wait([unread])
    if process.stdin is not None:  # that it broke is known, and not to be reported as forgotten
        with suppress(ConnectionError, asyncio.TimeoutError):
            await asyncio.wait_for(process.stdin.wait_closed(), PIPE_CLOSED_S)


async def _discard(pipe: asyncio.StreamReader | None) -> None:
    """Reads what nobody waits for any more: a full pipe would keep the child from its end."""
    with suppress(RuntimeError, ConnectionError):  # its start may still read it
        while pipe is not None and await pipe.read(CHUNK_BYTES):
            pass


def encode_question(request: Request) -> bytes:
    """A request as it goes to the child: its form in one byte, then its fields."""
    fields: Json = {"op": request.op, "data": request.data, "timeout_s": request.timeout_s}
    if request.binary:
        return b"m" + encode_msgpack(fields)
    return b"j" + encode(fields)


def decode_question(question: bytes) -> Request:
    """A request as it came to the child."""
    binary = question[:1] == b"m"
    fields = decode_msgpack(question[1:]) if binary else from_json(question[1:])
    return Request(**fields, binary=binary)


def _is_object(reply: Reply) -> bool:
    """Whether it says one object: an environment gone bad must not write frames of its own."""
    try:
        body = reply.body
        return isinstance(decode_msgpack(body) if reply.binary else from_json(body), dict)
    except (ValueError, SessionError):
        return False


def _cause(code: int) -> str:
    """How a process ended, by its return code."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal has no name
        return f"signal {-code}"
