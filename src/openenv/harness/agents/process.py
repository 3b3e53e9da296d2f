"""HarnessProcess: an agent as a process that is talked with by lines, and that can be ended."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from asyncio import StreamReader, StreamReaderProtocol, StreamWriter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from openenv.harness.agents.errors import (
    HarnessError,
    HarnessNotRunningError,
    HarnessStartupError,
    HarnessTurnTimeoutError,
)
from openenv.harness.agents.tree import ProcessTree
from openenv.providers import keeper
from openenv.settings import server_environ

MAX_LINE_BYTES = 1 << 20
"""The longest line that an agent may write, unless its process has another limit."""
STDERR_BYTES = 8192
"""How much of the end of its stderr is kept."""
HIDDEN = "***"
"""What stands for a secret in what it wrote."""
KEEPER_S = 10.0
"""How long its keeper may take beyond the grace, to end all that the agent has started."""
KILL_S = 2.0
"""How long it is looked for what its keeper has left."""
LOOK_S = 0.01
TREE_LOOK_S = 0.5
"""How often it is looked for what it has started."""
LAST_WORDS_S = 1.0
"""How long the last of its stderr may take to arrive, once it is dead."""


class HarnessProcess:
    """A program in a process group of its own, under a keeper that ends all that it starts.

    It ends when this process does, however that ends. Its stderr is read as it comes, and only
    the end is kept. What it writes to its stdout waits until it is read.

    Args:
        command: the program and its arguments.
        cwd: where it runs.
        env_vars: variables on top of this process's, of which it gets none that looks like a
            credential.
        startup_timeout_s: how long it may take until it is ready, in seconds.
        terminate_grace_s: how long it may take to end when it is asked to, before it is killed.
        secrets: what is not shown of its stderr.

    Attributes:
        max_line_bytes: the longest line that it may write; to be set before it is started.
    """

    def __init__(
        self,
        command: Sequence[str],
        cwd: str,
        env_vars: Mapping[str, str] | None = None,
        startup_timeout_s: float = 30.0,
        terminate_grace_s: float = 5.0,
        *,
        secrets: Collection[str] = (),
    ) -> None:
        self._command = list(command)
        self._cwd = cwd
        self._env_vars = dict(env_vars or {})
        self._startup_timeout_s = startup_timeout_s
        self._grace_s = terminate_grace_s
        self.max_line_bytes = MAX_LINE_BYTES
        self._secrets = secrets
        self._opening: asyncio.Task[None] | None = None
        self._kept: subprocess.Popen[bytes] | None = None
        self._tree = ProcessTree()
        self._looking: asyncio.TimerHandle | None = None
        self._stderr = _Tail()
        self._stdout: StreamReader | None = None
        self._stdin: StreamWriter | None = None
        self._transports: list[asyncio.BaseTransport] = []

    @property
    def exit_code(self) -> int | None:
        """How it ended; 128 and the number of the signal that ended it; `None` until then."""
        return None if self._kept is None else self._kept.poll()

    def is_running(self) -> bool:
        """Whether it runs."""
        return self._kept is not None and self._kept.poll() is None

    def drain_stderr(self) -> str:
        """The end of what it wrote to its stderr, without secrets."""
        text = self._stderr.text()
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text

    async def start(self, ready_check: Callable[[str], bool] | None = None) -> None:
        """Starts it. Nothing if it runs; whatever goes wrong, nothing is left of it.

        Args:
            ready_check: says of each line that it writes whether it is ready then; it is at once
                without one.

        Raises:
            HarnessStartupError: it could not be started, or was not ready in time.
        """
        if self.is_running():
            return
        try:
            self._opening = asyncio.ensure_future(self._open())
            await asyncio.shield(self._opening)  # half a connection would leave stray descriptors
            if ready_check is not None:
                await asyncio.wait_for(self._until(ready_check), self._startup_timeout_s)
        except BaseException as error:
            await self.stop()
            raise self._not_started(error) from error

    async def read_line(self, timeout_s: float | None = None) -> str | None:
        """The next line that it writes, without its end; `None` when there will be no more.

        Raises:
            HarnessTurnTimeoutError: none came in time.
            HarnessError: it is longer than a line may be.
            HarnessNotRunningError: it was not started.
        """
        if self._stdout is None:
            raise HarnessNotRunningError(f"{self._name} was not started")
        try:
            line = await asyncio.wait_for(self._stdout.readuntil(b"\n"), timeout_s)
        except asyncio.IncompleteReadError as end:
            line = end.partial
            if not line:
                return None
        except asyncio.LimitOverrunError:
            raise HarnessError(
                f"{self._name} wrote a line of more than {self.max_line_bytes} bytes, which is "
                "the most that is read (max_line_bytes)"
            ) from None
        except asyncio.TimeoutError:
            raise HarnessTurnTimeoutError(
                f"{self._name} wrote no line within {timeout_s or 0:g} s"
            ) from None
        return line.decode(errors="replace").rstrip("\r\n")

    async def drop(self) -> bool:
        """Reads some of what it writes, and forgets it: a full pipe would hold it up.

        Returns:
            whether there was any; `False` when there will be no more.
        """
        return self._stdout is not None and bool(await self._stdout.read(self.max_line_bytes))

    async def write_line(self, text: str) -> None:
        """Writes a line to it, and waits until there is room for more.

        Raises:
            HarnessNotRunningError: it has ended, or was not started.
        """
        if self._stdin is None:
            raise HarnessNotRunningError(f"{self._name} was not started")
        self._tree.look()
        try:
            self._stdin.write(f"{text}\n".encode())
            await self._stdin.drain()
        except OSError:
            raise await self.ended() from None

    async def ended(self) -> HarnessNotRunningError:
        """The error that tells how it ended, for one who has seen it end."""
        await self._wait(LAST_WORDS_S)
        await self._stderr.wait(LAST_WORDS_S)
        code = self.exit_code
        how = "has closed its input or output" if code is None else f"ended with exit code {code}"
        return HarnessNotRunningError(f"{self._name} {how}", self.drain_stderr())

    async def stop(self) -> None:
        """Asks it to end, and kills it after the grace, with all that it has started."""
        if self._opening is not None:
            await asyncio.wait([self._opening])
        kept = self._kept
        if kept is None:
            return
        try:
            self._let_go_of(kept)
            await self._wait(self._grace_s + KEEPER_S)
            await self._kill_the_rest()
            await self._stderr.wait(LAST_WORDS_S)
        finally:  # its keeper ends it also if nobody waits for that
            self._stop_looking()
            for transport in self._transports:
                transport.close()
            self._transports.clear()

    @property
    def _name(self) -> str:
        return os.path.basename(self._command[0]) or self._command[0]

    async def _open(self) -> None:
        reads, writes = os.pipe()
        try:
            self._kept = kept = self._spawn(reads)
        except BaseException:
            os.close(writes)
            raise
        finally:
            os.close(reads)
        self._tree.add(kept.pid)
        self._look()
        self._stderr = _Tail()
        self._stdout = StreamReader(limit=self.max_line_bytes)
        await self._connect(lambda: self._stderr, kept.stderr)
        stdout = self._stdout
        await self._connect(lambda: StreamReaderProtocol(stdout), kept.stdout)
        loop = asyncio.get_running_loop()
        protocol = StreamReaderProtocol(StreamReader())
        transport, _ = await loop.connect_write_pipe(lambda: protocol, os.fdopen(writes, "wb", 0))
        self._transports.append(transport)
        self._stdin = StreamWriter(transport, protocol, None, loop)

    def _spawn(self, reads: int) -> subprocess.Popen[bytes]:
        if os.name != "posix":
            raise HarnessError("agents are started on Linux and macOS; use WSL or Docker here")
        program = [sys.executable, "-I", "-S", keeper.__file__, f"{self._grace_s:g},{reads}"]
        return subprocess.Popen(
            [*program, *self._command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=self._cwd,
            env=server_environ(self._env_vars | self._tree.marks),
            pass_fds=(reads,),
            start_new_session=True,
        )

    async def _connect(self, protocol: Callable[[], asyncio.BaseProtocol], pipe: Any) -> None:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(protocol, pipe)
        self._transports.append(transport)

    async def _until(self, ready_check: Callable[[str], bool]) -> None:
        while (line := await self.read_line()) is not None:
            if ready_check(line):
                return
        raise await self.ended()

    def _not_started(self, error: BaseException) -> BaseException:
        if isinstance(error, asyncio.TimeoutError):
            why = f"was not ready within {self._startup_timeout_s:g} s"
        elif isinstance(error, HarnessError):
            why = f"did not start: {error.message}"
        elif isinstance(error, OSError | ValueError):  # no such directory, a NUL in a variable
            why = f"could not be started: {error}"
        else:
            return error
        return HarnessStartupError(f"{self._name} {why}", self.drain_stderr())

    def _let_go_of(self, kept: subprocess.Popen[bytes]) -> None:
        """Its keeper sees its own input end, or the signal: a fork of ours may hold that open."""
        if self._stdin is not None:
            self._stdin.close()
        if kept.stdin is not None:
            with suppress(OSError):
                kept.stdin.close()
        self._tree.look()
        with suppress(ProcessLookupError):
            kept.terminate()
            kept.send_signal(signal.SIGCONT)  # the agent may have stopped it

    def _look(self) -> None:
        """Takes note of what it has started, while its keeper is there to tell whose it is."""
        if not self.is_running():
            self._tree.kill()  # nothing, unless it has killed its keeper
            return
        self._tree.look()
        self._looking = asyncio.get_running_loop().call_later(TREE_LOOK_S, self._look)

    def _stop_looking(self) -> None:
        if self._looking is not None:
            self._looking.cancel()

    async def _kill_the_rest(self) -> None:
        """The agent may have killed its keeper, or hold it up."""
        self._stop_looking()
        deadline = time.monotonic() + KILL_S
        while await asyncio.to_thread(self._tree.kill):
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(LOOK_S)
        self.is_running()  # so that a keeper which was killed here is collected

    async def _wait(self, within_s: float) -> None:
        deadline = time.monotonic() + within_s
        while self.is_running() and time.monotonic() < deadline:  # noqa: ASYNC110  # loops can't say
            await asyncio.sleep(LOOK_S)


class _Tail(asyncio.Protocol):
    """The end of what comes through a pipe."""

    def __init__(self) -> None:
        self._kept = b""
        self._over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        kept = self._kept + data
        if len(kept) > STDERR_BYTES:  # from the beginning of a line, or half a secret might be left
            kept = kept[-STDERR_BYTES:].partition(b"\n")[2] or kept[-STDERR_BYTES:]
        self._kept = kept

    def connection_lost(self, exc: Exception | None) -> None:
        self._over.set()

    def text(self) -> str:
        return self._kept.decode(errors="replace").strip()

    async def wait(self, within_s: float) -> None:
        """Waits until it is all read."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._over.wait(), within_s)
