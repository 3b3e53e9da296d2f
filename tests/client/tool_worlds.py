"""An environment with tools of every manner, and servers that do not do all that ours does."""

import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from openenv import Action, Environment, Observation, State, create_app, tool
from openenv.client.tools import MCPToolClient
from tests.serving import Served, serving_app

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]


class Buy(Action):
    item: str = ""


class Bought(Observation):
    item: str = ""


class Basket(State):
    items: int = 0


class Shop(Environment[Buy, Bought, Basket]):
    """Sells by steps and by tools; its state counts both."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False

    def __init__(self) -> None:
        super().__init__()
        self._state = Basket()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> Bought:
        self._state = Basket(episode_id=episode_id)
        return Bought(item="open", reward=0.0)

    def step(self, action: Buy) -> Bought:
        self._state.step_count += 1
        self._state.items += 1
        return Bought(item=action.item, reward=1.0)

    @property
    def state(self) -> Basket:
        return self._state

    @tool
    def buy(self) -> int:
        """Puts one more into the basket."""
        self._state.items += 1
        return self._state.items

    @tool
    def checkout(self) -> Bought:
        """Ends the episode."""
        return Bought(item="all", reward=2.5, done=True)

    @tool
    def undescribed(self, amount: int = 1) -> int:
        return amount

    @tool
    def anything(self, /, **arguments: Any) -> dict[str, Any]:
        """Gives back what it is given."""
        return arguments

    @tool
    def gives(self, what: str) -> Any:
        """Gives something of a kind."""
        return {"none": None, "text": "text", "list": [1, "two"], "number": 0.5, "false": False}[
            what
        ]

    @tool
    def fails(self) -> None:
        """Never works."""
        raise ValueError("no luck today")

    @tool
    def sleeps(self, seconds: float) -> str:
        """Takes its time."""
        time.sleep(seconds)
        return "rested"


class ShopClient(MCPToolClient[Buy, Bought, Basket]):
    """Of the shop, for steps and tools."""


class Bare(Environment[Buy, Bought, Basket]):
    """Has no tools."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed: int | None = None, **kwargs: Any) -> Bought:
        return Bought()

    def step(self, action: Buy) -> Bought:
        return Bought(item=action.item)


class Changing(Environment[Buy, Bought, Basket]):
    """Lists its tools itself: another with every listing, and needs a reset."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._listed = 0

    def reset(self, seed: int | None = None, **kwargs: Any) -> Bought:
        return Bought()

    def step(self, action: Buy) -> Bought:
        return Bought(item=action.item)

    def list_tools(self) -> list[Any]:
        from openenv import Tool

        self._listed += 1
        schema = {"type": "object"}
        return [
            Tool(name=f"tool_{number}", description="", input_schema=schema)
            for number in range(self._listed)
        ]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
        return name


class Recording:
    """Writes down where connections are made."""

    def __init__(self, app: App, paths: list[str]) -> None:
        self._app = app
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] in ("http", "websocket"):
            self._paths.append(scope["path"])
        await self._app(scope, receive, send)


class Deaf:
    """Ignores what a connection to `/ws` asks for, as older servers do."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            scope = {**scope, "query_string": b"", "subprotocols": []}
        await self._app(scope, receive, send)


@contextmanager
def shops(
    paths: list[str] | None = None, *, deaf: bool = False, **options: Any
) -> Iterator[Served]:
    """A server of shops; the paths of its connections are added to a list."""
    app = create_app(Shop, **options)
    if paths is not None:
        app.add_middleware(Recording, paths=paths)
    if deaf:
        app.add_middleware(Deaf)
    with serving_app(app) as served:
        yield served
