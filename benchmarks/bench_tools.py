"""The tool every contestant calls, and its server: ``bench_tools.py KIND PORT SESSIONS``.

`fastmcp` is the same environment over a FastMCP server for either package, which serves it under
the interpreter that has it; `decorated` is our own `@tool`, without FastMCP.
"""

import sys
from typing import Any

from openenv.core.env_server import Environment, Observation, State

HOST = "127.0.0.1"


class Beginning(Environment[Any, Observation, State]):
    """What both have: episodes that do nothing but begin."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> Observation:
        return Observation()

    def step(self, action: Any, timeout_s: float | None = None, **kwargs: Any) -> Observation:
        return Observation()

    @property
    def state(self) -> State:
        return State()


def fastmcp() -> type[Any]:
    """The tool of a FastMCP server."""
    from fastmcp import FastMCP

    from openenv.core.env_server.mcp_environment import MCPEnvironment

    class OverFastMCP(MCPEnvironment):  # type: ignore[misc,unused-ignore]
        SUPPORTS_CONCURRENT_SESSIONS = True
        REQUIRES_RESET = False
        reset = Beginning.reset
        state = Beginning.state

        def __init__(self) -> None:
            server = FastMCP("bench")

            @server.tool
            def add(a: int, b: int) -> int:
                """Adds."""
                return a + b

            super().__init__(server)

        def _step_impl(self, action: Any, timeout_s: float | None = None, **kwargs: Any) -> Any:
            return Observation()

    return OverFastMCP


def decorated() -> type[Any]:
    """The tool of a decorated method."""
    from openenv import tool

    class Decorated(Beginning):
        HOST = "inline"

        @tool
        def add(self, a: int, b: int) -> int:
            """Adds."""
            return a + b

    return Decorated


def main(kind: str, port: int, sessions: int) -> None:
    """Serves, as the package that is installed does, until the process is told to stop."""
    from openenv.core.env_server import CallToolAction, CallToolObservation, create_app

    made = {"fastmcp": fastmcp, "decorated": decorated}[kind]()
    app = create_app(
        made, CallToolAction, CallToolObservation, env_name=kind, max_concurrent_envs=sessions
    )
    try:
        from openenv.server.run import serve_app
    except ImportError:
        import uvicorn

        uvicorn.run(app, host=HOST, port=port, log_level="warning")
    else:
        serve_app(app, host=HOST, port=port)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
