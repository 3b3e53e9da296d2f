"""`/reset`, `/step`, `/state` and `/session`: the same stateful episode, over plain HTTP.

A caller that names no session uses the server's default one; with the header `X-Session-ID` it
has its own, made at its first reset. `DELETE /session`, or being idle for long, ends it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from openenv.protocol import messages
from openenv.protocol.errors import (
    ControlClosed,
    EnvironmentFailed,
    HostCrashed,
    InvalidRequest,
    MessageTooLarge,
    ResetRequired,
    SessionCapacityError,
    SessionError,
    SessionNotFoundError,
    StepTimeout,
)
from openenv.protocol.wire import ResetRequest, StepRequest, StepResponse
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions
from openenv.server.authority import control_closed, may_control
from openenv.server.calls import Calls, parsed, told

DEFAULT_SESSION = "default"
SessionID = Annotated[str | None, Header(alias="X-Session-ID", min_length=1, max_length=255)]

_STATUS: list[tuple[type[SessionError], int]] = [
    (ResetRequired, 409),
    (InvalidRequest, 422),
    (SessionCapacityError, 503),
    (SessionNotFoundError, 404),
    (ControlClosed, 403),
    (MessageTooLarge, 413),
    (StepTimeout, 504),
    (HostCrashed, 500),
    (EnvironmentFailed, 500),
    (SessionError, 503),
]


def http_routes(
    episodes: HttpEpisodes, conditions: Sequence[Callable[[], Awaitable[None]]] = ()
) -> APIRouter:
    """The routes of the stateful HTTP surface, each after its conditions, which may raise."""
    checks: list[Callable[..., Awaitable[None]]] = [require_control, *conditions]
    router = APIRouter(tags=["Episode"], dependencies=[Depends(check) for check in checks])
    answer: dict[int | str, dict[str, Any]] = {200: {"model": StepResponse}}
    router.post("/reset", response_model=None, responses=answer, openapi_extra=_body(ResetRequest))(
        episodes.reset
    )
    router.post("/step", response_model=None, responses=answer, openapi_extra=_body(StepRequest))(
        episodes.step
    )
    router.get("/state", response_model=None)(episodes.state)
    router.delete("/session", status_code=204, response_model=None)(episodes.close)
    return router


async def require_control(request: Request) -> None:
    """A route's condition: its caller may control episodes.

    Raises:
        ControlClosed: they may not.
    """
    if not may_control(request.scope):
        raise control_closed()


def _body(model: type[BaseModel]) -> dict[str, Any]:
    """The OpenAPI description of a body that the route reads itself, to answer as `/ws` does."""
    return {"requestBody": {"content": {"application/json": {"schema": model.model_json_schema()}}}}


class HttpEpisodes:
    """Finds a caller's session and has it answer. Errors are for `session_error_handler`.

    Attributes:
        calls: those that are waited for.
    """

    def __init__(self, sessions: Sessions) -> None:
        self.calls = Calls()
        self._sessions = sessions

    def give_up(self) -> None:
        """Waits no longer for calls that hang; their callers are told that the server ends."""
        self.calls.give_up()

    async def reset(self, request: Request, x_session_id: SessionID = None) -> Response:
        """Begins an episode, in the caller's session; makes that session if need be."""
        body = await request.body()
        asked = parsed(ResetRequest, body if body.strip() else b"{}")
        seat = await self._seat(x_session_id, make=True)
        return await self._serve(
            seat, messages.Request("reset", asked.model_dump(exclude_unset=True))
        )

    async def step(self, request: Request, x_session_id: SessionID = None) -> Response:
        """Takes one action in the caller's episode."""
        asked = parsed(StepRequest, await request.body())
        make = x_session_id is None and not self._sessions.spec.traits.requires_reset
        seat = await self._seat(x_session_id, make=make)
        return await self._serve(seat, messages.Request("step", asked.action, asked.timeout_s))

    async def state(self, x_session_id: SessionID = None) -> Response:
        """Where the caller's episode stands."""
        try:
            seat = await self._seat(x_session_id, make=False)
        except ResetRequired:
            return JSONResponse({"episode_id": None, "step_count": 0})
        return await self._serve(seat, messages.Request("state"))

    async def close(self, x_session_id: SessionID = None) -> Response:
        """Ends the caller's session."""
        await self._sessions.find(x_session_id or DEFAULT_SESSION).close()
        return Response(status_code=204)

    async def _seat(self, session_id: str | None, *, make: bool) -> Seat:
        name = session_id or DEFAULT_SESSION
        try:
            return self._sessions.find(name)
        except SessionNotFoundError:
            if make:
                return await self._sessions.open(name, is_named=True)
            if session_id is None:
                raise ResetRequired("no episode has begun here; POST /reset first") from None
            raise

    async def _serve(self, seat: Seat, request: messages.Request) -> Response:
        reply = await self.calls.answer(seat, request)
        content = told(reply)
        if reply.type == "observation":
            content.setdefault("metadata", None)
        return JSONResponse(content, headers={"X-Session-ID": seat.session_id})


async def session_error_handler(request: Request, error: Exception) -> Response:
    """The HTTP form of a typed error: `detail` as FastAPI's users know it, `code`, `message`."""
    if not isinstance(error, SessionError):
        raise error
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    if status == 403 and "authorization" not in request.headers:
        status = 401
    detail = error.details.get("errors") or error.message
    headers = {"Retry-After": "1"} if status == 503 else None
    return JSONResponse({"detail": detail, **error.to_data()}, status, headers=headers)
