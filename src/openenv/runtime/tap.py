"""Tap: what those who look on are told of one session, whichever road it is played by."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Protocol

from pydantic_core import from_json

from openenv.protocol.errors import Json
from openenv.protocol.messages import Reply, Request
from openenv.runtime.event import (
    KINDS,
    Event,
    Kind,
    Outcome,
    Progress,
    action_of,
    bounded,
    outcome_of,
)
from openenv.runtime.showing import Deliver

if TYPE_CHECKING:
    from openenv.runtime.seat import Seat


PLAYING_S = 2.0
"""How long after its last call a session is still said to be playing."""


class Hall(Protocol):
    """Where those are who look on."""

    attended: bool

    def tell(self, alias: str, make: Callable[[], Event]) -> None:
        """Tells those who look at a session what it did; the event is made only for them."""

    def lose(self, tap: Tap) -> None:
        """The session has ended."""


class Tap:
    """Keeps the last exchange of a session while nobody looks on, and else tells of each.

    Attributes:
        alias: the session's name for those who look on, who never learn its id.
        session: the session.
        since: when it began, by the server's clock.
    """

    def __init__(self, alias: str, session: Seat, hall: Hall, since: float) -> None:
        self.alias = alias
        self.session = session
        self.since = since
        self._hall = hall
        self._last: tuple[Request, Reply, float, float] | None = None
        self._episode_id: str | None = None
        self._step_count = 0
        self._total_reward: float | None = None
        self._done: bool | None = None

    def around(self, request: Request, deliver: Deliver) -> Deliver:
        """Takes note of the reply to a request on its way to who asked."""
        if request.op not in KINDS:
            return deliver
        return partial(self._answered, request, deliver, time.perf_counter())

    def ended(self) -> None:
        """The session has ended."""
        self._hall.lose(self)
        self._hall.tell(self.alias, lambda: Event(self._progress(), "closed", time.time()))

    def newest(self) -> Event | None:
        """The last reset or step, if there was one."""
        if self._last is None:
            return None
        request, reply, began, ended = self._last
        return self._event(KINDS[request.op], request, outcome_of(reply), (began, ended))

    def catch_up(self) -> None:
        """Somebody looks on from now: reads what was only kept."""
        if self._last is None:
            return
        request, reply, *_ = self._last
        _, reward, self._done = outcome_of(reply)
        if request.op == "reset":
            self._total_reward = _number(reward)

    def told(self, now: float, *, held: bool) -> Json:
        """The session in a few words.

        Args:
            now: by the server's clock.
            held: whether a socket holds it.
        """
        busy = self.session.is_busy
        idle_s = 0.0 if busy else round(max(0.0, now - self.session.last_active), 3)
        return {
            **vars(self._progress()),
            "done": self._done,
            "busy": busy,
            "playing": idle_s < PLAYING_S,
            "held": held,
            "idle_s": idle_s,
            "since_s": round(max(0.0, now - self.since), 3),
        }

    def _progress(self) -> Progress:
        return Progress(self.alias, self._episode_id, self._step_count, self._total_reward)

    def _answered(self, request: Request, deliver: Deliver, began: float, reply: Reply) -> None:
        span = began, time.perf_counter()
        if reply.type == "observation" and request.op != "list_tools":
            self._last = (request, reply, *span)
            self._count(request)
        if self._hall.attended:
            self._tell(request, reply, span)
        deliver(reply)

    def _count(self, request: Request) -> None:
        if request.op == "reset":
            self._step_count, self._total_reward = 0, 0.0
            self._episode_id = request.data.get("episode_id")
        else:
            self._step_count += 1
            if not self._hall.attended:
                self._total_reward = None

    def _tell(self, request: Request, reply: Reply, span: tuple[float, float]) -> None:
        kind = KINDS[request.op]
        if reply.type == "observation":
            outcome = outcome_of(reply)
            if request.op != "list_tools":
                self._sum(outcome[1], outcome[2])
        elif reply.type == "state":
            outcome = bounded(reply), None, None
            self._name(reply)
        else:
            kind, outcome = "error", (bounded(reply), None, None)
        self._hall.tell(self.alias, partial(self._event, kind, request, outcome, span))

    def _sum(self, reward: object, done: bool | None) -> None:
        self._done = done
        if self._total_reward is not None:
            self._total_reward += _number(reward)

    def _name(self, state: Reply) -> None:
        """Learns the episode's name, where the session has made it up."""
        name = from_json(state.encoded(binary=False)).get("episode_id")
        self._episode_id = name if isinstance(name, str) else None

    def _event(
        self,
        kind: Kind,
        request: Request,
        outcome: Outcome,
        span: tuple[float, float],
    ) -> Event:
        told, reward, done = outcome
        began, ended = span
        return Event(
            self._progress(),
            kind,
            time.time() - (time.perf_counter() - ended),
            action_of(request),
            told,
            reward,
            done,
            round((ended - began) * 1000, 3),
        )


def _number(reward: object) -> float:
    """A reward, where it can be summed."""
    return float(reward) if isinstance(reward, int | float) and isfinite(reward) else 0.0
