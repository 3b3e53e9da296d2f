"""MCPServerHarnessAdapter: an agent that is itself an MCP server, with a tool to talk to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from openenv._version import __version__
from openenv.harness.agents.config import HarnessConfig
from openenv.harness.agents.errors import HarnessError, HarnessStartupError
from openenv.harness.agents.events import HarnessEvent, HarnessEventType
from openenv.harness.agents.launched import LaunchedAdapter
from openenv.harness.agents.process import HarnessProcess
from openenv.harness.agents.stdio import read_object

Json = dict[str, Any]
REVISION = "2025-06-18"
"""The revision of MCP that is spoken; agents may answer with another."""
NO_SUCH_METHOD = -32601


class MCPServerHarnessAdapter(LaunchedAdapter):
    """An agent that is an MCP server on its stdin and stdout: a message is a call of a tool.

    Progress that it reports with a text is an `llm_chunk`, what it logs a `text_output`. The text
    of the tool's result is the response; `"done": true` in its structured content ends the
    episode.

    Args:
        config: how the agent is started.
        tool: the tool that takes a message.
        argument: the tool's argument that is the message.
        terminate_grace_s: how long it may take to end when it is asked to, before it is killed.
    """

    def __init__(
        self,
        config: HarnessConfig,
        tool: str = "chat",
        argument: str = "message",
        *,
        terminate_grace_s: float = 5.0,
    ) -> None:
        super().__init__(config, terminate_grace_s=terminate_grace_s)
        self._tool = tool
        self._argument = argument
        self._asked = 0

    async def send_message_streaming(self, message: str) -> AsyncIterator[HarnessEvent]:
        """Gives the agent a message: what it does, up to its `turn_complete`."""
        process = self._running()
        number = self._asked + 1
        params = {
            "name": self._tool,
            "arguments": {self._argument: message},
            "_meta": {"progressToken": number},
        }
        await self._ask(process, "tools/call", params)
        while not _answers(said := await self._heard(process), number):
            if (event := _event(said, number)) is not None:
                yield event
        yield self._complete(self._result(said))

    async def _greet(self, process: HarnessProcess) -> None:
        self._asked = 0
        await process.start()
        try:
            await asyncio.wait_for(self._shake_hands(process), self.config.startup_timeout_s)
        except asyncio.TimeoutError:
            raise HarnessStartupError(
                f"{self.config.name} did not answer within {self.config.startup_timeout_s:g} s",
                process.drain_stderr(),
            ) from None
        except HarnessError as error:
            raise HarnessStartupError(error.message, error.stderr, error.quoted) from error

    async def _shake_hands(self, process: HarnessProcess) -> None:
        ours = {"name": "openenv", "version": __version__}
        await self._answered(
            process,
            "initialize",
            {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": ours},
        )
        await _write(process, {"method": "notifications/initialized"})
        listed = await self._answered(process, "tools/list", {})
        names = [each.get("name") for each in listed.get("tools", [])]
        if self._tool not in names:
            raise HarnessError(
                f"{self.config.name} has no tool {self._tool!r}", quoted=f"it has {names}"
            )

    async def _answered(self, process: HarnessProcess, method: str, params: Json) -> Json:
        number = await self._ask(process, method, params)
        while not _answers(said := await self._heard(process), number):
            pass
        return self._result(said)

    async def _ask(self, process: HarnessProcess, method: str, params: Json) -> int:
        self._asked += 1
        await _write(process, {"id": self._asked, "method": method, "params": params})
        return self._asked

    async def _heard(self, process: HarnessProcess) -> Json:
        """The next thing that it says; what it asks of us is answered here."""
        while (line := await process.read_line()) is not None:
            said = read_object(line)
            if "method" not in said or "id" not in said:
                return said
            if said["method"] == "ping":
                await _write(process, {"id": said["id"], "result": {}})
            else:
                refused = {"code": NO_SUCH_METHOD, "message": "Method not found"}
                await _write(process, {"id": said["id"], "error": refused})
        raise await process.ended()

    def _result(self, said: Json) -> Json:
        if "error" in said:
            why = f"{self.config.name} answered with an error"
            raise HarnessError(why, quoted=str(said["error"]))
        result = said.get("result")
        if not isinstance(result, dict):
            raise HarnessError(f"{self.config.name} answered with no result")
        return result

    def _complete(self, result: Json) -> HarnessEvent:
        content = result.get("content")
        blocks = content if isinstance(content, list) else []
        text = "\n".join(str(b["text"]) for b in blocks if isinstance(b, dict) and "text" in b)
        if result.get("isError"):
            raise HarnessError(f"{self.config.name} failed", quoted=text)
        structured = result.get("structuredContent")
        is_done = isinstance(structured, dict) and structured.get("done") is True
        said = {"response": text, "done": is_done}
        return HarnessEvent(type=HarnessEventType.TURN_COMPLETE, data=said)


async def _write(process: HarnessProcess, message: Json) -> None:
    await process.write_line(json.dumps({"jsonrpc": "2.0", **message}))


def _answers(said: Json, number: int) -> bool:
    return "method" not in said and said.get("id") == number


def _event(said: Json, number: int) -> HarnessEvent | None:
    """What a notification tells of the running turn, if anything."""
    params = said.get("params")
    if not isinstance(params, dict):
        return None
    if said.get("method") == "notifications/message":
        data = {"text": params.get("data"), "level": params.get("level")}
        return HarnessEvent(type=HarnessEventType.TEXT_OUTPUT, data=data)
    is_ours = params.get("progressToken") == number
    if said.get("method") == "notifications/progress" and is_ours and params.get("message"):
        return HarnessEvent(type=HarnessEventType.LLM_CHUNK, data={"content": params["message"]})
    return None
