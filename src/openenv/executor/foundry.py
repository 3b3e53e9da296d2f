"""Foundry: where interpreters come from. Executors that want the same share one."""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
import threading
from collections.abc import Hashable
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from typing import Any, ClassVar

from openenv.executor.birth import InterpreterBirth
from openenv.executor.interpreter import Interpreter
from openenv.protocol.errors import OpenEnvError, SessionError
from openenv.runtime.nursery import Nursery

PATIENCE_S = 120.0
"""How long importing may take, or making an interpreter."""
WHOSE = "what runs Python code"


class ExecutorFailed(OpenEnvError, RuntimeError):
    """There is no interpreter to run code in: none can be made, or the executor is closed."""


class Foundry:
    """Has a zygote fork interpreters, one of them in advance. Lives on a thread of its own.

    Made by `shared`, which counts who has it, and given back by `release`.
    """

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _all: ClassVar[dict[Any, Foundry]] = {}

    def __init__(self, key: Any, birth: InterpreterBirth) -> None:
        self._key = key
        self._users = 0
        self._spare: Interpreter | None = None
        self._preparing: asyncio.Task[None] | None = None
        self._loop = asyncio.new_event_loop()
        self._nursery = Nursery(WHOSE, birth, _variables(), patience_s=PATIENCE_S)
        self._thread = threading.Thread(target=self._run, name="openenv-executor", daemon=True)
        self._thread.start()
        self._loop.call_soon_threadsafe(self._nursery.warm_up)

    @classmethod
    def shared(cls, key: Any, birth: InterpreterBirth) -> Foundry:
        """The one of that key, made if there is none."""
        with cls._lock:
            foundry = cls._all.get(key)
            if foundry is None:
                foundry = cls._all[key] = cls(key, birth)
            foundry._users += 1
            return foundry

    def release(self) -> None:
        """Gives it back; the last one to do so ends it."""
        with self._lock:
            self._users -= 1
            if self._users:
                return
            self._all.pop(self._key, None)
        self._stop()

    @classmethod
    def stop_all(cls) -> None:
        """Ends all there are, whoever has them."""
        with cls._lock:
            foundries = [*cls._all.values()]
            cls._all.clear()
        for foundry in foundries:
            foundry._stop()

    @classmethod
    def forget_all(cls) -> None:
        """In a forked process: they are its parent's."""
        cls._lock = threading.Lock()
        cls._all = {}

    def take(self) -> Interpreter:
        """An interpreter that is about to be ready: the spare one, or a new one.

        Raises:
            ExecutorFailed: none can be made.
        """
        with self._lock:
            spare, self._spare = self._spare, None
        interpreter = spare
        if interpreter is None or interpreter.death is not None:
            if interpreter is not None:
                interpreter.close()
            interpreter = self._make()
        with suppress(RuntimeError):  # it is being stopped
            self._loop.call_soon_threadsafe(self._prepare)
        return interpreter

    def _make(self) -> Interpreter:
        if self._loop.is_closed():
            raise ExecutorFailed("Python is ending")
        made = asyncio.run_coroutine_threadsafe(self._born(), self._loop)
        try:
            return made.result(PATIENCE_S)
        except (SessionError, OSError) as error:
            message = error.message if isinstance(error, SessionError) else str(error)
            raise ExecutorFailed(f"no interpreter can be made: {message}") from error
        except FutureTimeoutError:
            raise ExecutorFailed(f"no interpreter was made within {PATIENCE_S:g} s") from None
        finally:
            made.cancel()  # what is made all the same sees that nobody holds its line

    async def _born(self) -> Interpreter:
        interpreter = Interpreter()
        try:
            await self._nursery.fork(interpreter)
        except BaseException:
            interpreter.close()
            raise
        return interpreter

    def _prepare(self) -> None:
        """On the loop: makes a spare one, if there is none."""
        if self._spare is None and self._preparing is None and self._users:
            self._preparing = asyncio.ensure_future(self._make_spare())

    async def _make_spare(self) -> None:
        try:
            self._spare = await self._born()
        except (SessionError, OSError):  # whoever needs one will be told
            pass
        finally:
            self._preparing = None

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    def _stop(self) -> None:
        """Ends the zygote and with it every interpreter, then the thread. Twice is once."""
        if self._loop.is_closed():
            return
        with suppress(FutureTimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(PATIENCE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)

    async def _end(self) -> None:
        if (preparing := self._preparing) is not None:
            preparing.cancel()
            await asyncio.wait([preparing])
        await self._nursery.close()
        if self._spare is not None:
            self._spare.close()


class Warmth:
    """Keeps what makes interpreters of one kind, also while there is no executor of that kind.

    Attributes:
        kind: what executors have in common that share it.
    """

    def __init__(self, kind: Hashable, birth: InterpreterBirth) -> None:
        self.kind = kind
        self._owner: int | None = os.getpid()
        self._foundry = Foundry.shared(kind, birth)

    def close(self) -> None:
        """Lets it go. Twice is as good as once, and in a forked process it is another's."""
        if self._owner == os.getpid():
            self._owner = None
            self._foundry.release()


def _variables() -> dict[str, str]:
    """All that interpreters know of variables: how this Python is found, and good manners."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path),
        "PYTHONSAFEPATH": "1",
        "PYTHONHASHSEED": "0",  # the order of sets is the same in every run
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


atexit.register(Foundry.stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Foundry.forget_all)
