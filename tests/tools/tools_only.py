"""Environments that have tools and nothing else."""

from __future__ import annotations

from typing import Any, Literal

from openenv import Environment, Observation, State, ToolFailure, tool
from openenv.core import MCPEnvironment
from openenv.env.tool_models import CallToolAction, CallToolObservation

PRICES = {"tea": 3.0, "cake": 4.5}


class Shop(Environment):
    """Buy what is on the list.

    Pay as little as you can.
    """

    def reset(self, seed: int | None = None) -> Any:
        self.basket: list[str] = []
        return Observation(metadata={"list": ["tea", "cake"]})

    @tool
    def price(self, item: str) -> float:
        """What an item costs.

        Args:
            item: as the catalogue calls it.
        """
        if item not in PRICES:
            raise ToolFailure(f"there is no {item}")
        return PRICES[item]

    @tool
    def buy(self, item: Literal["tea", "cake"], amount: int = 1) -> list[str]:
        """Puts an item into the basket."""
        self.basket += [item] * amount
        return self.basket

    @tool
    def check_out(self) -> Observation:
        """Pays, and ends the episode."""
        paid = sum(PRICES[item] for item in self.basket)
        return Observation(done=True, reward=-paid, metadata={"paid": paid})


class Board(Observation):
    """What a game begins with."""

    cells: list[int] = [0, 0, 0]


class Game(Environment):
    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Board:
        return Board()

    @tool
    def look(self) -> str:
        """Looks."""
        return "a board"


class DeclaredGame(Environment[CallToolAction, Board, State]):
    def reset(self, **options: Any) -> Board:
        return Board()

    @tool
    def look(self) -> str:
        """Looks."""
        return "a board"


class AwaitedGame(Environment):
    async def reset_async(self, **options: Any) -> Board:
        return Board()

    @tool
    async def look(self) -> str:
        """Looks."""
        return "a board"


class Unannotated(Game):
    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Any:
        return Board()


class Dated(Environment):
    """A tool's arguments that nobody can make up, beside one that has none."""

    def reset(self, **options: Any) -> Observation:
        return Observation()

    @tool
    def find(self, code: Any) -> str:
        """Finds."""
        return str(code)

    @tool
    def spin(self) -> CallToolObservation:
        """Spins."""
        return CallToolObservation(tool_name="spin", result=1, reward=1.0)


class Repeats(Environment):
    """Says what it has said before: a tool that breaks a promise."""

    said = 0

    def reset(self, **options: Any) -> Observation:
        return Observation()

    @tool
    def say(self) -> int:
        """Says a number."""
        Repeats.said += 1
        return Repeats.said


class OverMcp(MCPEnvironment):
    """Its tools are a FastMCP server's."""

    def __init__(self) -> None:
        from fastmcp import FastMCP

        server = FastMCP("over-mcp")

        @server.tool
        def look() -> str:
            """Looks."""
            return "a board"

        super().__init__(server)

    def reset(self, **options: Any) -> Board:
        return Board()

    def _step_impl(self, action: Any, *args: Any, **options: Any) -> Observation:
        raise NotImplementedError


class Misspelt(Environment):
    """A tool that never gives a result."""

    def reset(self, **options: Any) -> Observation:
        return Observation()

    @tool
    def look(self) -> Any:
        """Looks."""
        return self.borad  # type: ignore[attr-defined]
