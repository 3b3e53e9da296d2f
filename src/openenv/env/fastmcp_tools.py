"""The tools of a FastMCP server, of any of its versions since 2.14."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any
from uuid import uuid4

from anyio import BrokenResourceError, ClosedResourceError
from fastmcp import Client
from fastmcp.exceptions import NotFoundError
from fastmcp.exceptions import ToolError as FastMCPToolError
from fastmcp.server.middleware import Middleware
from pydantic import ValidationError

from openenv.env.tool_models import Tool, ToolErrorType
from openenv.env.tools import ToolContext, ToolFailure
from openenv.protocol.saying import faults_of, in_full, text_of

CALL = "openenv/call"
"""Where a call's metadata has its number."""
CLOSED = -32000
"""The code of the error that a session has ended."""
FAREWELL_S = 1.0
PROTOCOL = "io.modelcontextprotocol/"
"""How the protocol's own entries of metadata begin."""
ARGUMENTS = "call["
"""How pydantic's errors begin that are of a tool's arguments, and not of its body."""


class FastMCPTools:
    """Lists and calls a server's tools, through a session in this process.

    To be used on one event loop. Mounted servers and proxies of others are tools like any.

    Args:
        server: a `fastmcp.FastMCP`.
    """

    def __init__(self, server: Any) -> None:
        self._server = server
        self._witness = Witness.of(server)
        self._client: Any = Client(server)
        self._connecting = asyncio.Lock()

    async def list(self) -> list[Tool]:
        """What the agent is told of each."""
        client = await self._connected()
        return [
            Tool(
                name=told.name,
                description=told.description or "",
                input_schema=input_schema(told),
            )
            for told in await client.list_tools()
        ]

    async def call(
        self, name: str, arguments: dict[str, Any], context: ToolContext
    ) -> dict[str, Any]:
        """A tool's result, as it is on the wire.

        Args:
            name: which.
            arguments: by name.
            context: takes reports of its progress.

        Raises:
            ToolFailure: there is no such tool, the arguments do not fit, the server is out of
                reach, or the tool has raised FastMCP's own `ToolError`.
            Exception: the tool has raised it.
        """
        client = await self._connected()
        number = uuid4().hex

        async def report(progress: float, total: float | None, message: str | None) -> None:
            context.report_progress(progress, total, message)

        fault: Exception | None = None
        try:
            result = await client.call_tool(
                name,
                arguments,
                raise_on_error=False,
                progress_handler=report,
                meta={CALL: number},
            )
        except Exception as error:  # noqa: BLE001  # told below
            fault = error
        finally:
            raised = self._witness.take(number)
        if fault is not None and _is_broken(fault):
            await self._begin_anew(client)
        if raised is not None:
            raise _as_failure(name, raised[0], is_far=raised[1])
        if fault is not None:
            raise _unreachable(name, fault) if _is_broken(fault) else fault
        if result.is_error:
            raise ToolFailure("\n".join(_texts(result)) or f"tool {name!r} failed")
        return as_result(result)

    async def close(self) -> None:
        """Ends the session."""
        await self._client.close()

    async def _begin_anew(self, broken: Any) -> None:
        """Leaves a session that has broken, unless another call has; the next one has another."""
        if self._client is not broken:
            return
        self._client = Client(self._server)
        await asyncio.wait([asyncio.ensure_future(_closed(broken))], timeout=FAREWELL_S)

    async def _connected(self) -> Any:
        async with self._connecting:
            if not self._client.is_connected():
                try:
                    await self._client.__aenter__()
                except Exception as error:
                    raise ToolFailure(
                        f"the tools' server did not start: {type(error).__name__}",
                        ToolErrorType.TRANSPORT_ERROR,
                    ) from error
        return self._client


class Witness(Middleware):
    """Keeps what a tool has raised, of which a client is told no more than a text.

    A server has one, however many environments have the server.
    """

    def __init__(self) -> None:
        self._raised: dict[str, tuple[BaseException, bool]] = {}

    @classmethod
    def of(cls, server: Any) -> Witness:
        """The one that a server has."""
        for each in server.middleware:
            if isinstance(each, cls):
                return each
        made = cls()
        server.add_middleware(made)
        return made

    def take(self, number: str) -> tuple[BaseException, bool] | None:
        """What was raised in the call of that number, and whether another server's tool did."""
        return self._raised.pop(number, None)

    async def on_call_tool(self, context: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Has the tool called; what would end the server instead of the call is an error, too."""
        try:
            return await call_next(context)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
                raise
            number = _number(context)
            if number is not None:
                self._raised[number] = error, await _is_far(context)
            if isinstance(error, Exception):
                raise
            raise FastMCPToolError(f"the tool raised {type(error).__name__}") from error


def _is_being_cancelled() -> bool:
    """Whether somebody wants this task to end, or the tool has only raised as if."""
    task: Any = asyncio.current_task()
    return not hasattr(task, "cancelling") or task.cancelling() > 0


def _is_broken(error: Exception) -> bool:
    """Whether a session cannot be gone on with after this."""
    code = getattr(getattr(error, "error", error), "code", None)
    return isinstance(error, BrokenResourceError | ClosedResourceError) or code == CLOSED


async def _closed(client: Any) -> None:
    with suppress(Exception):
        await client.close()


def as_result(result: Any) -> dict[str, Any]:
    """A FastMCP result as a plain dict. `data` is the value, a text where the tool names no type.

    Args:
        result: a `CallToolResult` of fastmcp's client.
    """
    structured = result.structured_content
    wrapped = isinstance(structured, dict) and structured.keys() == {"result"}
    value = structured["result"] if wrapped else structured
    if structured is None:
        value = "\n".join(_texts(result)) if [*_texts(result)] else None
    return {
        "content": [
            block.model_dump(mode="json", by_alias=True, exclude_none=True)
            for block in result.content
        ],
        "structured_content": structured,
        "meta": _own_meta(result.meta),
        "data": value,
        "is_error": result.is_error,
    }


def input_schema(told: Any) -> dict[str, Any]:
    """The schema of a tool's arguments, in the terms of any version."""
    schema = getattr(told, "input_schema", None) or getattr(told, "inputSchema", None)
    return dict(schema or {"type": "object", "properties": {}})


async def server_tools(server: Any) -> dict[str, Any]:
    """A server's own objects of its tools, by name."""
    if hasattr(server, "list_tools"):
        return {each.name: each for each in await server.list_tools()}
    return dict(await server.get_tools())


def _own_meta(meta: dict[str, Any] | None) -> dict[str, Any] | None:
    """What the tool's server says of a result, without what it says of our session with it."""
    told = {key: value for key, value in (meta or {}).items() if not key.startswith(PROTOCOL)}
    return told or None


def _texts(result: Any) -> Iterator[str]:
    return (block.text for block in result.content if block.type == "text")


def _number(context: Any) -> str | None:
    try:
        meta = context.fastmcp_context.request_context.meta
    except (AttributeError, ValueError, RuntimeError):  # a call outside of any session
        return None
    told = meta if isinstance(meta, dict) else getattr(meta, "model_extra", None)
    number = (told or {}).get(CALL)
    return number if isinstance(number, str) else None


async def _is_far(context: Any) -> bool:
    """Whether the tool is another server's."""
    try:
        found = await context.fastmcp_context.fastmcp.get_tool(context.message.name)
    except NotFoundError:
        return False
    except Exception:  # noqa: BLE001  # that server is out of reach
        return True
    return any(each.__name__ == "ProxyTool" for each in type(found).__mro__)


def _as_failure(name: str, error: BaseException, *, is_far: bool) -> Exception:
    """What a call raises."""
    misfit = next((e for e in (error, error.__cause__) if _is_misfit(e)), None)
    if isinstance(misfit, ValidationError):
        why = f"invalid arguments for tool {name!r}: {faults_of(misfit, 'arguments')}"
        return ToolFailure(why, ToolErrorType.INVALID_ARGS)
    if isinstance(error, NotFoundError):
        return ToolFailure(f"unknown tool {name!r}", ToolErrorType.TOOL_NOT_FOUND)
    cause = _cause(error)
    if is_far and (cause is not None or not isinstance(error, FastMCPToolError)):
        return _unreachable(name, cause or error)
    if isinstance(error, FastMCPToolError) and cause is None:
        return ToolFailure(text_of(error))
    raised = cause or error
    if isinstance(raised, Exception):
        return raised
    return RuntimeError(in_full(raised))


def _unreachable(name: str, error: BaseException) -> ToolFailure:
    return ToolFailure(
        f"the server of tool {name!r} is out of reach ({type(error).__name__})",
        ToolErrorType.TRANSPORT_ERROR,
    )


def _is_misfit(error: BaseException | None) -> bool:
    return isinstance(error, ValidationError) and error.title.startswith(ARGUMENTS)


def _cause(error: BaseException) -> BaseException | None:
    """What the tool itself has raised, from which FastMCP has made an error of its own."""
    cause = error.__cause__ if isinstance(error, FastMCPToolError) else None
    if cause is not None and type(cause).__module__.startswith("fastmcp.tools"):
        return cause.__cause__ or cause
    return cause
