"""FaultProxy: stands between a client and its server, and disturbs what passes."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from types import TracebackType
from urllib.parse import urlsplit

from typing_extensions import Self

from openenv.client.endpoint import normalised
from openenv.protocol.errors import ConfigurationError
from openenv.testing.fates import Refusal
from openenv.testing.faults import (
    DIRECTIONS,
    FRAME_FAULTS,
    Counter,
    Counts,
    Direction,
    Faults,
    FrameFault,
)
from openenv.testing.relay import Relay, Target

PATIENCE_S = 10.0
"""How long the proxy's own thread may take to begin, to do what it is told, or to end."""


class FaultProxy:
    """A proxy on loopback that disturbs WebSocket frames on purpose, to test one's own stack.

        with FaultProxy("http://localhost:8000", Faults(delay=0.05, cut_after=0.01)) as proxy:
            with MyEnv(base_url=proxy.url) as env:
                env.reset()
                proxy.cut()                # the network breaks; does the episode go on?
                env.step(MyAction())
            print(proxy.counts)

    Plain HTTP passes untouched. Of a WebSocket connection the handshake can be refused, and each
    frame delayed, doubled, swallowed or cut off, by chance (`faults`) or when told to (the
    methods). The proxy runs in a thread of its own, so that it serves blocking and awaiting code
    alike. Its methods may be called from any thread, and have taken effect when they return.
    It keeps no more than about 1 MiB of a connection: who does not read is not read for.

    Chance is drawn for each connection and direction by itself, from the seed and the
    connection's number: the same frames on the same connection meet the same faults.

    Args:
        target_url: the server's address, `http://…` or `ws://…`; it may have a path.
        faults: what happens by chance: the same both ways, or by direction; nothing by default.
        seed: of that chance.

    Raises:
        ConfigurationError: `target_url` is no address, or one with TLS, which hides the frames.
    """

    def __init__(
        self,
        target_url: str,
        faults: Faults | Mapping[Direction, Faults] | None = None,
        seed: int = 0,
    ) -> None:
        target = urlsplit(normalised(target_url))
        if target.scheme != "http":
            raise ConfigurationError(
                f"the proxy must see the frames, which TLS hides, got {target_url!r}: give it the "
                "address behind the TLS"
            )
        self._target = Target(target.hostname or "", target.port or 80)
        self._path = target.path
        self._faults = _by_direction(faults)
        self._seed = seed
        self._counter = Counter()
        self._running: _Running | None = None

    def __enter__(self) -> Self:
        if self._running is not None:
            raise ConfigurationError("this proxy runs already: make another one")
        relay = Relay(self._target, self._faults, self._seed, self._counter)
        self._running = _Running(relay)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.stop()

    @property
    def url(self) -> str:
        """The address that clients are given instead of the server's."""
        return f"http://127.0.0.1:{self._alive.port}{self._path}"

    @property
    def counts(self) -> Counts:
        """What has passed so far and what was done to it; also after the end."""
        return self._counter.read()

    def cut(self, *, reset: bool = True) -> None:
        """Ends every connection now, with a reset (RST) or with an end (FIN)."""
        self._alive.do(lambda relay: relay.cut(reset=reset))

    def freeze(self) -> None:
        """Lets nothing through from now on, either way, and closes nothing: a dead network."""
        self._alive.do(lambda relay: relay.freeze())

    def thaw(self) -> None:
        """Lets everything through again, beginning with what was held."""
        self._alive.do(lambda relay: relay.thaw())

    def refuse(self, status: int | None = 503, times: int | None = None) -> None:
        """Refuses WebSocket handshakes from now on.

        Args:
            status: the HTTP status of the answer; `None` resets the connection instead.
            times: how many are refused; `None` is all, until `accept()`.
        """
        refusal = Refusal(status)
        refusals = itertools.repeat(refusal, *(() if times is None else (times,)))
        self._alive.do(lambda relay: relay.refuse(refusals))

    def accept(self) -> None:
        """Accepts handshakes again."""
        self._alive.do(lambda relay: relay.refuse(()))

    def swallow_next(self, direction: Direction, n: int = 1) -> None:
        """Swallows the next `n` data frames of a direction, on whatever connection they come."""
        self.disturb_next("swallow", direction, n)

    def disturb_next(self, fault: FrameFault, direction: Direction, n: int = 1) -> None:
        """Has one fault happen to each of the next `n` data frames of a direction.

        What is asked for later comes after it. How long a delay or freeze takes, and whether a
        cut is a reset, is drawn from the direction's `Faults`.

        Raises:
            ConfigurationError: there is no such fault or direction.
        """
        if fault not in FRAME_FAULTS or direction not in DIRECTIONS:
            raise ConfigurationError(
                f"the faults of a frame are {', '.join(FRAME_FAULTS)} and its directions "
                f"{', '.join(DIRECTIONS)}, got {fault!r}, {direction!r}"
            )
        self._alive.do(lambda relay: relay.disturb_next(fault, direction, n))

    @property
    def _alive(self) -> _Running:
        if self._running is None:
            raise ConfigurationError("this proxy does not run: use it inside its `with` block")
        return self._running


class _Running:
    """A relay in a thread of its own, from listening to its end."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._loop = asyncio.new_event_loop()
        listening: Future[int] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(listening,), name="openenv-fault-proxy", daemon=True
        )
        self._thread.start()
        try:
            self.port = listening.result(PATIENCE_S)
        except BaseException:
            self.stop()
            raise

    def do(self, order: Callable[[Relay], None]) -> None:
        """Has the relay do something, and waits until it is done."""

        async def obey() -> None:
            order(self._relay)

        asyncio.run_coroutine_threadsafe(obey(), self._loop).result(PATIENCE_S)

    def stop(self) -> None:
        """Ends the thread and every connection."""
        if self._thread.is_alive():
            self.do(Relay.stop)
            self._thread.join(PATIENCE_S)

    def _run(self, listening: Future[int]) -> None:
        try:
            self._loop.run_until_complete(self._relay.serve(listening))
        except BaseException as error:
            if listening.done():
                raise
            listening.set_exception(error)
        finally:
            self._loop.close()


def _by_direction(
    faults: Faults | Mapping[Direction, Faults] | None,
) -> Mapping[Direction, Faults]:
    if isinstance(faults, Faults):
        return dict.fromkeys(DIRECTIONS, faults)
    given = dict(faults or {})
    if strangers := given.keys() - set(DIRECTIONS):
        raise ConfigurationError(
            f"directions are {', '.join(DIRECTIONS)}, got {', '.join(map(repr, strangers))}"
        )
    return {direction: given.get(direction, Faults()) for direction in DIRECTIONS}
