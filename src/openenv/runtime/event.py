"""Event: one thing that a session did, as those are told who look on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from typing import Literal

import msgspec

from openenv.protocol.errors import EnvironmentFailed, Json, SessionError
from openenv.protocol.messages import Operation, Reply, Request
from openenv.protocol.values import encode

Kind = Literal["reset", "step", "state", "closed", "error"]

KINDS: dict[Operation, Kind] = {
    "reset": "reset",
    "step": "step",
    "call_tool": "step",
    "list_tools": "step",
    "turn": "step",
    "state": "state",
}
"""What is told of which request; of others nothing is."""
MAX_SHOWN_BYTES = 256 * 1024
"""The largest observation, or action, that is told, as its session's own wire carries it. Of larger
ones the size is."""
_NOTHING = b"null"


@dataclass(frozen=True)
class Progress:
    """How the episode of a session stands.

    Attributes:
        id: the session's name for those who look on.
        episode_id: the episode's name; `None` as long as nobody has told it.
        step_count: steps so far, and calls of tools.
        total_reward: their sum; `None` if nobody looked on at all of them.
    """

    id: str
    episode_id: str | None
    step_count: int
    total_reward: float | None


@dataclass(frozen=True)
class Event:
    """What happened.

    Attributes:
        progress: the session, by the name that those know who look on, and how its episode stands.
        kind: what it was.
        at: when, in seconds since 1970.
        action: what was asked, as JSON.
        told: the observation, the state, or the error.
        reward: of the observation.
        done: of the observation; `None` if there is none.
        latency_ms: from the request to its reply.
    """

    progress: Progress
    kind: Kind
    at: float
    action: bytes = _NOTHING
    told: Reply | None = None
    reward: object = None
    done: bool | None = None
    latency_ms: float | None = None

    @property
    def size(self) -> int:
        """About how many bytes of memory it holds."""
        return len(self.action) + (0 if self.told is None else len(self.told.body))

    @cached_property
    def frame(self) -> str:
        """Its JSON."""
        is_error = self.kind == "error"
        fields: Json = {
            "type": "event",
            **vars(self.progress),
            "kind": self.kind,
            "at": datetime.fromtimestamp(self.at, timezone.utc).isoformat(),
            "action": msgspec.Raw(self.action),
            "observation": msgspec.Raw(_NOTHING if is_error else self._told()),
            "reward": msgspec.Raw(encode(self.reward)),
            "done": self.done,
            "latency_ms": self.latency_ms,
        }
        if is_error:
            fields["error"] = msgspec.Raw(self._told())
        return msgspec.json.encode(fields).decode()

    def _told(self) -> bytes:
        return _NOTHING if self.told is None else self.told.encoded(binary=False)


def bounded(reply: Reply) -> Reply:
    """What is told of a reply: if it is too large, only its size."""
    size = len(reply.body)
    return reply if size <= MAX_SHOWN_BYTES else Reply(reply.type, _omitted(size))


def _omitted(size: int) -> bytes:
    return encode({"omitted_bytes": size})


def action_of(request: Request) -> bytes:
    """What was asked, as JSON; a tool's call as the action that it is."""
    calls = request.op in ("call_tool", "list_tools")
    try:
        action = encode({"type": request.op, **request.data} if calls else request.data)
    except (EnvironmentFailed, TypeError):  # what a client sends may be anything
        return _NOTHING
    return action if len(action) <= MAX_SHOWN_BYTES else _omitted(len(action))


Outcome = tuple[Reply, object, bool | None]
"""What is told of a reply: an observation, state or error; its reward; whether it is the end."""


def outcome_of(reply: Reply) -> Outcome:
    """The observation in a reply, alone, with its reward and whether it ends the episode."""
    try:
        parts = reply.parts()
        reward = _plain(reply.coding.decode(parts["reward"]))
        done = reply.coding.decode(parts["done"]) is True
        seen = Reply("observation", bytes(parts["observation"]), binary=reply.binary)
    except (SessionError, KeyError, msgspec.DecodeError):  # of an environment gone bad
        return Reply("observation", _NOTHING), None, False
    return bounded(seen), reward, done


def _plain(reward: object) -> object:
    """A reward, unless it is nothing that one can be."""
    return reward if isinstance(reward, int | float | str) else None
