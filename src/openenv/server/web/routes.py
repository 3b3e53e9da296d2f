"""`/web/metadata|state|reset|step` and `/ws/ui`: one shared episode, for custom pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, model_validator
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from openenv.env.metadata import EnvironmentMetadata
from openenv.env.serialization import prepared_action
from openenv.protocol.errors import EnvironmentFailed, Json
from openenv.protocol.wire import ResetRequest, StepResponse
from openenv.server.authority import may_control
from openenv.server.calls import parsed, refuse_episode
from openenv.server.guard import refuse_control
from openenv.server.http import require_control
from openenv.server.readme import metadata_of
from openenv.server.web.options import Served, WebOptions
from openenv.server.web.seated import seated_episode
from openenv.server.web.shared_episode import SharedEpisode

if TYPE_CHECKING:
    from openenv.server.web.manager import WebInterfaceManager


def add_routes(app: FastAPI, served: Served, options: WebOptions) -> None:
    """Adds what custom pages call, and the author's own Gradio page if there is a builder.

    Args:
        app: the application.
        served: what is served.
        options: what the author says of the page.

    Raises:
        MissingPackage: there is a builder, and Gradio is not installed.
        TypeError: the builder gave no `gradio.Blocks`.
    """
    if options.builder is None:
        episode = seated_episode(served.sessions, served.calls)
    else:
        episode = _managed(app, served, options).episode
    checks: list[Callable[..., Any]] = [require_control]
    checks += [] if served.alone else [refuse_episode]
    app.include_router(_SharedRoutes(episode).router([Depends(check) for check in checks]))
    app.get("/web/metadata", tags=["Web interface"], response_model=EnvironmentMetadata)(
        served.card.read
    )
    app.router.routes.append(WebSocketRoute("/ws/ui", _watching(episode)))


def _managed(app: FastAPI, served: Served, options: WebOptions) -> WebInterfaceManager:
    """What the author's page plays with; the page is there when this returns."""
    from openenv.server.web.custom_page import add_custom_page
    from openenv.server.web.manager import WebInterfaceManager

    manager = WebInterfaceManager(
        served.spec,
        metadata=metadata_of(served.spec, served.env_name),
        sessions=served.sessions,
        calls=served.calls,
    )
    add_custom_page(app, manager, served.spec, options)
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: Any) -> AsyncIterator[Any]:
        async with inner(running) as state:
            manager.begin()
            try:
                yield state
            finally:
                await manager.close(served.sessions.limits.close_grace)

    app.router.lifespan_context = lifespan
    return manager


class WebStepRequest(BaseModel):
    """The body of `/web/step`: an action, or a message that is one."""

    action: Json

    @model_validator(mode="before")
    @classmethod
    def _said(cls, body: Any) -> Any:
        is_message = isinstance(body, dict) and "message" in body
        return {"action": {"message": body["message"]}} if is_message else body


class _SharedRoutes:
    """Plays the shared episode. Errors are for `session_error_handler`."""

    def __init__(self, episode: SharedEpisode) -> None:
        self._episode = episode

    def router(self, checks: list[Any]) -> APIRouter:
        """The routes, each after its conditions."""
        router = APIRouter(prefix="/web", tags=["Web interface"], dependencies=checks)
        answer: dict[int | str, dict[str, Any]] = {200: {"model": StepResponse}}
        router.post("/reset", response_model=None, responses=answer)(self.reset)
        router.post("/step", response_model=None, responses=answer)(self.step)
        router.get("/state", response_model=None)(self.state)
        return router

    async def reset(self, request: Request) -> Response:
        """Begins an episode; the body has the keywords of the environment's reset, if any."""
        body = await request.body()
        asked = parsed(ResetRequest, body if body.strip() else b"{}")
        return JSONResponse(await self._episode.reset(asked.model_dump(exclude_unset=True)))

    async def step(self, request: Request) -> Response:
        """Takes one action: `{"action": {...}}`, or `{"message": "..."}`."""
        asked = parsed(WebStepRequest, await request.body())
        return JSONResponse(await self._episode.step(prepared_action(asked.action)))

    async def state(self) -> Response:
        """The environment's state; 409 where it has none to tell."""
        try:
            return JSONResponse(await self._episode.state())
        except EnvironmentFailed as error:
            if error.code != EnvironmentFailed.code:
                raise
            return JSONResponse({"detail": error.message, **error.to_data()}, 409)


def _watching(episode: SharedEpisode) -> Callable[[WebSocket], Any]:
    """The socket of those who look at the episode: what they send means nothing."""

    async def watch(socket: WebSocket) -> None:
        if not may_control(socket.scope):
            return await refuse_control(socket.scope, socket.receive, socket.send)
        viewers = episode.viewers
        if not await viewers.connect(socket):
            return None
        try:
            while (await socket.receive())["type"] != "websocket.disconnect":
                pass
        finally:
            await viewers.disconnect(socket)
        return None

    return watch
