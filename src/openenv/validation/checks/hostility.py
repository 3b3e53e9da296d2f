"""Checks of what a session bears: frames that no client sends."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from openenv.client.endpoint import Endpoint
from openenv.testing.finding import Finding, broken
from openenv.validation.checks.episodes import EPISODE
from openenv.validation.policy import Level
from openenv.validation.registry import Check
from openenv.validation.subject import Subject

_SILENT = logging.Logger("openenv.validation.frames", logging.CRITICAL + 1)
"""What breaks off in these connections was broken on purpose."""
PATIENCE_S = 10.0
"""How long a connection, or a slot, may take."""
ANSWER_S = 10.0
"""How long an answer may take."""
OVERSIZE = 17 * 1024 * 1024
"""More than servers read by default."""

Frame = str | bytes
_LOOK = '{"type": "state"}'

FRAMES: dict[str, Frame] = {
    "broken JSON": '{"type": "reset"',
    "an array": "[1, 2, 3]",
    "a number": "7",
    "an empty frame": "",
    "binary garbage": bytes(range(256)),
    "no type": '{"foo": 1}',
    "an unknown type": '{"type": "explode"}',
    "a type that is no text": '{"type": ["step"]}',
    "a step without an action": '{"type": "step"}',
    "an action that is no object": '{"type": "step", "data": [1]}',
    "a reset with no object": '{"type": "reset", "data": null}',
    "a field that no message has": '{"type": "state", "data": {}, "zzz": 1}',
    "100,000 brackets": "[" * 100_000,
}


@dataclass(frozen=True)
class _Seen:
    """What a frame was answered with.

    Attributes:
        answer: `error CODE`, the type of another answer, or why there was none.
        typed: it was answered with an error that has a code.
        lives: the session goes on.
    """

    answer: str
    typed: bool
    lives: bool


def _frames(subject: Subject) -> Finding:
    with ExitStack() as sockets:
        socket = sockets.enter_context(_session(subject))
        seen = {}
        for name, frame in FRAMES.items():
            seen[name] = look = _tried(socket, frame)
            if not look.lives:
                sockets.close()
                socket = sockets.enter_context(_session(subject))
    return _judged(seen)


def _judged(seen: dict[str, _Seen]) -> Finding:
    measured = {name: look.answer for name, look in seen.items()}
    untyped = [f"{name}: {look.answer}" for name, look in seen.items() if not look.typed]
    if untyped:
        return Finding.judged(untyped, "", measured)
    ended = [name for name, look in seen.items() if not look.lives]
    faults = [f"the session ended with {', '.join(ended)}"] if ended else []
    told = f"{len(seen)} frames were each answered with a typed error, and the session went on"
    return Finding.judged(faults, told, measured, mild=True)


def _oversize(subject: Subject) -> Finding:
    """A message that is too large costs its own connection at most."""
    with _session(subject) as socket:
        try:
            socket.send(json.dumps({"type": "reset", "data": {"padding": "x" * OVERSIZE}}))
            answer = _answer(socket)
        except (ConnectionClosed, OSError):
            answer = "the connection was closed"
    health = subject.server.get("/health")
    faults = [] if health.status == 200 else ["the server no longer answers GET /health"]
    if answer == "nothing":
        faults.append(f"a message of {OVERSIZE} bytes was never answered")
    with subject.stage.session() as client:
        client.reset(**subject.stage.plan.reset())
    size = OVERSIZE // 2**20
    return Finding.judged(faults, f"a message of {size} MiB: {answer}", {"answer": answer})


def _tried(socket: ClientConnection, frame: Frame) -> _Seen:
    try:
        socket.send(frame)
        answer = _answer(socket)
    except (ConnectionClosed, OSError):
        return _Seen(f"closed with {socket.close_code}, without a word", False, False)
    return _Seen(answer, answer.startswith("error "), _goes_on(socket))


def _goes_on(socket: ClientConnection) -> bool:
    try:
        socket.send(_LOOK)
        return _answer(socket) != "nothing"
    except (ConnectionClosed, OSError):
        return False


def _answer(socket: ClientConnection) -> str:
    """What comes next: `error CODE`, the type of another message, or `nothing`."""
    try:
        message: Any = json.loads(socket.recv(timeout=ANSWER_S))
        kind, content = str(message["type"]), message["data"]
        return f"error {content['code']}" if kind == "error" else kind
    except TimeoutError:
        return "nothing"
    except (ValueError, KeyError, TypeError):
        return "no message of the protocol"


@contextmanager
def _session(subject: Subject) -> Iterator[ClientConnection]:
    """A session of version 1, on a connection of its own, once a slot is free."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with _socket(subject) as socket:
            with suppress(ConnectionClosed):  # by a refusal, which is read all the same
                socket.send(_LOOK)
            if _answer(socket) != "error CAPACITY_REACHED" or time.monotonic() > deadline:
                yield socket
                return
        time.sleep(0.05)


def _socket(subject: Subject) -> ClientConnection:
    site = subject.server
    endpoint = Endpoint(site.url)
    return connect(
        endpoint.ws_url,
        additional_headers=dict(site.headers),
        open_timeout=PATIENCE_S,
        close_timeout=PATIENCE_S,
        proxy=endpoint.proxy,
        max_size=None,
        compression=None,
        logger=_SILENT,
    )


def _connected(look: Callable[[Subject], Finding]) -> Callable[[Subject], Finding]:
    """The same look, where it is the server's fault that there is no session to look at."""

    def connected(subject: Subject) -> Finding:
        try:
            return look(subject)
        except (WebSocketException, OSError) as error:
            return broken(f"no session could be opened: {error or type(error).__name__}")

    return connected


def _may_be_flooded(subject: Subject) -> str | None:
    return None if subject.is_ours else "nothing that large is sent to a server of others"


CHECKS = (
    Check(
        "runtime.hostile_frames",
        Level.RUNTIME,
        "Frames that no client sends (broken JSON, arrays, binary garbage, unknown types, wrong "
        "fields) are each answered with a typed error, and the session goes on.",
        "Serve with `openenv serve` or `openenv.create_app` instead of a `/ws` of your own.",
        _connected(_frames),
        needs=(EPISODE,),
    ),
    Check(
        "runtime.oversize_message",
        Level.RUNTIME,
        "A message that is too large costs its own connection at most, never the server.",
        "Serve with `openenv serve` or `openenv.create_app`; OPENENV_MAX_MESSAGE_MB is the limit.",
        _connected(_oversize),
        needs=(EPISODE,),
        applies=_may_be_flooded,
    ),
)
