"""HTTPHarnessAdapter: an agent that is a small HTTP server."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from typing import Any

from pydantic import ValidationError

from openenv.harness.agents.errors import HarnessError, HarnessStartupError
from openenv.harness.agents.events import HarnessEvent, HarnessEventType, HarnessResponse
from openenv.harness.agents.launched import LaunchedAdapter
from openenv.harness.agents.posting import Answer, posted
from openenv.harness.agents.process import MAX_LINE_BYTES, HarnessProcess
from openenv.harness.agents.stdio import read_event

HARNESS_TOKEN_VARIABLE = "OPENENV_HARNESS_TOKEN"
PATH = "/message"
LOOK_S = 0.02
MAX_ERROR_BYTES = 2000
_ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\]):\d+")


class HTTPHarnessAdapter(LaunchedAdapter):
    """An agent that is an HTTP server of this machine, started as a program.

    It listens on a free port and writes its address (`http://127.0.0.1:PORT`) to its stdout or
    stderr, as most servers do by themselves. Each message is

    ```text
    POST /message   Authorization: Bearer $OPENENV_HARNESS_TOKEN
    {"turn": 1, "content": "..."}
    ```

    and the answer either events, an object a line, up to `turn_complete` (content type
    `application/x-ndjson`), or one object at the end (`application/json`):
    `{"response": "...", "done": false, "events": []}`.

    Its arguments are those of `LaunchedAdapter`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._token = secrets.token_urlsafe(32)
        self._address: str | None = None
        self._draining: asyncio.Task[None] | None = None
        self._turn = 0

    async def send_message_streaming(self, message: str) -> AsyncIterator[HarnessEvent]:
        """Gives the agent a message: what it does, up to its `turn_complete`."""
        process = self._running()
        self._turn += 1
        headers = {"Authorization": f"Bearer {self._token}"}
        told = {"turn": self._turn, "content": message}
        try:
            async with posted(f"{self._address}{PATH}", told, headers, MAX_LINE_BYTES) as answer:
                async for event in self._events(answer):
                    yield event
        except (OSError, asyncio.IncompleteReadError):
            raise await process.ended() from None

    async def stop(self) -> None:
        """Ends the program and all that it started."""
        draining, self._draining = self._draining, None
        if draining is not None:
            draining.cancel()
        await super().stop()

    async def _greet(self, process: HarnessProcess) -> None:
        self._turn, self._address = 0, None
        await process.start()
        self._draining = asyncio.ensure_future(self._drain(process))
        try:
            await asyncio.wait_for(self._found(process), self.config.startup_timeout_s)
        except asyncio.TimeoutError:
            raise HarnessStartupError(
                f"{self.config.name} wrote no address within {self.config.startup_timeout_s:g} s",
                process.drain_stderr(),
            ) from None

    async def _found(self, process: HarnessProcess) -> None:
        while self._address is None:
            self._look_in(process.drain_stderr())
            if not process.is_running():
                error = await process.ended()
                raise HarnessStartupError(error.message, error.stderr)
            await asyncio.sleep(LOOK_S)

    async def _drain(self, process: HarnessProcess) -> None:
        """Reads what it writes to its stdout: lines until one of them has its address."""
        while self._address is None:
            try:
                line = await process.read_line()
            except HarnessError:  # too long a line for an address
                await process.drop()
                continue
            if line is None:
                return
            self._look_in(line)
        while await process.drop():
            pass

    def _look_in(self, text: str) -> None:
        found = _ADDRESS.search(text)
        if found is not None and self._address is None:
            self._address = found.group()

    async def _events(self, answer: Answer) -> AsyncIterator[HarnessEvent]:
        if answer.status != 200:
            body = (await answer.body.read(MAX_ERROR_BYTES)).decode(errors="replace")
            why = f"{self.config.name} answered with status {answer.status}"
            raise HarnessError(why, quoted=body)
        if answer.kind == "application/json":
            async for event in self._at_once(answer):
                yield event
            return
        is_end = False
        while not is_end:
            line = await self._line(answer)
            event, _ = read_event(line)
            is_end = event.type is HarnessEventType.TURN_COMPLETE
            yield event

    async def _at_once(self, answer: Answer) -> AsyncIterator[HarnessEvent]:
        line = await self._line(answer)
        try:
            response = HarnessResponse.model_validate_json(line)
        except ValidationError as error:
            why = f"{self.config.name} answered with no response"
            raise HarnessError(why, quoted=str(error)) from None
        for event in response.events:
            if event.type is not HarnessEventType.TURN_COMPLETE:
                yield event
        said = {"response": response.response, "done": response.done}
        yield HarnessEvent(type=HarnessEventType.TURN_COMPLETE, data=said)

    async def _line(self, answer: Answer) -> str:
        """The next line; the last one need not end."""
        try:
            line = await answer.body.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            if not end.partial:
                raise
            line = end.partial
        except asyncio.LimitOverrunError:
            raise HarnessError(
                f"{self.config.name} answered with a line of more than {MAX_LINE_BYTES} bytes"
            ) from None
        return line.decode(errors="replace").strip()

    def _variables(self) -> dict[str, str]:
        return {HARNESS_TOKEN_VARIABLE: self._token} | super()._variables()
