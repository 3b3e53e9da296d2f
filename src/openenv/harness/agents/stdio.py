"""StdioHarnessAdapter: an agent that is told by lines of JSON, and tells by them what it does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from openenv.harness.agents.errors import HarnessError
from openenv.harness.agents.events import HarnessEvent, HarnessEventType
from openenv.harness.agents.launched import LaunchedAdapter
from openenv.harness.agents.process import HarnessProcess

READY = "ready"


class StdioHarnessAdapter(LaunchedAdapter):
    """An agent that is a command line program and speaks JSON, one object a line.

    ```text
    <- {"type": "ready"}                                            on its stdout, once
    -> {"type": "message", "turn": 1, "content": "..."}             on its stdin
    <- {"type": "llm_chunk", "data": {"content": "..."}}            any events, as they happen
    <- {"type": "turn_complete", "turn": 1, "data": {"response": "...", "done": false}}
    ```

    `turn_complete` repeats the message's `turn`: one that belongs to an earlier message is left
    out. A line that is no event is kept as a `text_output` with `stray=true`; stderr is the
    agent's own.

    Its arguments are those of `LaunchedAdapter`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turn = 0

    async def send_message_streaming(self, message: str) -> AsyncIterator[HarnessEvent]:
        """Gives the agent a message: what it does, up to its `turn_complete`."""
        process = self._running()
        self._turn += 1
        told = {"type": "message", "turn": self._turn, "content": message}
        await process.write_line(json.dumps(told))
        while (line := await process.read_line()) is not None:
            event, turn = read_event(line)
            is_end = event.type is HarnessEventType.TURN_COMPLETE
            if is_end and not isinstance(turn, int):
                raise HarnessError(
                    f"{self.config.name} wrote a turn_complete without the turn of its message"
                )
            if turn is None or turn == self._turn:
                yield event
                if is_end:
                    return
        raise await process.ended()

    async def _greet(self, process: HarnessProcess) -> None:
        self._turn = 0
        await process.start(_is_ready)


def read_event(line: str) -> tuple[HarnessEvent, object]:
    """What a line says, and the turn that it names."""
    said = read_object(line)
    turn = said.pop("turn", None)
    try:
        return HarnessEvent.model_validate(said), turn
    except ValidationError:
        data = {"text": line, "stray": True}
        return HarnessEvent(type=HarnessEventType.TEXT_OUTPUT, data=data), None


def _is_ready(line: str) -> bool:
    return read_object(line).get("type") == READY


def read_object(line: str) -> dict[str, Any]:
    """The object in a line; an empty one if there is none."""
    try:
        said = from_json(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
