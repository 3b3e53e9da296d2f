"""The process of one session: the child's end of what `ProcessHost` speaks to.

`python -m openenv.runtime.child` is one that is started anew; most are forked from a zygote.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Callable
from threading import Lock
from typing import BinaryIO

from openenv.protocol.errors import (
    ConfigurationError,
    EnvironmentFactoryError,
    EnvironmentFailed,
)
from openenv.protocol.messages import Reply, Request, error_reply
from openenv.protocol.saying import in_full
from openenv.runtime.card import card_reply
from openenv.runtime.ear import Ear
from openenv.runtime.interruption import Interrupted
from openenv.runtime.late import MAY_BE_GIVEN_UP
from openenv.runtime.pipe import (
    CARD_QUESTION,
    INTERRUPT,
    decode_question,
    read_question,
    write_reply,
)
from openenv.runtime.session import Session
from openenv.runtime.worker import BlockingCalls


def main() -> None:
    """Builds the environment it is told of, then answers requests until its input ends."""
    os.closerange(3, 1 << 16)  # uvloop hands down its own ends of the pipes, and others' too
    line = os.dup(0)
    mute_stdio()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    converse(line, _build)


def _build(birth: bytes) -> Session:
    from openenv.runtime.birth import SessionBirth  # which lives by what is here

    return SessionBirth.decode(birth).load()()


def converse(line: int, build: Callable[[bytes], Session]) -> None:
    """Lives a session: the first question says what to build, each other one is a request.

    Args:
        line: the descriptor of the socket to the server.
        build: makes the session of what the first question says.
    """
    requests, replies = os.fdopen(line, "rb", buffering=0), os.fdopen(os.dup(line), "wb")
    os.register_at_fork(after_in_child=lambda: let_go_of(line, replies.fileno()))
    first = read_question(requests)
    if first is None:
        return
    try:
        session = build(first)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # told to the server
        write_reply(replies, Reply("error", why_not(error).encode()))
        return
    write_reply(replies, Reply("ready", b""))
    _serve(session, line, requests, replies)


def _serve(session: Session, line: int, requests: BinaryIO, replies: BinaryIO) -> None:
    calls = BlockingCalls()
    ear = Ear(line, calls.interrupt)
    telling = Lock()

    def tell(event: bytes) -> None:
        with telling:
            write_reply(replies, Reply("event", event))

    while (question := read_question(requests)) is not None:
        if question == INTERRUPT:  # of a call that is over
            continue
        if question == CARD_QUESTION:
            reply = card_reply(session.environment)
        else:
            reply = _answer(session, decode_question(question, tell), calls, ear)
        with telling:
            write_reply(replies, reply)
    calls.settle(session.close())
    calls.close()


def _answer(session: Session, request: Request, calls: BlockingCalls, ear: Ear) -> Reply:
    if request.op not in MAY_BE_GIVEN_UP:
        return calls.settle(session.serve(request))
    try:
        return ear.during(lambda: calls.settle(session.serve(request)))
    except (Interrupted, asyncio.CancelledError):
        return error_reply(EnvironmentFailed("the call was given up"))


def mute_stdio() -> None:
    """There is nothing to read, and what is printed goes to stderr."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Asks the kernel to end this process with its parent, also in the middle of a step."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, number)


def why_not(error: BaseException) -> str:
    """Why there is no environment, for people."""
    if isinstance(error, EnvironmentFactoryError):
        return error.message
    if isinstance(error, ConfigurationError):
        return str(error)
    return f"the environment could not be loaded: {in_full(error)}"


def let_go_of(*lines: int) -> None:
    """In a forked worker: it must not answer, nor hide this process's death by outliving it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for line in lines:
        os.dup2(nothing, line, inheritable=False)
    os.close(nothing)


if __name__ == "__main__":
    main()
