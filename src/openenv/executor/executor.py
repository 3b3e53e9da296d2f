"""PythonExecutor: runs code that nobody has looked at."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

from openenv.executor.birth import InterpreterBirth
from openenv.executor.exchange import Exchange, Loss, Lost, is_quiet
from openenv.executor.foundry import ExecutorFailed, Foundry, Warmth
from openenv.executor.inside import Inside, insiders
from openenv.executor.interpreter import Interpreter
from openenv.executor.limits import ExecutorLimits
from openenv.executor.result import CodeError, CodeResult
from openenv.executor.tools import Tools
from openenv.executor.verdict import of_loss, of_outcome
from openenv.executor.wire import OVERHEAD_BYTES, Run
from openenv.executor.worker import Order
from openenv.protocol.errors import ConcurrentCall, ConfigurationError
from openenv.runtime.concealed import find_concealed
from openenv.runtime.nursery import FORKS

if TYPE_CHECKING:
    from openenv.runtime.confine import Isolation
    from openenv.runtime.sandbox import Sandbox

BIRTH_S = 60.0
"""How long a new interpreter may take, its setup included."""
TOKEN_BYTES = 16
DEFAULT = ExecutorLimits()


class PythonExecutor:
    """Runs pieces of Python code one after the other, in one interpreter, in a sandbox.

    Variables, functions and files last until `reset`. The code is nobody's friend: an endless loop,
    a memory bomb or a crash costs it its interpreter, and the caller nothing.

    A call of `run` or `reset` while another one runs is refused with `ConcurrentCall`; `close` may
    be called at any time, from any thread or signal handler. One that is dropped without it keeps
    its interpreter until Python ends.

    Executors with the same configuration share what makes their interpreters.

    Args:
        limits: what the interpreter may use.
        imports: top-level modules that the code may import, for example `("math", "numpy")`; by
            default whatever is installed. A matter of the task's rules, not of safety.
        preload: modules that are imported once, before any interpreter is made: importing them is
            fast then. Code can read their files, wherever those are.
        tools: functions that the code may call by these names. They run here, in the caller's
            process, in a thread of their own, with arguments and results that JSON can say; what
            they raise is raised in the code. One that is `Inside(function)` runs in the
            interpreter itself.
        setup: code that is run first in each interpreter, and prints nothing.
        isolation: `best`, what this machine can do; `strict`, all or a `ConfigurationError`.

    Raises:
        ConfigurationError: something of this cannot be, or this system is not Linux.
    """

    def __init__(
        self,
        *,
        limits: ExecutorLimits = DEFAULT,
        imports: Collection[str] | None = None,
        preload: Sequence[str] = (),
        tools: Mapping[str, Callable[..., Any] | Inside] = MappingProxyType({}),
        setup: str = "",
        isolation: Isolation = "best",
    ) -> None:
        self._limits = limits
        inside = insiders(tools)
        self._tools = Tools({n: f for n, f in tools.items() if n not in inside}, limits)
        imported = (tool.module for tool in inside.values())
        order = Order(
            limits=limits,
            imports=None if imports is None else tuple(sorted(_modules("imports", imports))),
            preload=tuple(dict.fromkeys((*_modules("preload", preload), *imported))),
            tools=self._tools.described,
            setup="".join(tool.imported_as(name) for name, tool in inside.items()) + setup,
        )
        self._sandbox = _sandbox(order, isolation)
        self._birth = InterpreterBirth(order=order, sandbox=self._sandbox)
        self._kind = (order, isolation, tuple(sys.path))
        self._foundry = Foundry.shared(self._kind, self._birth)
        self._interpreter: Interpreter | None = None
        self._seed: int | None = None
        self._turn = threading.Lock()
        self._turn_of: int | None = None
        self._owner = os.getpid()
        self._is_closed = False
        self._has_ended = False

    @property
    def sandbox(self) -> dict[str, Any]:
        """What confines the code: `level` ("full", "partial", "none"), `in_force`, `missing`."""
        return self._sandbox.report()

    def keep_warm(self) -> Warmth:
        """Keeps what makes its interpreters, and those of others like it, until that is closed."""
        return Warmth(self._kind, self._birth)

    def run(self, code: str, *, timeout_s: float | None = None) -> CodeResult:
        """Runs a piece of code, and waits for it.

        Args:
            code: whole statements; the value of an expression at their end is in the result.
            timeout_s: seconds that it may take, by default those of the limits.

        Returns:
            What came of it. Whatever the code does, it is told here and raises nothing.

        Raises:
            ConcurrentCall: another call is running.
            ExecutorFailed: no interpreter can be made, or the executor is closed.
        """
        patience = self._limits.timeout_s if timeout_s is None else timeout_s
        if not (math.isfinite(patience) and patience > 0):
            raise ConfigurationError(f"timeout_s must be more than 0 seconds, got {timeout_s!r}")
        text = code.encode(errors="surrogatepass")
        with self._alone():
            if len(text) > self._limits.code_bytes:
                return _too_long(len(text), self._limits.code_bytes)
            interpreter, had_died = self._living()
            return self._run(interpreter, text, patience, had_died=had_died)

    def reset(self, *, seed: int | None = None) -> None:
        """A fresh interpreter: variables, files and processes of the old one are gone.

        Args:
            seed: of its global random generators, those of Python and of a preloaded numpy, and of
                those that replace it until the next reset. Without one they are left to chance.

        Raises:
            ConcurrentCall: another call is running.
            ExecutorFailed: no interpreter can be made, or the executor is closed.
        """
        with self._alone():
            self._discard()
            self._seed = seed
            self._begin()

    def close(self) -> None:
        """Ends the interpreter, in the middle of a call if need be. Twice is as good as once."""
        if self._is_closed or os.getpid() != self._owner:
            return
        self._is_closed = True
        if (interpreter := self._interpreter) is not None:
            interpreter.kill()
        self._tools.cancel()
        if self._turn_of == threading.get_ident():  # in a signal handler: its call does the rest
            return
        with self._turn:
            if interpreter is not None:
                interpreter.end()
            self._end()

    def _end(self) -> None:
        """Gives back what a closed executor holds, in its turn."""
        if not self._has_ended:
            self._has_ended = True
            self._discard()
            self._foundry.release()

    def _run(
        self, interpreter: Interpreter, code: bytes, patience: float, *, had_died: bool
    ) -> CodeResult:
        began = time.monotonic()
        interpreter.runs += 1
        self._tools.begin()
        exchange = self._exchange(interpreter, patience)
        try:
            outcome = exchange.outcome(
                Run(os.urandom(TOKEN_BYTES), code, interpreter.runs, self._seed_of(interpreter)),
                lambda call: self._tools.serve(call, exchange.left_s),
            )
            result = of_outcome(outcome, exchange, self._limits)
            if outcome.exhausted:
                self._discard()
        except Lost as lost:
            death = interpreter.end(naturally=lost.loss is Loss.DEATH)
            result = of_loss(lost.loss, exchange, death, patience)
            self._discard()
        except BaseException:  # Ctrl-C, most likely: nobody waits for what it would say
            self._discard()
            raise
        restarted = had_died or self._interpreter is None
        return replace(result, restarted=restarted, duration_s=time.monotonic() - began)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if os.getpid() != self._owner:
            raise ExecutorFailed("this executor was made in another process; make one here")
        if not self._turn.acquire(blocking=False):
            self._check_open()  # it may be closing
            raise ConcurrentCall(
                "this executor is running code; wait for it, or use an executor of your own"
            )
        self._turn_of = threading.get_ident()
        try:
            self._check_open()
            yield
        finally:
            self._turn_of = None
            if self._is_closed:
                self._end()
            self._turn.release()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ExecutorFailed("this executor is closed")

    def _living(self) -> tuple[Interpreter, bool]:
        """The interpreter, and whether it replaces one that has died since the last call."""
        current = self._interpreter
        if current is not None and is_quiet(current):
            return current, False
        self._discard()
        return self._begin(), current is not None

    def _begin(self) -> Interpreter:
        self._interpreter = interpreter = self._foundry.take()
        try:
            self._check_open()
            why_not = self._exchange(interpreter, BIRTH_S).ready().why_not
        except Lost as lost:
            death = interpreter.end(naturally=lost.loss is Loss.DEATH)
            cause = "" if death is None else f" ({death.cause})"
            why_not = f"a new interpreter is not ready: {lost}{cause}"
        except BaseException:
            self._discard()
            raise
        if why_not:
            self._discard()
            raise ExecutorFailed(why_not)
        return interpreter

    def _seed_of(self, interpreter: Interpreter) -> str:
        """What it is told with the first piece of code that it runs."""
        return "" if self._seed is None or interpreter.runs > 1 else str(self._seed)

    def _exchange(self, interpreter: Interpreter, patience: float) -> Exchange:
        limits = self._limits
        most = limits.output_bytes + limits.artefact_bytes + limits.tool_bytes + OVERHEAD_BYTES
        until = time.monotonic() + patience
        return Exchange(interpreter, most=most, kept=limits.output_bytes, until=until)

    def _discard(self) -> None:
        interpreter, self._interpreter = self._interpreter, None
        if interpreter is not None:
            interpreter.kill()
            interpreter.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _sandbox(order: Order, isolation: Isolation) -> Sandbox:
    if not FORKS:
        raise ConfigurationError(
            f"PythonExecutor needs Linux, and this is {sys.platform}; run it in a container"
        )
    from openenv.runtime.confine import Confinement, shield  # of Linux alone
    from openenv.runtime.sandbox import Sandbox

    readable = tuple(place for name in order.preload for place in _places(name))
    confinement = Confinement(
        memory_bytes=order.limits.memory_bytes,
        max_processes=order.limits.processes,
        tmp_bytes=order.limits.files_bytes,
        cpus=order.limits.cpus,
        readable=readable,
        concealed=find_concealed(readable),
    )
    sandbox = Sandbox.around(confinement, isolation)
    if "pidns" not in sandbox.features:  # its processes would see ours
        shield()
    return sandbox


def _places(module: str) -> Iterator[str]:
    """The files and directories of a package or module; none, where it is not found or built in."""
    with suppress(ImportError, ValueError):
        found = find_spec(module.partition(".")[0])
        if found is not None and found.submodule_search_locations is not None:
            yield from map(os.path.abspath, found.submodule_search_locations)
        elif found is not None and found.has_location and found.origin is not None:
            yield os.path.abspath(found.origin)


def _modules(option: str, names: Collection[str]) -> tuple[str, ...]:
    found = tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in found):
        raise ConfigurationError(f"{option} must be names of modules, got {names!r}")
    return found


def _too_long(size: int, limit: int) -> CodeResult:
    message = f"the code has {size} bytes, more than the limit of {limit}; nothing of it was run"
    text = f"CodeTooLong: {message}\n"
    error = CodeError(type="CodeTooLong", message=message, traceback=text)
    return CodeResult(exit_code=1, stderr=text, error=error)
