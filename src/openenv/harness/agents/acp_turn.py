"""What an agent of the Agent Client Protocol does in a turn, as events."""

from __future__ import annotations

import json
from typing import Any

from openenv.harness.agents.errors import HarnessError
from openenv.harness.agents.events import HarnessEvent, HarnessEventType
from openenv.harness.agents.turn import MAX_RESULT_BYTES

Json = dict[str, Any]

_BEGUN = ("in_progress", "completed", "failed")
_ENDED = ("completed", "failed")
MAX_CALLS = 1000
"""How many calls an agent may have begun, or ended, in one turn."""


class ACPTurn:
    """Reads the updates of one turn. Its response is what the agent says after its last call."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._calls: dict[str, Json] = {}
        self._told: set[str] = set()

    def events(self, update: Json) -> list[HarnessEvent]:
        """The events of an update: none for what is neither text nor a call."""
        kind = update.get("sessionUpdate")
        if kind == "agent_message_chunk":
            return self._text(update)
        if kind == "agent_thought_chunk":
            text = _text_of(update.get("content"))
            data = {"content": text, "thought": True}
            return [HarnessEvent(type=HarnessEventType.LLM_CHUNK, data=data)] if text else []
        if "toolCallId" in update:  # told of, or asked permission for
            return self._call(update)
        return []

    def complete(self, result: Json) -> HarnessEvent:
        """The last event, of the answer to the prompt."""
        data = {"response": "".join(self._said), "done": False}
        data["stop_reason"] = result.get("stopReason")
        return HarnessEvent(type=HarnessEventType.TURN_COMPLETE, data=data)

    def _text(self, update: Json) -> list[HarnessEvent]:
        text = _text_of(update.get("content"))
        if not text:
            return []
        self._said.append(text)
        return [HarnessEvent(type=HarnessEventType.LLM_CHUNK, data={"content": text})]

    def _call(self, update: Json) -> list[HarnessEvent]:
        """An agent tells of a call piece by piece: one event when it begins, one when it ends."""
        self._said.clear()
        call_id = str(update.get("toolCallId"))
        if max(len(self._calls), len(self._told)) >= MAX_CALLS:
            raise HarnessError(f"the agent made more than {MAX_CALLS} calls in one turn")
        call = self._calls.setdefault(call_id, {})
        call |= {name: value for name, value in update.items() if value is not None}
        named = {"call_id": call_id, "tool_name": _name(call)}
        events = []
        if call.get("status") in _BEGUN and call_id not in self._told:
            self._told.add(call_id)
            data = {**named, "arguments": call.get("rawInput")}
            events.append(HarnessEvent(type=HarnessEventType.TOOL_CALL, data=data))
        if call.get("status") in _ENDED:
            del self._calls[call_id]
            data = {**named, "result": _result(call), "failed": call["status"] == "failed"}
            events.append(HarnessEvent(type=HarnessEventType.TOOL_RESULT, data=data))
        return events


def _name(call: Json) -> str:
    """The tool's name, which only some agents tell beside a title for people."""
    beside = call.get("_meta")
    name = beside.get("toolName") if isinstance(beside, dict) else None
    return str(name or call.get("title") or "")


def _result(call: Json) -> str:
    """What a call gave: its text, or what there is instead."""
    content = call.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [_text_of(each.get("content")) for each in blocks if isinstance(each, dict)]
    text = "\n".join(filter(None, texts))
    return (text or json.dumps(call.get("rawOutput")))[:MAX_RESULT_BYTES]


def _text_of(content: Any) -> str:
    text = content.get("text") if isinstance(content, dict) else None
    return text if isinstance(text, str) else ""
