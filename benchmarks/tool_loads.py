"""Clients that call a tool as fast as they are answered: ``tool_loads.py KIND PORT PID N SECONDS``.

Runs under the interpreter of the package whose client it measures (`http` needs none) and prints a
line of JSON: the time of each call, and what the run cost here and in the server's processes.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from measure import cpu_seconds

HOST = "127.0.0.1"
WARM_UP = 20
Call = Callable[[], Awaitable[Any]]


@asynccontextmanager
async def client(url: str, **options: Any) -> AsyncIterator[Call]:
    """The package's own client."""
    from openenv.core.mcp_client import MCPToolClient

    async with MCPToolClient(base_url=url, **options) as connected:
        yield lambda: connected.call_tool("add", a=2, b=3)


@asynccontextmanager
async def http(url: str) -> AsyncIterator[Call]:
    """Plain requests on one connection, read by their length."""
    reader, writer = await asyncio.open_connection(HOST, int(url.rpartition(":")[2]))

    async def ask(method: str, **params: Any) -> Any:
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        body = json.dumps(asked).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(answer.partition(b"content-length:")[2].partition(b"\r\n")[0])
        return json.loads(await reader.readexactly(length))

    created = await ask("openenv/session/create")
    session = created["result"]["session_id"]

    async def call() -> Any:
        told = await ask("tools/call", name="add", arguments={"a": 2, "b": 3}, session_id=session)
        return told["result"]["data"]

    try:
        yield call
    finally:
        await ask("openenv/session/close", session_id=session)
        writer.close()


KINDS: dict[str, Callable[[str], Any]] = {
    "client": client,
    "trainer": lambda url: client(url, mode="simulation"),
    "http": http,
}


async def repeat(call: Call, until: float, latencies: list[float]) -> None:
    """One session's calls, one after another."""
    last = time.perf_counter()
    while last < until:
        assert await call() == 5
        now = time.perf_counter()
        latencies.append(now - last)
        last = now


async def run(kind: str, port: int, pid: int, sessions: int, seconds: float) -> dict[str, Any]:
    """All sessions at once."""
    latencies: list[float] = []
    async with AsyncExitStack() as stack:
        url = f"http://{HOST}:{port}"
        calls = [await stack.enter_async_context(KINDS[kind](url)) for _ in range(sessions)]
        for call in calls:
            for _ in range(WARM_UP):
                await call()
        served, here, began = cpu_seconds(pid), time.process_time(), time.perf_counter()
        until = began + seconds
        await asyncio.gather(*(repeat(call, until, latencies) for call in calls))
        return {
            "latencies": latencies,
            "wall_s": time.perf_counter() - began,
            "client_cpu_s": time.process_time() - here,
            "server_cpu_s": cpu_seconds(pid) - served,
        }


if __name__ == "__main__":
    kind, *numbers = sys.argv[1:]
    port, pid, sessions = (int(number) for number in numbers[:3])
    print(json.dumps(asyncio.run(run(kind, port, pid, sessions, float(numbers[3])))))
