"""MCPEnvironment: an environment whose tools are those of a FastMCP server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from openenv.env.code_mode import CodeMode
from openenv.env.environment import ActT, Environment, HostKind, ObsT, StateT
from openenv.env.models import Observation
from openenv.env.own_loop import OwnLoop
from openenv.env.own_threads import OwnThreads
from openenv.env.tool_content import rendered
from openenv.env.tool_functions import tool_functions
from openenv.env.tool_models import (
    CallToolAction,
    CallToolObservation,
    ListToolsAction,
    ListToolsObservation,
    Tool,
    ToolError,
    ToolErrorType,
)
from openenv.env.toolbox import Toolbox
from openenv.env.tools import MODES, FunctionTool, Mark, ToolContext, ToolMode, check_name
from openenv.env.transforms import Transform
from openenv.protocol.errors import ConfigurationError, InvalidRequest
from openenv.protocol.extras import needs

if TYPE_CHECKING:
    from openenv.env.fastmcp_tools import FastMCPTools

MCP_TOOL_CALL_TIMEOUT = 30.0
"""Seconds that a call may take which was given no time; in a session its limits say."""
VALID_MODES = frozenset(MODES)

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


class MCPEnvironment(Environment[ActT, ObsT, StateT]):
    """An environment with a FastMCP server's tools, and with those of `tool` and `@tool`.

    A subclass writes `reset`, and `_step_impl` if it knows other actions than `ListToolsAction`
    and `CallToolAction`. One that overrides `step` sees each call of a tool go through it.

    The server runs on a thread of this environment's own, with one session from the first call
    to `close`; what blocks there keeps nobody else waiting.

    Args:
        mcp_server: a `fastmcp.FastMCP`, version 2.14 or later.
        transform: as of any environment.

    Attributes:
        mcp_server: the server; `None` once closed.
        mcp_client: a client of it, for `mcp_session`; `None` once closed.

    Raises:
        ConfigurationError: a tool has a name that no tool may have. It is a `ValueError`.
        MissingPackage: fastmcp is not installed.
    """

    HOST: ClassVar[HostKind | None] = "thread"

    _step_is_of_tools = True
    _mode: ToolMode | None = None  # a session says

    def __init__(self, mcp_server: Any, transform: Transform[ObsT] | None = None) -> None:
        super().__init__(transform=transform)
        with needs("openenv-core[mcp]"):
            from fastmcp import Client
        for name in get_server_tools(mcp_server):
            check_name(name)
        self.mcp_server: Any = mcp_server
        self.mcp_client: Any = Client(mcp_server)
        self._of_modes: dict[tuple[str, str], tuple[FunctionTool, Callable[..., Any]]] = {}
        self._loop = OwnLoop(f"openenv-{type(self).__name__}")
        self._threads = OwnThreads()
        self._code = CodeMode()
        self._served: FastMCPTools | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Sees whether calls of tools are to go through a step of the subclass's own."""
        super().__init_subclass__(**kwargs)
        own = cls.__mro__[: cls.__mro__.index(MCPEnvironment)]
        cls.STEPS_TOOL_CALLS = any(
            name in vars(each) for each in own for name in ("step", "step_async")
        )
        if _own_step_is_blocking(cls):
            cls.step_async = Environment.step_async  # type: ignore[method-assign]
        with suppress(ImportError):  # by now, for the processes that will be forked from this one
            import_module("openenv.env.fastmcp_tools")

    def tool(self, mode: str | None = None) -> Callable[[FunctionT], FunctionT]:
        """Offers a function to the agent; used as `@self.tool()`.

        Args:
            mode: `"production"` or `"simulation"`: it shows in that mode only, in the place of
                the server's tool of its name, if there is one. By default it is registered with
                the FastMCP server, and shows in both.

        Raises:
            ConfigurationError: the mode or the name is none, or it is the second tool of that
                name in that mode. It is a `ValueError`.
        """
        if mode is not None and mode not in VALID_MODES:
            raise ConfigurationError(
                f"mode must be one of {', '.join(MODES)}, or None; got {mode!r}"
            )

        def register(function: FunctionT) -> FunctionT:
            name = function.__name__
            check_name(name)
            if mode is None:
                self._open_server().tool(function)
            elif (name, mode) in self._of_modes:
                raise ConfigurationError(f"there are two tools called {name!r} in {mode} mode")
            else:
                described = FunctionTool(function, Mark(name, None, None, None), name, 0)
                self._of_modes[name, mode] = described, function
            return function

        return register

    def step(self, action: Any, timeout_s: float | None = None, **kwargs: Any) -> Any:
        """Lists the tools, calls one, or takes another action by `_step_impl`.

        Args:
            action: what to do.
            timeout_s: seconds that the call of a tool may take; 30 by default.
            **kwargs: for `_step_impl`.

        Returns:
            `ListToolsObservation`, `CallToolObservation`, or what `_step_impl` gives.
        """
        if isinstance(action, ListToolsAction):
            return self._handle_list_tools()
        if isinstance(action, CallToolAction):
            return self._handle_call_tool(action, timeout_s)
        return self._step_impl(action, timeout_s=timeout_s, **kwargs)

    async def step_async(self, action: Any, timeout_s: float | None = None, **kwargs: Any) -> Any:
        """`step` where it is awaited. A subclass that has only a `step` is no async one."""
        if isinstance(action, ListToolsAction):
            return await self._async_handle_list_tools()
        if isinstance(action, CallToolAction):
            return await self._async_handle_call_tool(action, timeout_s)
        return self._step_impl(action, timeout_s=timeout_s, **kwargs)

    def _step_impl(self, action: Any, timeout_s: float | None = None, **kwargs: Any) -> ObsT:
        """Takes an action that is no call of a tool. Override it to know any."""
        raise InvalidRequest(
            f"{type(self).__name__} takes no action but calls of its tools: "
            "CallToolAction(tool_name=..., arguments={...})"
        )

    async def list_tools(self) -> list[Tool]:
        """The tools that show in this mode."""
        served = await self._async_list_tools()
        own = {tool.name: tool.description for tool, _ in self._shown().values()}
        return [*(each for each in served if each.name not in own), *own.values()]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: ToolContext | None = None
    ) -> Any:
        """Calls a tool.

        Args:
            name: which.
            arguments: by name.
            context: takes reports of its progress, on the caller's event loop.

        Returns:
            What a function of `tool(mode)` returned; of the server's tools an observation with
            their result.

        Raises:
            ToolFailure: it gives no result, and says why.
            Exception: the tool has raised it.
        """
        relayed = _relayed(context or ToolContext())
        own = self._shown().get(name)
        if own is None:
            call = self._server_tools().call(name, arguments, relayed)
            return CallToolObservation(tool_name=name, result=await self._loop.awaited(call))
        described, function = own
        bound = described.bind(SimpleNamespace(**{name: function}), arguments, relayed)
        if described.is_async:
            return await self._loop.awaited(bound())
        return await self._threads(bound)

    @property
    def supports_code_mode(self) -> bool:
        """Whether `execute_code` works."""
        return True

    def get_callables(self) -> dict[str, Callable[..., Any]]:
        """The tools' own functions, by name; another server's tools as functions that call it."""
        served = get_server_tools(self._open_server())
        functions: dict[str, Callable[..., Any]] = {
            name: tool.fn for name, tool in served.items() if callable(getattr(tool, "fn", None))
        }
        functions |= {name: function for name, (_, function) in self._shown().items()}
        far = served.keys() - functions.keys()
        called = tool_functions(self, self._mode or "simulation") if far else {}
        return functions | {name: called[name] for name in far & called.keys()}

    def execute_code(self, code: str) -> Observation:
        """Runs an agent's Python in a sandbox, where the tools are functions by their names.

        The tools run here, their arguments validated as ever. Each piece of code begins with no
        variables.

        Args:
            code: whole statements.

        Returns:
            An observation with reward 0.0. Its metadata has `result`, the value of the variable
            of that name, else of the last expression; or `error`. And `stdout` and `stderr`.
        """
        return self._code.run(code, tool_functions(self, self._mode or "simulation"))

    @asynccontextmanager
    async def mcp_session(self) -> AsyncIterator[Any]:
        """The client of the server, connected; may be nested.

        Raises:
            RuntimeError: the environment is closed.
        """
        self._open_server()
        async with self.mcp_client as client:
            yield client

    def close(self) -> None:
        """Ends the server's session. A subclass that overrides it calls `super().close()`."""
        self._loop.close(None if self._served is None else self._served.close)
        self._served = self.mcp_server = self.mcp_client = None
        self._code.close()

    def _handle_list_tools(self) -> ListToolsObservation:
        return self._loop.run(self._async_handle_list_tools())

    def _handle_call_tool(
        self, action: CallToolAction, timeout_s: float | None = None
    ) -> CallToolObservation:
        return self._loop.run(self._async_handle_call_tool(action, timeout_s))

    async def _async_handle_list_tools(self) -> ListToolsObservation:
        try:
            listed = Toolbox(self, self._mode or "simulation").list_tools()
            return ListToolsObservation(tools=listed if isinstance(listed, list) else await listed)
        except Exception as error:
            if self._mode is not None:  # the session knows what may be told
                raise
            told = {"error": str(error), "error_type": "list_tools_failed"}
            return ListToolsObservation(metadata=told)

    async def _async_handle_call_tool(
        self, action: CallToolAction, timeout_s: float | None = None
    ) -> CallToolObservation:
        limit = timeout_s or (MCP_TOOL_CALL_TIMEOUT if self._mode is None else None)
        box = Toolbox(self, self._mode or "simulation", self._threads)
        called = box.call_tool(action.tool_name, action.arguments)
        if isinstance(called, CallToolObservation):
            return called
        try:
            return await asyncio.wait_for(called, limit)
        except asyncio.TimeoutError:
            message = f"tool {action.tool_name!r} timed out after {limit:g} s"
            error = ToolError(error_type=ToolErrorType.TIMEOUT, message=message)
            return CallToolObservation(tool_name=action.tool_name, error=error)

    async def _async_list_tools(self) -> list[Tool]:
        return await self._loop.awaited(self._server_tools().list())

    async def _async_call_tool(self, tool_name: str, arguments: dict[str, Any]) -> Any:
        value = await self.call_tool(tool_name, arguments)
        return value.result if isinstance(value, CallToolObservation) else rendered(value)

    def _open_server(self) -> Any:
        if self.mcp_server is None:
            raise RuntimeError(f"{type(self).__name__} is closed")
        return self.mcp_server

    def _server_tools(self) -> FastMCPTools:
        if self._served is None:
            from openenv.env.fastmcp_tools import FastMCPTools

            self._served = FastMCPTools(self._open_server())
        return self._served

    def _shown(self) -> dict[str, tuple[FunctionTool, Callable[..., Any]]]:
        """The tools of this mode alone, by name."""
        return {name: own for (name, mode), own in self._of_modes.items() if mode == self._mode}


def get_server_tools(mcp_server: Any) -> dict[str, Any]:
    """A FastMCP server's own objects of its tools, by name.

    Args:
        mcp_server: a `fastmcp.FastMCP`.

    Raises:
        TimeoutError: they are another server's, which has not told them within 30 s.
    """
    from openenv.env.fastmcp_tools import server_tools

    loop = OwnLoop("openenv-tools")
    try:
        return loop.run(server_tools(mcp_server), MCP_TOOL_CALL_TIMEOUT)
    finally:
        loop.close()


def _own_step_is_blocking(made: type[MCPEnvironment[Any, Any, Any]]) -> bool:
    """Whether a subclass has its own `step`, and no `step_async` beside or below it."""
    for each in made.__mro__:
        if each is MCPEnvironment or "step_async" in vars(each):
            return False
        if "step" in vars(each):
            return True
    return False


def _relayed(context: ToolContext) -> ToolContext:
    """A context that reports on this event loop, whichever thread it is told on."""
    loop = asyncio.get_running_loop()

    def relay(told: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(partial(context.report_progress, **told))

    return ToolContext(relay)
