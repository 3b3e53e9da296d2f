"""A small environment of tools, over a FastMCP server, under this package and under the peer."""

from typing import Any

from fastmcp import FastMCP

from openenv.core.env_server import Action, Observation, State
from openenv.core.env_server.mcp_environment import MCPEnvironment


class Basket(State):
    items: int = 0


class Toolshop(MCPEnvironment):
    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # of the peer's environments none does

    def __init__(self) -> None:
        server = FastMCP("toolshop")
        self._basket = Basket()

        @server.tool
        def buy(count: int = 1) -> int:
            """Puts some into the basket."""
            self._basket.items += count
            return self._basket.items

        @server.tool
        def undescribed(word: str) -> str:
            return word

        @server.tool
        def fails() -> str:
            """Never works."""
            raise ValueError("no luck today")

        super().__init__(server)

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> Observation:
        self._basket = Basket(episode_id=episode_id)
        return Observation(reward=0.0, metadata={"status": "open"})

    def _step_impl(self, action: Action, timeout_s: float | None = None, **kwargs: Any) -> Any:
        return Observation(metadata={"error": f"no such action: {type(action).__name__}"})

    @property
    def state(self) -> Basket:
        return self._basket
