"""The process of a `ProcessHost`: `python -m openenv.runtime.child`, spoken to over its pipes."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
from typing import BinaryIO

from openenv.protocol.errors import EnvironmentFactoryError
from openenv.protocol.messages import Reply
from openenv.runtime.faults import text_of
from openenv.runtime.host import BlockingCalls, session_factory
from openenv.runtime.plan import Plan
from openenv.runtime.process import HEADER, KINDS, decode_question
from openenv.runtime.session import Session


def main() -> None:
    """Builds the environment it is told of, then answers requests until its input ends."""
    requests, replies = _take_pipes()
    os.register_at_fork(after_in_child=lambda: _let_go_of(requests, replies))
    _die_with_parent()
    plan = _read(requests)
    if plan is None:
        return
    try:
        session = _build(plan)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # told to the server
        _write(replies, Reply("error", _why(error).encode()))
        return
    _write(replies, Reply("ready", b""))
    calls = BlockingCalls()
    while (question := _read(requests)) is not None:
        _write(replies, calls.settle(session.serve(decode_question(question))))
    calls.settle(session.close())
    calls.close()


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the server, after which the environment's own prints go to stderr."""
    os.closerange(3, 1 << 16)  # uvloop hands down its own ends of the pipes, and others' too
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def _let_go_of(*pipes: BinaryIO) -> None:
    """In a forked worker: it must not answer, nor hide this process's death by outliving it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in pipes:
        os.dup2(nothing, pipe.fileno(), inheritable=False)
    os.close(nothing)


def _die_with_parent() -> None:
    """Asks the kernel to end this process with its server, also in the middle of a step."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _build(pickled: bytes) -> Session:
    plan: Plan = pickle.loads(pickled)  # our own parent's
    return session_factory(plan.load(), tracebacks=plan.tracebacks)()


def _why(error: BaseException) -> str:
    if isinstance(error, EnvironmentFactoryError):
        return error.message
    return f"the environment could not be loaded: {type(error).__name__}: {text_of(error)}"


def _read(pipe: BinaryIO) -> bytes | None:
    size = pipe.read(4)
    return pipe.read(int.from_bytes(size, "big")) if len(size) == 4 else None


def _write(pipe: BinaryIO, reply: Reply) -> None:
    header = HEADER.pack(KINDS.index(reply.type), reply.binary, len(reply.body))
    pipe.write(header + reply.body)
    pipe.flush()


if __name__ == "__main__":
    main()
