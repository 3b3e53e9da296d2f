"""A server in a process of this machine, started through a keeper."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from openenv.protocol.errors import NotAvailable, NotReady, ProviderError
from openenv.providers import keeper, scratch
from openenv.providers.command import without_passwords
from openenv.providers.provider import LOG_LINES, Running
from openenv.providers.tail import Tail
from openenv.settings import server_environ

GRACE_S = 10.0
"""How long a server may take to end by itself."""
KEEPER_S = 10.0
"""How long a keeper may take beyond that."""
LEAST_S = 1.0
"""How long a server that listens may take to answer, however little of the time is left."""
LOOPBACK = "127.0.0.1"
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


class ServerProcess(Running):
    """A server in a process group of its own, which ends when this process does, however it ends.

    Args:
        name: what it is called in errors.
        host: what it listens on.
    """

    def __init__(self, name: str, host: str = LOOPBACK) -> None:
        self._name = without_passwords(name)
        self._host = host
        self._keeper: subprocess.Popen[bytes] | None = None
        self._tail: Tail | None = None
        self._scratch: Path | None = None
        super().__init__()

    @property
    def pid(self) -> int | None:
        """The process under which the server and all that it starts live."""
        return None if self._keeper is None else self._keeper.pid

    def scratch(self) -> Path:
        """A directory that is removed when the server is stopped."""
        if self._scratch is None:
            self._scratch = scratch.make()
        return self._scratch

    def start(
        self, command: Sequence[str], env_vars: Mapping[str, str], cwd: str | Path | None = None
    ) -> None:
        """Starts the server.

        Raises:
            NotAvailable: not on this system.
            ProviderError: its directory or a variable is wrong.
        """
        if os.name != "posix":
            raise NotAvailable("servers are started on Linux and macOS; use WSL or Docker here")
        try:
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", keeper.__file__, f"{GRACE_S:g}", *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=server_environ({"PYTHONUNBUFFERED": "1", **env_vars}),
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # no such directory, or no such value of a variable
            raise ProviderError(f"{self._name} could not be started: {error}") from error
        assert isinstance(self._keeper.stdout, io.BufferedReader)
        self._tail = Tail(self._keeper.stdout, address_line(self._host))

    def find_address(self, timeout_s: float) -> None:
        """Waits until the server says where it listens.

        Raises:
            NotReady: it does not in time. The text has the end of its log.
            ProviderError: it died. The text has the end of its log.
        """
        with self._telling_its_log():
            self._find_address(timeout_s)

    def _find_address(self, timeout_s: float) -> None:
        address = None if self._tail is None else self._tail.wait(timeout_s)
        if address is None:
            if why := self.problem():
                raise ProviderError(why)
            raise NotReady(f"{self._name} did not listen within {timeout_s:g} s")
        self.url = reachable(address)

    def _wait(self, timeout_s: float) -> None:
        """Its own address first: another server may answer on the port that it was given."""
        deadline = time.monotonic() + timeout_s
        self._find_address(timeout_s)
        super()._wait(max(LEAST_S, deadline - time.monotonic()))

    def problem(self) -> str | None:
        """Why the server cannot become healthy: its process has ended."""
        if self._keeper is None:
            return f"{self._name} was not started"
        if self._tail is not None and self._tail.ended:
            with suppress(subprocess.TimeoutExpired):
                self._keeper.wait(KEEPER_S)
        code = self._keeper.poll()
        return None if code is None else f"{self._name} ended with exit code {code}"

    def logs(self, lines: int = LOG_LINES) -> str:
        """The last lines of what it wrote to its standard outputs."""
        return "" if self._tail is None else self._tail.text(lines)

    def _end(self) -> None:
        try:
            if self._keeper is not None:
                self._end_keeper(self._keeper)
        finally:
            if self._scratch is not None:
                scratch.remove(self._scratch)

    def _end_keeper(self, kept: subprocess.Popen[bytes]) -> None:
        if kept.stdin is not None:
            kept.stdin.close()
        kept.terminate()  # a fork of ours may hold its input open
        try:
            kept.wait(GRACE_S + KEEPER_S)
        except subprocess.TimeoutExpired:
            kept.kill()
            kept.wait(KEEPER_S)
        if self._tail is not None:
            self._tail.join(KEEPER_S)


def address_line(host: str) -> re.Pattern[bytes]:
    """What servers say when they listen: `openenv serve`, and uvicorn.

    The environment may write such a line before them. It must not lead clients, and the token that
    they send, to another host.
    """
    shown = re.escape(bracketed(host).encode())
    said = rb"(?:^openenv: serving .* on|Uvicorn running on)"
    return re.compile(rb"%b (https?://%b:\d+)\s" % (said, shown), re.MULTILINE)


def bracketed(host: str) -> str:
    """A host as addresses have it."""
    return f"[{host}]" if ":" in host else host


def reachable(address: str) -> str:
    """An address that a client on this machine can use, of one that a server listens on."""
    parts = urlsplit(address)
    host = _ANY_ADDRESS.get(parts.hostname or "")
    return address if host is None else f"{parts.scheme}://{host}:{parts.port}"
