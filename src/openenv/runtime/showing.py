"""Showing: the reply to a reset or step, which waits for the view of its observation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from pydantic_core import from_json

from openenv.protocol.errors import Json, ProtocolError
from openenv.protocol.messages import Reply, Request
from openenv.protocol.msgpack import encode_msgpack
from openenv.protocol.values import encode

PATIENCE_S = 5.0
"""The longest that a view is waited for, by its own caller or by whoever comes next."""

Deliver = Callable[[Reply], None]


class Shown(Protocol):
    """The session that is asked for the view."""

    @property
    def is_recovering(self) -> bool:
        """Whether a call that was given up still runs."""

    def serve(self, request: Request, deliver: Deliver) -> None:
        """Answers a request."""


def showing(session: Shown, request: Request, deliver: Deliver, max_bytes: int) -> Deliver:
    """Takes the reply to a request, and delivers it with the view of its observation.

    What goes wrong with the view is told in it: the step was taken, and the session goes on.

    Args:
        session: asked for the view.
        request: what the reply answers.
        deliver: takes the reply with its view; one without an observation as it is.
        max_bytes: the largest reply that the view may make.
    """

    def answered(reply: Reply) -> None:
        if reply.type != "observation":
            deliver(reply)
        elif session.is_recovering:
            deliver(_with(reply, _failed("the call was given up and still runs", reply.binary)))
        else:
            question = Request("view", timeout_s=patience(request.timeout_s), binary=request.binary)
            session.serve(question, lambda view: deliver(_shown(reply, view, max_bytes)))

    return answered


def patience(seconds: float | None) -> float:
    """How long a view is waited for by who has so many seconds in all; `None` is any number."""
    return PATIENCE_S if seconds is None else min(seconds, PATIENCE_S)


def _shown(reply: Reply, view: Reply, max_bytes: int) -> Reply:
    """A reply with its view, or with why there is none."""
    part = view.body
    if view.type != "view":
        told = from_json(view.encoded(binary=False))
        part = _failed(str(told.get("message", "")), reply.binary)
    elif len(reply.body) + len(part) > max_bytes:
        part = _failed("with its view the reply would be larger than may be sent", reply.binary)
    return replace(_with(reply, part), ends_session=view.ends_session)


def _with(reply: Reply, view: bytes) -> Reply:
    try:
        return reply.with_part("view", view)
    except ProtocolError:  # of an environment gone bad; what it says is passed on as it is
        return reply


def _failed(why: str, binary: bool) -> bytes:
    view: Json = {"html": None, "actions": [], "error": why}
    return encode_msgpack(view) if binary else encode(view)
