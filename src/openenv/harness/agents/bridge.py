"""HarnessMCPBridge: an environment's tools as an MCP server that only its agent can reach."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from openenv.env.environment import Environment, HostKind
from openenv.env.models import Observation
from openenv.env.spec import EnvSpec
from openenv.env.tool_models import CallToolAction, CallToolObservation, Tool
from openenv.env.tools import ToolContext
from openenv.harness.agents.errors import HarnessStartupError
from openenv.harness.agents.offered import OfferedTools
from openenv.protocol.errors import InvalidRequest
from openenv.protocol.wire import ServerMode
from openenv.runtime.limits import Limits
from openenv.server.app import create_app
from openenv.server.run import Server, listen, server_for
from openenv.settings import server_settings

LOOK_S = 0.005


class HarnessMCPBridge:
    """Serves tools to one agent over MCP (Streamable HTTP), on a free port of this machine.

    It is a server as any of ours, in a thread of its own and in production mode: what can be
    reached is the tools, and nothing that controls the episode.

    Args:
        mcp_server: the tools: a `fastmcp.FastMCP`, or whatever `build_bridge_server` gives.
        host: what it listens on.
        token: what its callers must show; a new random one by default.
        tool_timeout_s: the longest that a call of a tool may run, in seconds, unless the tool
            says otherwise, and an hour at most; `OPENENV_TOOL_TIMEOUT_S`, else 30, by default.

    Attributes:
        token: see above.
    """

    def __init__(
        self,
        mcp_server: Any,
        host: str = "127.0.0.1",
        *,
        token: str | None = None,
        tool_timeout_s: float | None = None,
    ) -> None:
        self._mcp_server = mcp_server
        self._tools: OfferedTools | None = None
        self._host = host
        self._limits = _limits(tool_timeout_s)
        self._server: Server | None = None
        self._thread: threading.Thread | None = None
        self._url: str | None = None
        self._moving = threading.Lock()
        self.token = token or secrets.token_urlsafe(32)

    @property
    def url(self) -> str | None:
        """Where an MCP client reaches it, with the token; `None` while it does not run."""
        return self._url

    def start(self, timeout_s: float = 10.0) -> str:
        """Serves, and gives the address. Nothing if it does so already.

        Args:
            timeout_s: how long that may take.

        Raises:
            HarnessStartupError: it does not serve in time.
        """
        with self._moving:
            if self._url is None:
                self._url = self._serve(timeout_s)
            return self._url

    def stop(self, timeout_s: float = 5.0) -> None:
        """Serves no more; twice does no harm.

        Args:
            timeout_s: how long that is waited for.
        """
        with self._moving:
            self._stop(timeout_s)

    def _serve(self, timeout_s: float) -> str:
        given = self._mcp_server
        is_ready = isinstance(given, OfferedTools)
        self._tools = given if is_ready else build_bridge_server(given, {})
        app = create_app(
            _spec_of(self._tools),
            env_name="environment",
            mode=ServerMode.PRODUCTION,
            limits=self._limits,
            host_kind="inline",
            token=self.token,
            variables={},  # they are about the server of the environment, not about its agent's
        )
        listening = listen(self._host, 0)
        self._server = server = server_for(app, listening, quiet=True)
        self._thread = thread = threading.Thread(
            target=server.run, args=([listening],), name="openenv-bridge", daemon=True
        )
        thread.start()
        if not _comes(lambda: server.started or not thread.is_alive(), timeout_s):
            self._stop(timeout_s)
            raise HarnessStartupError(f"the bridge did not serve within {timeout_s:g} s")
        return f"http://{self._host}:{listening.getsockname()[1]}/mcp"

    def _stop(self, timeout_s: float) -> None:
        server, thread = self._server, self._thread
        self._server = self._thread = self._url = None
        if server is not None and thread is not None:
            server.should_exit = server.force_exit = True
            thread.join(timeout_s)
        tools, self._tools = self._tools, None
        if tools is not None:
            tools.close()


def build_bridge_server(mcp_server: Any, renames: Mapping[str, str]) -> OfferedTools:
    """What a bridge serves.

    Args:
        mcp_server: a `fastmcp.FastMCP`, or an object with tools: an `Environment`, or anything
            that has `list_tools()` and `call_tool(name, arguments)`.
        renames: the names that the agent is to know, by the tools' own; the others stay.
    """
    source = tools_in(mcp_server)
    if source is mcp_server:
        return OfferedTools(source, renames)
    return OfferedTools(source, renames, farewell=source.close)


def tools_in(mcp_server: Any) -> Any:
    """An object whose tools a toolbox can list and call, of that or of a FastMCP server."""
    if not any(each.__name__ == "FastMCP" for each in type(mcp_server).__mro__):
        return mcp_server
    from openenv.env.mcp_environment import MCPEnvironment

    class Server(MCPEnvironment[CallToolAction, CallToolObservation]):
        """The tools of a FastMCP server."""

        def reset(self, *args: Any, **kwargs: Any) -> CallToolObservation:
            raise InvalidRequest("there is nothing here but tools")

        def _step_impl(self, *args: Any, **kwargs: Any) -> CallToolObservation:
            raise InvalidRequest("there is nothing here but tools")

    return Server(mcp_server)


class _Offering(Environment[CallToolAction, CallToolObservation]):
    """One MCP session of the agent."""

    HOST: ClassVar[HostKind | None] = "inline"
    REQUIRES_RESET: ClassVar[bool] = False

    def __init__(self, tools: OfferedTools) -> None:
        super().__init__()
        self._tools = tools

    def reset(self, *args: Any, **kwargs: Any) -> Any:
        """Nothing: it is not the agent's to begin an episode."""
        return Observation()

    def step(self, *args: Any, **kwargs: Any) -> Any:
        """There are tools, and nothing else."""
        raise InvalidRequest("call a tool")

    async def list_tools(self) -> list[Tool]:
        """What the agent is told of each."""
        return await self._tools.list_tools()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: ToolContext | None = None
    ) -> CallToolObservation:
        """Calls one."""
        return await self._tools.call_tool(name, arguments, context)


def _spec_of(tools: OfferedTools) -> EnvSpec:
    """What a server is told of them, how long each may run included."""
    spec = EnvSpec.of(partial(_Offering, tools))
    return replace(spec, traits=replace(spec.traits, tool_timeouts=tools.timeouts))


def _limits(tool_timeout_s: float | None) -> Limits:
    """An agent's session lasts as long as its bridge: a trainer may be busy between turns."""
    timeout_s = server_settings().limits.tool_timeout if tool_timeout_s is None else tool_timeout_s
    return Limits(tool_timeout=timeout_s, unattached_timeout=None, drain_grace=0.0, close_grace=1.0)


def _comes(holds: Any, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_S)
    return True
