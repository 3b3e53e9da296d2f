"""ProcessHost: an environment in a process of its own, which can crash or be killed alone."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import struct
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress

from openenv.env.spec import EnvSpec
from openenv.protocol.errors import ConfigurationError, EnvironmentFactoryError, HostCrashed, Json
from openenv.protocol.messages import Reply, Request
from openenv.protocol.values import encode
from openenv.runtime.host import Host

HEADER = struct.Struct("!BI")
"""Each answer of the child: its kind, the size of its body."""
KINDS = ("ready", "observation", "state", "error")
MAX_ANSWER_BYTES = 1 << 28
STDERR_TAIL_BYTES = 4096
LAST_WORDS_S = 1.0


class ProcessHost(Host):
    """In a child process of its own.

    What crosses the pipe is JSON, never pickles of the child's: an environment gone bad can lie
    about its own observations and do nothing else to the server.
    """

    def __init__(self, name: str, plan: bytes, environ: Mapping[str, str]) -> None:
        self._name = name
        self._plan = plan
        self._environ = environ
        self._process: asyncio.subprocess.Process | None = None
        self._stderr: deque[bytes] = deque(maxlen=64)
        self._forwarding: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Starts the child and waits until it has built the environment."""
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "openenv.runtime.child",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(self._environ),
            start_new_session=True,
        )
        self._forwarding = asyncio.ensure_future(self._forward_stderr(process))
        kind, body = await self._exchange(self._plan)
        if kind != "ready":
            raise EnvironmentFactoryError(self._name, body.decode())

    def serve(self, request: Request) -> asyncio.Future[Reply]:
        """The reply, when the child has it."""
        return asyncio.ensure_future(self._serve(request))

    async def close(self) -> None:
        """Lets the child close its environment and end; a dead one is only collected."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()
        await self._bury(process)

    def kill(self) -> None:
        """Kills the child and all that it started."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _serve(self, request: Request) -> Reply:
        question: Json = {"op": request.op, "data": request.data, "timeout_s": request.timeout_s}
        kind, body = await self._exchange(encode(question))
        return Reply(kind, body)

    async def _exchange(self, question: bytes) -> tuple[str, bytes]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise HostCrashed("the environment's process is not running")
        try:
            process.stdin.write(len(question).to_bytes(4, "big") + question)
            await process.stdin.drain()
            kind, size = HEADER.unpack(await process.stdout.readexactly(HEADER.size))
            if size > MAX_ANSWER_BYTES or kind >= len(KINDS):
                self.kill()
                raise HostCrashed("the environment's process sent something that is no answer")
            return KINDS[kind], await process.stdout.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise await self._crashed(process) from error

    async def _crashed(self, process: asyncio.subprocess.Process) -> HostCrashed:
        self.kill()
        code = await process.wait()
        await self._bury(process)
        tail = b"".join(self._stderr)[-STDERR_TAIL_BYTES:].decode(errors="replace")
        return HostCrashed(
            f"the process of {self._name} died ({_cause(code)}); reset() begins a new session",
            exit_code=code,
            stderr=tail,
        )

    async def _bury(self, process: asyncio.subprocess.Process) -> None:
        """Ends what a dead child has left running, and reads the last of what it said.

        A process that left the child's group lives on; it may keep the pipe open, not us.
        """
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if self._forwarding is not None:
            await asyncio.wait([self._forwarding], timeout=LAST_WORDS_S)
            self._forwarding.cancel()
        transport: asyncio.SubprocessTransport = process._transport  # type: ignore[attr-defined]
        transport.close()

    async def _forward_stderr(self, process: asyncio.subprocess.Process) -> None:
        """Shows what the environment prints, and remembers the end of it."""
        if process.stderr is None:
            return
        while chunk := await process.stderr.read(8192):
            self._stderr.append(chunk)
            with suppress(OSError, ValueError):  # our own stderr may be closed
                sys.stderr.write(chunk.decode(errors="replace"))


def _cause(code: int) -> str:
    """How a process ended, by its return code."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal has no name
        return f"signal {-code}"


def plan(spec: EnvSpec, *, tracebacks: bool) -> bytes:
    """All that the child needs to build the environment, for `openenv.runtime.child`.

    Raises:
        ConfigurationError: a new process cannot import the environment.
    """
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    try:
        parts = pickle.dumps((spec.make, spec.action, spec.observation, spec.state))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ConfigurationError(
            f"a process host needs an environment that a new process can import; {spec.name} "
            f"cannot be: {error}. Define it at the top level of a module, or use a thread host"
        ) from error
    path = [entry or os.getcwd() for entry in sys.path]
    return pickle.dumps((path, main, spec.name, tracebacks, parts))
