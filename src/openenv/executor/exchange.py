"""One exchange with an interpreter: what is asked, all that it prints meanwhile, and the answer."""

from __future__ import annotations

import math
import os
import select
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import TypeVar

from openenv.executor.interpreter import Interpreter
from openenv.executor.wire import Call, Frames, Kind, Nonsense, Outcome, Ready, Run, decode, encode

CHUNK_BYTES = 1 << 16
PIPE_BYTES = 1 << 20
"""What a pipe holds at most."""
FLOOD_BYTES = 64 << 20
"""Who prints so much more than is kept is ended: reading it would keep the caller busy."""
LONGEST_MS = 1 << 30
CALM_AFTER = 1000
CALM_S = 0.001
"""Who makes the caller look so often is waited for a bit each time: more comes at once then."""

_Body = TypeVar("_Body", Ready, Call, Outcome)
_KINDS = {Ready: Kind.READY, Call: Kind.CALL, Outcome: Kind.OUTCOME}


class Loss(Enum):
    """Why there is no answer."""

    TIMEOUT = "its time was over"
    DEATH = "the interpreter died"
    NONSENSE = "the interpreter sent something that is no answer"
    PESTERING = "it went on calling tools when it was told to stop"
    FLOOD = f"it printed more than {FLOOD_BYTES >> 20} MiB"


class Lost(Exception):
    """There is no answer, and there will be none."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss.value)
        self.loss = loss


class Capture:
    """What comes out of a pipe, up to a limit; the rest is read and dropped.

    Args:
        descriptor: the pipe, which does not block.
        most: bytes that are kept.
    """

    def __init__(self, descriptor: int, most: int) -> None:
        self._descriptor = descriptor
        self._most = most
        self._count = 0
        self._kept = bytearray()

    @property
    def is_cut(self) -> bool:
        """Whether there was more."""
        return self._count > self._most

    @property
    def text(self) -> str:
        """What is kept."""
        kept = bytes(self._kept)
        return kept.decode(errors="ignore" if self.is_cut else "replace")

    def read(self) -> bool:
        """Reads what there is, and tells whether there may be more.

        Raises:
            Lost: it is a flood.
        """
        try:
            chunk = os.read(self._descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return False
        self._count += len(chunk)
        self._kept += chunk[: self._most - len(self._kept)]
        if self._count > self._most + FLOOD_BYTES:
            raise Lost(Loss.FLOOD)
        return bool(chunk)

    def drain(self) -> None:
        """Reads what is in the pipe, and little of what comes meanwhile."""
        for _ in range(PIPE_BYTES // CHUNK_BYTES):
            if not self.read():
                return


class Exchange:
    """Speaks until the answer is there, or its time is over.

    Args:
        interpreter: with whom.
        most: bytes of a frame that it may send.
        kept: bytes that are kept of each of its outputs.
        until: the moment, of `time.monotonic`, at which time is over.

    Attributes:
        stdout: what it has printed.
        stderr: likewise.
    """

    def __init__(self, interpreter: Interpreter, *, most: int, kept: int, until: float) -> None:
        self._line = interpreter.line
        self._poll = interpreter.poll
        self._until = until
        self._frames = Frames(most)
        self._outbox = memoryview(b"")
        self._looks = 0
        self.stdout = Capture(interpreter.stdout, kept)
        self.stderr = Capture(interpreter.stderr, kept)
        self._captures = {
            interpreter.stdout: self.stdout,
            interpreter.stderr: self.stderr,
        }

    @property
    def left_s(self) -> float:
        """Seconds until time is over."""
        return self._until - time.monotonic()

    def ready(self) -> Ready:
        """What a new interpreter says of itself.

        Raises:
            Lost: it does not.
        """
        return _decoded(Ready, *self._next())

    def outcome(self, run: Run, serve: Callable[[Call], bytes]) -> Outcome:
        """What comes of a piece of code.

        Args:
            run: says what to run.
            serve: answers a call of a tool, with a frame.

        Raises:
            Lost: nothing does.
        """
        self._send(encode(Kind.RUN, run))
        frame = self._next()
        while frame[0] == Kind.CALL:
            call = _decoded(Call, *frame)
            _expect(call.token == run.token)
            self._send(serve(call))
            frame = self._next()
        outcome = _decoded(Outcome, *frame)
        _expect(outcome.token == run.token and self._frames.is_empty)
        self.stdout.drain()
        self.stderr.drain()
        return outcome

    def drain(self) -> None:
        """Reads the last of what one that has ended has printed."""
        for capture in self._captures.values():
            with suppress(Lost):  # more than enough
                capture.drain()

    def _next(self) -> tuple[int, bytes]:
        """The next frame, after all is sent."""
        while True:
            try:
                frame = None if self._outbox else self._frames.take()
            except Nonsense:
                raise Lost(Loss.NONSENSE) from None
            if frame is not None:
                return frame
            self._wait()

    def _wait(self) -> None:
        """Does what can be done next."""
        left = self.left_s
        if left <= 0:
            raise Lost(Loss.TIMEOUT)
        self._looks += 1
        if self._looks > CALM_AFTER:
            time.sleep(CALM_S)
        for descriptor, event in self._poll.poll(min(math.ceil(left * 1000), LONGEST_MS)):
            if (capture := self._captures.get(descriptor)) is None:
                self._turn(event)
            elif not capture.read() and event & select.POLLHUP:
                self._poll.unregister(descriptor)

    def _turn(self, event: int) -> None:
        if event & select.POLLOUT:
            self._flush()
        if event & ~select.POLLOUT:
            self._receive()

    def _receive(self) -> None:
        try:
            received = self._line.recv(CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            raise Lost(Loss.DEATH)
        self._frames.feed(received)

    def _send(self, frame: bytes) -> None:
        self._outbox = memoryview(frame)
        self._flush()

    def _flush(self) -> None:
        """Sends as much as there is room for; polling goes on until that is all."""
        try:
            self._outbox = self._outbox[self._line.send(self._outbox) :]
        except BlockingIOError:
            pass
        except OSError:
            raise Lost(Loss.DEATH) from None
        # Until all is sent nothing is read, so that answers cannot heap up.
        self._poll.modify(self._line, select.POLLOUT if self._outbox else select.POLLIN)


def _expect(said: bool) -> None:
    if not said:
        raise Lost(Loss.NONSENSE)


def _decoded(expected: type[_Body], kind: int, body: bytes) -> _Body:
    try:
        if kind == _KINDS[expected]:
            return decode(body, expected)
    except Nonsense:
        pass
    raise Lost(Loss.NONSENSE)


def is_quiet(interpreter: Interpreter) -> bool:
    """Whether one that was asked nothing says nothing, and lives. What it prints is dropped."""
    poll = select.poll()
    poll.register(interpreter.line, select.POLLIN)
    try:
        for pipe in (interpreter.stdout, interpreter.stderr):
            Capture(pipe, 0).drain()
    except Lost:
        return False
    return not poll.poll(0)
