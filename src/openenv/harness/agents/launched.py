"""LaunchedAdapter: an agent that is a program, whichever way it is talked with."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from openenv.harness.agents.adapter import AgenticHarnessAdapter
from openenv.harness.agents.config import HarnessConfig
from openenv.harness.agents.errors import HarnessNotRunningError, HarnessStartupError
from openenv.harness.agents.process import HarnessProcess
from openenv.settings import named

if TYPE_CHECKING:
    from openenv.env.tool_models import Tool

URL_VARIABLE, TOKEN_VARIABLE = "OPENENV_MCP_URL", "OPENENV_MCP_TOKEN"
MODEL_VARIABLE = "OPENENV_MODEL"
SERVERS, OURS = "mcpServers", "openenv"
MAX_CONFIG_BYTES = 64 << 10
"""No file of ours is longer."""


class LaunchedAdapter(AgenticHarnessAdapter):
    """An agent that is a program: started, given its variables and its tools, ended.

    It finds the environment's tools by `OPENENV_MCP_URL` and `OPENENV_MCP_TOKEN`, or in the file
    that `config.mcp_config_path` names; its model by `OPENENV_MODEL`. A subclass says in `_greet`
    when it is ready, and writes `send_message_streaming`.

    Args:
        config: how the agent is started.
        terminate_grace_s: how long it may take to end when it is asked to, before it is killed.
    """

    def __init__(self, config: HarnessConfig, *, terminate_grace_s: float = 5.0) -> None:
        super().__init__(config)
        self._grace_s = terminate_grace_s
        self._process: HarnessProcess | None = None
        self._bridge_url: str | None = None
        self._config_file: Path | None = None

    async def inject_tools(self, tools: list[Tool], bridge_url: str | None = None) -> None:
        """Keeps the address for the agent's start; it lists the tools itself."""
        self._bridge_url = bridge_url

    async def start(self, working_directory: str) -> None:
        """Starts the program, and waits until it is ready; nothing is left of one that is not."""
        if await self.is_alive():
            return
        self._write_config(working_directory)
        self._process = process = HarnessProcess(
            self.config.command,
            working_directory,
            self._variables(),
            self.config.startup_timeout_s,
            self._grace_s,
            secrets=[each for each in (*self._key().values(), self.bridge_token) if each],
        )
        try:
            await self._greet(process)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Ends the program and all that it started."""
        process, self._process = self._process, None
        config_file, self._config_file = self._config_file, None
        try:
            if process is not None:
                await process.stop()
        finally:
            if config_file is not None:
                with suppress(OSError):
                    config_file.unlink()

    async def is_alive(self) -> bool:
        """Whether the program runs."""
        return self._process is not None and self._process.is_running()

    @abstractmethod
    async def _greet(self, process: HarnessProcess) -> None:
        """Starts a process and waits until the agent in it is ready.

        Raises:
            HarnessStartupError: it is not in time.
        """

    def _running(self) -> HarnessProcess:
        if self._process is None:
            raise HarnessNotRunningError(f"{self.config.name} is not running")
        return self._process

    def _variables(self) -> dict[str, str]:
        config = self.config
        given = {MODEL_VARIABLE: config.model} | self._access() | self._key()
        return {name: value for name, value in given.items() if value is not None} | config.env_vars

    def _access(self) -> dict[str, str | None]:
        return {URL_VARIABLE: self._bridge_url, TOKEN_VARIABLE: self.bridge_token}

    def _key(self) -> dict[str, str | None]:
        """The one credential of this process that the agent gets."""
        name = self.config.api_key_env_var
        return {} if name is None else {name: named(name)}

    def _write_config(self, working_directory: str) -> None:
        wanted = self.config.mcp_config_path
        if wanted is None or self._bridge_url is None:
            return
        server = {
            "type": "http",
            "url": self._bridge_url,
            "headers": {"Authorization": f"Bearer {self.bridge_token}"},
        }
        path = Path(working_directory, wanted)
        try:
            if os.path.lexists(path) and not _is_ours(path):
                raise HarnessStartupError(
                    f"mcp_config_path {wanted!r} names a file that is there already, which would "
                    "be lost; name another, or None and give the agent OPENENV_MCP_URL and "
                    "OPENENV_MCP_TOKEN in the file that it reads"
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump({SERVERS: {OURS: server}}, file, indent=2)
        except OSError as error:
            raise HarnessStartupError(f"mcp_config_path can't be written: {error}") from error
        self._config_file = path


def _is_ours(path: Path) -> bool:
    """Whether a file is one that an earlier start has left: it names our tools, and no others.

    Raises:
        OSError: it can't be read.
    """
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        content = file.read(MAX_CONFIG_BYTES)
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return False
    servers = said.get(SERVERS) if isinstance(said, dict) and len(said) == 1 else None
    return isinstance(servers, dict) and list(servers) == [OURS]
