"""Environments that do what a test asks of them, also in a process of their own."""

import asyncio
import ctypes
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from openenv import Action, Environment, Observation, State


class Do(Action):
    """Names one of the world's tricks."""

    what: str
    arg: Any = None


class Seen(Observation):
    """What came of it."""

    value: Any = None


class Fatal(BaseException):
    """As libraries written in other languages raise: no `Exception`."""


class Unspeakable(Exception):
    """Cannot even be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class World(Environment[Do, Seen]):
    """Does one trick per step."""

    REQUIRES_RESET = False

    def reset(self, **options: Any) -> Seen:
        """Repeats its keywords; `do` names a trick to do first."""
        if "do" in options:
            return self.step(Do(**options["do"]))
        return Seen(value=options)

    def step(self, action: Do, timeout_s: float | None = None) -> Seen:
        """Does a trick."""
        return Seen(value=getattr(self, action.what)(action.arg), done=action.what == "end")

    def echo(self, arg: Any) -> Any:
        return arg

    end = echo

    def fail(self, arg: str) -> None:
        raise ValueError(arg)

    def fail_badly(self, arg: str) -> None:
        errors: dict[str, BaseException] = {
            "exit": SystemExit(3),
            "interrupt": KeyboardInterrupt(),
            "fatal": Fatal("panic"),
            "cancelled": asyncio.CancelledError(),
            "stop": StopIteration("over"),
            "generator": GeneratorExit(),
            "unspeakable": Unspeakable(),
            "surrogate": ValueError("\udcff"),
            "huge": ValueError("x" * 1_000_000),
        }
        raise errors[arg]

    def unsendable(self, arg: str) -> object:
        return {"lock": threading.Lock(), "surrogate": "\udcff"}[arg]

    def thread(self, arg: None) -> int:
        return threading.get_ident()

    def pid(self, arg: None) -> int:
        return os.getpid()

    def exit_at_once(self, arg: int) -> None:
        os.write(2, b"last words\n")
        os._exit(arg)

    def kill_itself(self, arg: str) -> None:
        os.kill(os.getpid(), getattr(signal, arg))

    def segfault(self, arg: None) -> None:
        ctypes.string_at(0)

    def chatter(self, arg: str) -> str:
        sys.stdout.write(arg)
        os.write(1, arg.encode())
        subprocess.run(["echo", arg], check=True)
        sys.stderr.write(arg)
        return repr(sys.stdin.read()) + repr(os.read(0, 1))

    def flood(self, arg: int) -> None:
        """Prints so many MiB."""
        for _ in range(arg):
            os.write(2, b"x" * (1 << 20))

    def environment(self, arg: None) -> list[dict[str, str]]:
        raw = Path("/proc/self/environ").read_text().split("\0")
        at_start = dict(line.split("=", 1) for line in raw if "=" in line)
        return [dict(os.environ), at_start]

    def hang(self, arg: str | None) -> None:
        """For ever; first creates the file that is named, to say that it does."""
        if arg is not None:
            Path(arg).touch()
        threading.Event().wait()

    def spawn(self, arg: list[str]) -> int:
        return subprocess.Popen(arg).pid

    def draw(self, arg: None) -> float:
        """From the generator that all of a process share."""
        return random.random()

    def seed(self, arg: int) -> None:
        random.seed(arg)

    def size(self, arg: int) -> str:
        return "x" * arg


class Imported(World):
    """Asks for a process."""

    HOST = "process"


class Bad(World):
    """Its constructor does the trick that a class attribute names."""

    TRICK: ClassVar[Do] = Do(what="echo")

    def __init__(self) -> None:
        self.step(self.TRICK)


class Raises(Bad):
    TRICK = Do(what="fail", arg="cannot be built")


class Exits(Bad):
    TRICK = Do(what="fail_badly", arg="exit")


class Hangs(Bad):
    TRICK = Do(what="hang")


class Dies(Bad):
    TRICK = Do(what="exit_at_once", arg=7)


class Panics(Bad):
    TRICK = Do(what="fail_badly", arg="fatal")


class Unclosable(World):
    """Never ends to close."""

    def close(self) -> None:
        """Hangs."""
        self.hang(None)


class Walk(Environment[Do, Seen]):
    """A seeded random walk whose whole path is its state."""

    def __init__(self) -> None:
        self._random = random.Random()
        self._path: list[int] = []

    def reset(self, seed: int | None = None) -> Seen:
        """Begins at 0."""
        self._random.seed(seed)
        self._path = [0]
        return Seen(value=list(self._path))

    def step(self, action: Do) -> Seen:
        """Goes somewhere near."""
        self._path.append(self._path[-1] + self._random.randint(-9, 9) * int(action.arg))
        return Seen(value=list(self._path), done=len(self._path) > 20, reward=self._path[-1])


class GlobalWalk(Walk):
    """Uses the one generator of its process, as many environments do."""

    def __init__(self) -> None:
        super().__init__()
        self._random = random  # type: ignore[assignment]


class Gated(Environment[Do, Seen]):
    """Waits at gates that the test opens, and keeps a record of who was inside when.

    Its registers are the class's, so each test makes a subclass of its own by `fresh`.
    """

    REQUIRES_RESET = False
    log: ClassVar[list[str]]
    gate: ClassVar[threading.Event]
    entered: ClassVar[threading.Event]
    threads: ClassVar[set[tuple[int, int]]]
    inside: ClassVar[int]
    most_inside: ClassVar[int]

    @classmethod
    def fresh(cls) -> "type[Gated]":
        registers: dict[str, Any] = {
            "log": [],
            "gate": threading.Event(),
            "entered": threading.Event(),
            "threads": set(),
            "inside": 0,
            "most_inside": 0,
        }
        return type("Gated", (cls,), registers)

    def __init__(self) -> None:
        self._note("made")

    def reset(self, **options: Any) -> Seen:
        """Waits if told to."""
        return self._call("reset", options.get("wait", False))

    def step(self, action: Do) -> Seen:
        """Waits if told to."""
        return self._call(action.what, action.arg)

    def close(self) -> None:
        """Says so."""
        self._note("closed")

    @property
    def state(self) -> State:
        """Counts as a call."""
        self._note("state")
        return State()

    def _note(self, what: str) -> None:
        self.log.append(what)
        self.threads.add((id(self), threading.get_ident()))

    def _call(self, what: str, wait: bool | None) -> Seen:
        cls = type(self)
        self._note(what)
        cls.inside += 1
        cls.most_inside = max(cls.most_inside, cls.inside)
        try:
            if wait:
                self.entered.set()
                assert self.gate.wait(15), "the test forgot to open the gate"
            return Seen(value=what)
        finally:
            cls.inside -= 1
            self.log.append(f"{what} ended")


class AsyncGated(Gated):
    """The same, awaiting."""

    stubborn = False

    async def reset_async(self, **options: Any) -> Seen:
        """Waits if told to."""
        return await self._acall("reset", options.get("wait", False))

    async def step_async(self, action: Do) -> Seen:
        """Waits if told to."""
        return await self._acall(action.what, action.arg)

    async def _acall(self, what: str, wait: bool | None) -> Seen:
        cls = type(self)
        self._note(what)
        cls.inside += 1
        cls.most_inside = max(cls.most_inside, cls.inside)
        try:
            self.entered.set()
            await asyncio.sleep(0)
            while wait and not self.gate.is_set():
                try:
                    await asyncio.sleep(0.001)
                except asyncio.CancelledError:
                    if not self.stubborn:
                        raise
            return Seen(value=what)
        finally:
            cls.inside -= 1
            self.log.append(f"{what} ended")


class AsyncWorld(World):
    """Does the same tricks, awaited."""

    async def step_async(self, action: Do) -> Seen:
        """Does a trick."""
        await asyncio.sleep(0)
        return World.step(self, action)

    async def reset_async(self, **options: Any) -> Seen:
        """Repeats its keywords."""
        return World.reset(self, **options)


def make_world() -> World:
    """A factory that says what it makes."""
    return World()


make_anything: Callable[[], Any] = make_world
