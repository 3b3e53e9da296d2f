"""A small command line agent: a model behind OpenAI's wire, and tools behind MCP.

It is told messages by lines of JSON, asks the model of `OPENAI_BASE_URL` what to do, and calls the
tools of `OPENENV_MCP_URL` with the official MCP SDK until the model has nothing more to call.
"""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from typing import Any

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from openai import AsyncOpenAI

MOST_CALLS = 20


def say(**said: Any) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


async def tools_of(stack: AsyncExitStack) -> tuple[ClientSession | None, list[dict[str, Any]]]:
    url = os.environ.get("OPENENV_MCP_URL")
    if url is None:
        return None, []
    headers = {"Authorization": f"Bearer {os.environ['OPENENV_MCP_TOKEN']}"}
    http = await stack.enter_async_context(create_mcp_http_client(headers=headers))
    streams = await stack.enter_async_context(streamable_http_client(url, http_client=http))
    session = await stack.enter_async_context(ClientSession(streams[0], streams[1]))
    await session.initialize()
    listed = await session.list_tools()
    return session, [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description or "",
                "parameters": tool.model_dump(by_alias=True)["inputSchema"],
            },
        }
        for tool in listed.tools
    ]


class Agent:
    def __init__(self, session: ClientSession | None, tools: list[dict[str, Any]]) -> None:
        self.model = AsyncOpenAI(max_retries=0)
        self.session = session
        self.tools = tools
        self.messages: list[dict[str, Any]] = []

    async def answer(self, message: str) -> str:
        self.messages.append({"role": "user", "content": message})
        for _ in range(MOST_CALLS):
            say(type="llm_request", data={"messages": len(self.messages)})
            said = await self.ask()
            self.messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                say(type="llm_chunk", data={"content": said.content or ""})
                return said.content or ""
            for call in said.tool_calls:
                await self.call(call)
        return "I give up"

    async def ask(self) -> Any:
        create: Any = self.model.chat.completions.create
        tools = {"tools": self.tools} if self.tools else {}
        model = os.environ.get("OPENENV_MODEL", "test-model")
        completion = await create(model=model, messages=self.messages, **tools)
        return completion.choices[0].message

    async def call(self, call: Any) -> None:
        assert self.session is not None
        result = await self.session.call_tool(
            call.function.name, json.loads(call.function.arguments)
        )
        text = "\n".join(getattr(block, "text", "") for block in result.content)
        self.messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


async def main() -> None:
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with AsyncExitStack() as stack:
        agent = Agent(*await tools_of(stack))
        say(type="ready")
        while line := await lines.readline():
            told = json.loads(line)
            response = await agent.answer(told["content"])
            done = {"response": response, "done": response.endswith("bye")}
            say(type="turn_complete", turn=told["turn"], data=done)


if __name__ == "__main__":
    asyncio.run(main())
