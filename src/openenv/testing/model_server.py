"""A pretended language model behind a real server: the wire of OpenAI and of Anthropic.

```python
with ModelServer(["0.8", Failure(429, retry_after=1), "0.4"]) as server:
    client = OpenAIClient(server.url, None, "test-model")
```

It listens on this machine alone, and answers `POST /v1/chat/completions`, `POST /v1/messages`
(both whole or streamed, with tools and token counts) and `GET /v1/models`. What it says is a
`Script`: one outcome for all requests, a sequence, or a function (async, if it likes) of what was
`Received`. An outcome is a text, a `Reply` (with `Call`s of tools, delays, token counts), a
`Failure` (429, 500 …), `Garbage` or a `HangUp`. It refuses what the real servers refuse: a wrong
key, bodies that are no request, results of tools that nobody called.

For the vendors' own clients the addresses are `f"{server.url}/v1"` (OpenAI) and `server.url`
(Anthropic).
"""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from typing_extensions import Self

from openenv.server.asgi import Receive, Scope, Send
from openenv.server.run import Server
from openenv.testing import model_anthropic, model_openai
from openenv.testing.loopback import running
from openenv.testing.model_anthropic import AnthropicWire
from openenv.testing.model_openai import OpenAIWire
from openenv.testing.model_responses import (
    MAX_BODY_BYTES,
    Wire,
    refusal,
    request_of,
    response_of,
)
from openenv.testing.model_script import (
    Call,
    Failure,
    Garbage,
    HangUp,
    Line,
    Outcome,
    Received,
    Reply,
    Script,
)

__all__ = ["Call", "Failure", "Garbage", "HangUp", "ModelServer", "Received", "Reply", "Script"]

_WIRES: dict[str, Wire] = {model_openai.PATH: OpenAIWire(), model_anthropic.PATH: AnthropicWire()}


class ModelServer:
    """A context manager, for blocking tests and for async ones.

    Args:
        script: what the model says.
        api_key: the key that requests must show; any is right by default.
        models: names that `GET /v1/models` lists; requests may name any.
        max_at_once: requests answered at a time; more are refused with status 429.
        kept: how many of the last requests are kept.

    Attributes:
        url: the server's address, without a path.
        at_once: the requests that are there now.
        most_at_once: the most that were there at one time.
    """

    def __init__(
        self,
        script: Script = "ok",
        *,
        api_key: str | None = None,
        models: tuple[str, ...] = ("test-model",),
        max_at_once: int = 256,
        kept: int = 1000,
    ) -> None:
        self.url = ""
        self.at_once = 0
        self.most_at_once = 0
        self._line = Line(script)
        self._api_key = api_key
        self._models = models
        self._max_at_once = max_at_once
        self._requests: deque[Received] = deque(maxlen=kept)
        self._count = 0
        self._closing = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: Server | None = None
        self._stack = ExitStack()

    @property
    def requests(self) -> list[Received]:
        """The last well-formed requests, in the order in which they came."""
        return list(self._requests)

    def __enter__(self) -> Self:
        self._closing = asyncio.Event()
        self.url, self._server = self._stack.enter_context(running(self))
        self._stack.callback(self._close)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _close(self) -> None:
        """Ends what still waits, so that the server can end."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._closing.set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        if scope["type"] != "http":
            return
        self._loop = asyncio.get_running_loop()
        with self._counted():
            request = Request(scope, receive)
            try:
                content = await _content(request)
            except ClientDisconnect:
                return
            work = self._respond(request, content, send)
            await _first(work, _gone(receive), self._hang_up_at_the_end(scope))

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            yield
        finally:
            self.at_once -= 1

    async def _respond(self, request: Request, content: bytes, send: Send) -> None:
        response = await self._response(request, content)
        await response(request.scope, request.receive, send)

    async def _response(self, request: Request, content: bytes) -> Response:
        path, wire = request.url.path, _WIRES.get(request.url.path)
        if (request.method, path) == ("GET", "/v1/models"):
            listed = [{"id": name, "object": "model"} for name in self._models]
            return JSONResponse({"object": "list", "data": listed})
        if wire is None or request.method != "POST":
            message = f"there is no {request.method} {path} here"
            return JSONResponse({"error": {"message": message}}, status_code=404)
        if self._api_key is not None and wire.key(request.headers) != self._api_key:
            return refusal(wire, Failure(401, "the API key is wrong"))
        if self.at_once > self._max_at_once:
            return refusal(wire, Failure(429, f"more than {self._max_at_once} at once"))
        received = request_of(wire, request.headers, content, self._count)
        if isinstance(received, Failure):
            return refusal(wire, received)
        self._count += 1
        self._requests.append(received)
        outcome = await self._outcome(received)
        await asyncio.sleep(outcome.delay_s)
        return response_of(wire, outcome, received, lambda: self._cut(request.scope))

    async def _outcome(self, received: Received) -> Outcome:
        try:
            outcome: Any = self._line.next(received)
            if inspect.isawaitable(outcome):
                outcome = await outcome
        except Exception as error:  # noqa: BLE001  # whoever wrote the script reads it there
            return Failure(400, f"the script raised {type(error).__name__}: {error}")
        return Reply(outcome) if isinstance(outcome, str) else outcome

    async def _hang_up_at_the_end(self, scope: Scope) -> None:
        """Whoever still waits for an answer then is gone, as far as the server sees."""
        await self._closing.wait()
        self._cut(scope)
        await asyncio.Event().wait()

    def _cut(self, scope: Scope) -> None:
        """Closes the connection that a request came by."""
        assert self._server is not None
        for connection in list(self._server.server_state.connections):
            if connection.transport.get_extra_info("peername")[:2] == tuple(scope["client"]):
                connection.transport.close()


async def _content(request: Request) -> bytes:
    """A body, but hardly more of it than is taken."""
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > MAX_BODY_BYTES:
            break
    return bytes(content)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _first(work: Coroutine[Any, Any, None], *ends: Coroutine[Any, Any, Any]) -> None:
    """Does some work, unless an end comes before; raises what the work raises."""
    working = asyncio.ensure_future(work)
    tasks = [working, *map(asyncio.ensure_future, ends)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if not working.cancelled():
        working.result()
