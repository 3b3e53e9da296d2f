"""An agent of the Agent Client Protocol, by its own SDK, that reaches its tools by MCP's.

Its prompts are orders: `add 2 40`, `ask`, `stray`, `read`, `refuse`, `die`, `hang`. Its arguments
say what is wrong with it: `--old`, `--no-http`, `--silent`.
"""

import asyncio
import os
import sys
from typing import Any

import acp
from acp import schema


class Agent:
    def __init__(self) -> None:
        self._client: Any = None
        self._server: Any = None

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        if "--silent" in sys.argv:
            await asyncio.Event().wait()
        takes = schema.McpCapabilities(http="--no-http" not in sys.argv)
        return schema.InitializeResponse(
            protocol_version=0 if "--old" in sys.argv else protocol_version,
            agent_capabilities=schema.AgentCapabilities(mcp_capabilities=takes),
        )

    async def new_session(self, cwd: str, **offered: Any) -> schema.NewSessionResponse:
        assert os.path.samefile(cwd, os.getcwd())
        self._server = next(iter(offered.get("mcp_servers") or ()), None)
        return schema.NewSessionResponse(session_id="s1")

    async def prompt(self, session_id: str, prompt: Any, **_: Any) -> schema.PromptResponse:
        order, *words = prompt[0].text.split()
        await self._tell(session_id, acp.update_agent_thought_text("well"))
        await self._tell(session_id, acp.update_agent_message_text(f"I {order}."))
        await getattr(self, f"_{order}")(session_id, *words)
        return schema.PromptResponse(stop_reason="end_turn")

    async def _tell(self, session_id: str, update: Any) -> None:
        await self._client.session_update(session_id=session_id, update=update)

    async def _add(self, session_id: str, *words: str) -> None:
        numbers = {"a": int(words[0]), "b": int(words[1])}
        await self._tell(session_id, acp.start_tool_call("c1", "add", status="pending"))
        begun = acp.update_tool_call("c1", status="in_progress", raw_input=numbers)
        await self._tell(session_id, begun)
        from mcp import ClientSession  # not by those that need none: it takes a while
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        headers = {header.name: header.value for header in self._server.headers}
        async with (
            create_mcp_http_client(headers=headers) as http,
            streamable_http_client(self._server.url, http_client=http) as streams,
            ClientSession(*streams[:2]) as session,
        ):
            await session.initialize()
            result: Any = await session.call_tool("add", numbers)
        text = result.content[0].text
        said = [acp.tool_content(acp.text_block(text))]
        await self._tell(session_id, acp.update_tool_call("c1", status="completed", content=said))
        for piece in ("It is ", text):
            await self._tell(session_id, acp.update_agent_message_text(piece))

    async def _ask(self, session_id: str) -> None:
        options = [
            schema.PermissionOption(option_id="ever", name="Ever", kind="allow_always"),
            schema.PermissionOption(option_id="never", name="Never", kind="reject_always"),
            schema.PermissionOption(option_id="no", name="No", kind="reject_once"),
            schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
        ]
        call = acp.update_tool_call("c2", title="rm", raw_input={"path": "x"})
        answer = await self._client.request_permission(
            session_id=session_id,
            tool_call=schema.ToolCallUpdate(**call.model_dump(exclude={"session_update"})),
            options=options,
        )
        status: Any = "completed" if answer.outcome.option_id == "yes" else "failed"
        await self._tell(session_id, acp.update_tool_call("c2", status=status))
        await self._tell(session_id, acp.update_agent_message_text(answer.outcome.option_id))

    async def _read(self, session_id: str) -> None:
        try:
            await self._client.read_text_file(session_id=session_id, path="/etc/hostname")
        except acp.RequestError as error:
            await self._tell(session_id, acp.update_agent_message_text(f" {error.code}"))

    async def _stray(self, session_id: str) -> None:
        for line in ("not JSON", "[1]", "17", "[" * 10_000, '{"jsonrpc": "2.0", "id": 1}'):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    async def _refuse(self, session_id: str) -> None:
        raise acp.RequestError(-32000, "no credit left", {"plan": "free"})

    async def _die(self, session_id: str) -> None:
        sys.stderr.write("my last words\n")
        os._exit(7)

    async def _hang(self, session_id: str) -> None:
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Agent()))  # type: ignore[arg-type]  # it has what is needed
