"""ACPHarnessAdapter: an agent that speaks the Agent Client Protocol, as coding agents do."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from typing import Any

from openenv._version import __version__
from openenv.harness.agents.acp_turn import ACPTurn
from openenv.harness.agents.config import HarnessConfig
from openenv.harness.agents.errors import HarnessError, HarnessStartupError
from openenv.harness.agents.events import HarnessEvent
from openenv.harness.agents.launched import LaunchedAdapter
from openenv.harness.agents.process import HarnessProcess

Json = dict[str, Any]

PROTOCOL_VERSION = 1
MAX_MESSAGE_BYTES = 16 << 20
"""The longest message that an agent may write: a tool's whole result may be in it."""
NO_SUCH_METHOD = -32601


class ACPHarnessAdapter(LaunchedAdapter):
    """An agent that is told by JSON-RPC on its stdin, and tells by it on its stdout what it does.

    ```python
    config = HarnessConfig(name="opencode", command=["opencode", "acp"], working_directory=None)
    adapter = ACPHarnessAdapter(config)
    ```

    A start is `initialize` and `session/new`, which gives the agent the address of the
    environment's tools; it must be able to reach MCP servers over HTTP. A turn is
    `session/prompt`. The agent reads no files and runs no commands through this side, it does that
    by itself.

    Args:
        config: how the agent is started.
        terminate_grace_s: how long it may take to end when it is asked to, before it is killed.
        permits: what it hears when it asks for permission to use a tool of its own. Nobody is
            there to be asked; where it runs is what confines it.
    """

    def __init__(
        self, config: HarnessConfig, *, terminate_grace_s: float = 5.0, permits: bool = True
    ) -> None:
        super().__init__(config, terminate_grace_s=terminate_grace_s)
        self._permits = permits
        self._directory = ""
        self._session_id = ""
        self._asked = 0

    async def start(self, working_directory: str) -> None:
        """Starts the program, and waits until it has a session."""
        self._directory = working_directory
        await super().start(working_directory)

    async def send_message_streaming(self, message: str) -> AsyncIterator[HarnessEvent]:
        """Gives the agent a message: what it does, up to its `turn_complete`."""
        prompt = [{"type": "text", "text": message}]
        asked = {"sessionId": self._session_id, "prompt": prompt}
        turn = ACPTurn()
        async for update, result in self._ask(self._running(), "session/prompt", asked):
            if result is not None:
                yield turn.complete(result)
                return
            for event in turn.events(update):
                yield event

    async def _greet(self, process: HarnessProcess) -> None:
        process.max_line_bytes = MAX_MESSAGE_BYTES
        await process.start()
        patience_s, name = self.config.startup_timeout_s, self.config.name
        try:
            await asyncio.wait_for(self._open_session(process), patience_s)
        except asyncio.TimeoutError:
            why = f"{name} opened no session within {patience_s:g} s"
            raise HarnessStartupError(why, process.drain_stderr()) from None
        except HarnessError as error:
            why = f"{name} opened no session: {error.message}"
            raise HarnessStartupError(why, process.drain_stderr(), error.quoted) from error

    async def _open_session(self, process: HarnessProcess) -> None:
        files = {"readTextFile": False, "writeTextFile": False}
        told = await self._answer(
            process,
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "clientCapabilities": {"fs": files, "terminal": False},
                "clientInfo": {"name": "openenv", "version": __version__},
            },
        )
        if told.get("protocolVersion") != PROTOCOL_VERSION:
            raise HarnessError(
                f"it speaks version {told.get('protocolVersion')} of the Agent Client Protocol, "
                f"not {PROTOCOL_VERSION}"
            )
        if self._bridge_url is not None and not _takes_http(told):
            raise HarnessError("it takes no tools over HTTP (agentCapabilities.mcpCapabilities)")
        session = await self._answer(process, "session/new", self._offer())
        if not isinstance(session.get("sessionId"), str):
            raise HarnessError("it named no session (sessionId)")
        self._session_id = session["sessionId"]

    def _offer(self) -> Json:
        """What a session begins with: where it runs, and how its tools are reached."""
        header = {"name": "Authorization", "value": f"Bearer {self.bridge_token}"}
        server = {"type": "http", "name": "openenv", "url": self._bridge_url, "headers": [header]}
        servers = [] if self._bridge_url is None else [server]
        return {"cwd": os.path.abspath(self._directory), "mcpServers": servers}

    async def _answer(self, process: HarnessProcess, method: str, params: Json) -> Json:
        async for _, result in self._ask(process, method, params):
            if result is not None:
                return result
        raise await process.ended()

    async def _ask(
        self, process: HarnessProcess, method: str, params: Json
    ) -> AsyncIterator[tuple[Json, Json | None]]:
        """What comes until a request is answered: updates, and at last the result.

        Raises:
            HarnessError: the agent refused.
            HarnessNotRunningError: it has ended.
        """
        self._asked += 1
        asked = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        await process.write_line(json.dumps(asked))
        while (line := await process.read_line()) is not None:
            said = _message(line)
            if "method" in said and "id" in said:
                await process.write_line(json.dumps(self._reply(said)))
                yield _object(_object(said.get("params")).get("toolCall")), None
            elif said.get("method") == "session/update":
                yield _object(_object(said.get("params")).get("update")), None
            elif said.get("id") == self._asked and "method" not in said:
                yield {}, self._result(method, said)
                return
        raise await process.ended()

    def _result(self, method: str, said: Json) -> Json:
        if "error" in said:
            error = _object(said["error"])
            details = f" ({json.dumps(error['data'])[:500]})" if error.get("data") else ""
            quoted = f"{error.get('message')}{details}"
            raise HarnessError(f"{self.config.name} refused {method}", quoted=quoted)
        return _object(said.get("result"))

    def _reply(self, said: Json) -> Json:
        """The answer to a request of the agent's."""
        reply: Json = {"jsonrpc": "2.0", "id": said["id"]}
        if said["method"] != "session/request_permission":
            message = f"this client has no {said['method']}"
            return {**reply, "error": {"code": NO_SUCH_METHOD, "message": message}}
        wanted = "allow" if self._permits else "reject"
        options = _object(said.get("params")).get("options")
        offered = map(_object, options if isinstance(options, list) else ())
        kinds = {str(each.get("kind")): each.get("optionId") for each in offered}
        chosen = kinds.get(f"{wanted}_once", kinds.get(f"{wanted}_always"))
        outcome: Json = {"outcome": "cancelled"}
        if chosen is not None:
            outcome = {"outcome": "selected", "optionId": chosen}
        return {**reply, "result": {"outcome": outcome}}


def _message(line: str) -> Json:
    """A message; nothing for a line that is none, which some agents let slip."""
    try:
        return _object(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _takes_http(told: Json) -> bool:
    capabilities = _object(told.get("agentCapabilities"))
    return _object(capabilities.get("mcpCapabilities")).get("http") is True
