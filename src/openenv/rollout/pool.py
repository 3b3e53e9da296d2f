"""EnvPool: many sessions that are stepped as one, blocking or awaiting."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Generic, NoReturn, TypeVar, cast

from typing_extensions import Self

from openenv.client.codec import ActT, ObsT
from openenv.client.env_client import EnvClient
from openenv.client.generic import GenericEnvClient
from openenv.client.modes import Colour, TwoColoured
from openenv.client.pending import Pending
from openenv.protocol.errors import ConfigurationError
from openenv.rollout.agreed_lane import AgreedLane
from openenv.rollout.arguments import Encoder, addresses, chosen, seeded, whole
from openenv.rollout.background import Background
from openenv.rollout.batch import Batch, Row
from openenv.rollout.lanes import Lane, sockets_for, spread
from openenv.rollout.metrics import PoolMetrics
from openenv.rollout.scheduler import Scheduler
from openenv.rollout.slots import Autoreset

ResultT = TypeVar("ResultT")
PLAIN: Any = GenericEnvClient
Hook = Callable[[PoolMetrics], object]


class PendingBatch(Batch[ObsT]):
    """What type checkers see where a pool may block or be awaited.

    A blocking call gives a `Batch`; an awaiting one something that gives it when awaited.
    """

    def __await__(self) -> Generator[Any, None, Batch[ObsT]]:
        """The batch, awaited."""
        raise NotImplementedError("only for type checkers")


class EnvPool(TwoColoured, Generic[ActT, ObsT]):
    """A number of sessions, its *slots*, that are reset and stepped together.

        with EnvPool("http://localhost:8000", 64, EchoEnv) as pool:
            batch = pool.reset(seeds=0)
            batch = pool.step([EchoAction(message="hi")] * 64)
            print(batch.rewards.mean(), batch.stacked["message_length"])

    Blocking or awaiting as an `EnvClient` is: plain calls, `with` and `.sync()` block, `async with`
    awaits, and the first use settles which. A blocking pool's sockets live in one thread of its
    own, which ends with `close()`, with the pool, or with the interpreter; after `fork` the pool
    stays with its parent. An awaiting pool lives in the event loop of its first call.

    One slot's fault is its own: its row is not `valid` and says why, and the next call of that
    slot begins an episode on a fresh session. An error of the environment itself (a bad action, a
    step that raises) marks the row too, and its episode goes on.

    Args:
        url_or_urls: a server's address, or several; slots are spread over them evenly, in order.
        size: slots, each a session of its own.
        client: the client class whose types and encodings are used; plain dicts by default.
        autoreset: what follows an episode's end, as Gymnasium defines it. `"next_step"`: the
            slot's next step is a reset, its action is ignored, its reward is 0. `"same_step"`: the
            reset follows at once; the row has the new episode's first observation, the old one's
            reward and end, and its last result in `final`. `"disabled"`: nothing; use `reset`.
            A reset of either kind repeats the options of the slot's last `reset`, not its seed.
        sockets: connections per server; about one for 64 slots by default. A server that speaks
            only v1 needs one for each slot.
        timeout_s: how long one slot's call may take, after which its session is given up; by
            default as long as the server allows (v1: 60).
        wait_s: how long to queue for sessions when a server is full; 0 fails at once.
        headers: extra headers of the handshake, for example `Authorization`.
        on_batch: called with the pool's metrics for each batch, before the caller gets it.
        protocol: `"v1"` forces that version of the wire; agreed with each server by default.

    Raises:
        ConfigurationError: an argument is wrong.
    """

    def __init__(  # noqa: PLR0913  # each is a user's to set
        self,
        url_or_urls: str | Sequence[str],
        size: int,
        client: type[EnvClient[ActT, ObsT, Any]] = PLAIN,
        *,
        autoreset: str = "next_step",
        sockets: int | None = None,
        timeout_s: float | None = None,
        wait_s: float = 0.0,
        headers: Mapping[str, str] | None = None,
        on_batch: Hook | None = None,
        protocol: str | None = None,
    ) -> None:
        self._size = whole("size", size)
        self._urls = addresses(url_or_urls, self._size)
        if sockets is not None:
            sockets = whole("sockets", sockets)
        self._client = _client_class(client)
        self._autoreset = _autoreset(autoreset)
        self._on_batch = on_batch
        self._headers = dict(headers or {})
        options: dict[str, Any] = {"headers": headers, "protocol": protocol}
        if timeout_s is not None:
            options["message_timeout_s"] = timeout_s
        self._encoder = Encoder(client(self._urls[0], **options))
        lanes: list[tuple[Lane, range]] = []
        for url, slots in zip(self._urls, spread(range(self._size), len(self._urls)), strict=True):
            for share in spread(slots, sockets or sockets_for(slots)):
                lane = AgreedLane(share, partial(client, url, **options), wait_s, timeout_s)
                lanes.append((lane, share))
        self._scheduler = Scheduler(lanes, self._autoreset)
        self._background = Background(self._scheduler.close)
        self._pid = os.getpid()
        weakref.finalize(self, _give_up, self._scheduler, self._background)

    @property
    def size(self) -> int:
        """Slots."""
        return self._size

    @property
    def urls(self) -> tuple[str, ...]:
        """The servers' addresses."""
        return tuple(self._urls)

    @property
    def headers(self) -> Mapping[str, str]:
        """The extra headers of each handshake."""
        return dict(self._headers)

    @property
    def client(self) -> type[EnvClient[ActT, ObsT, Any]]:
        """The client class whose types and encodings are used."""
        return self._client

    @property
    def autoreset(self) -> str:
        """What follows an episode's end: `next_step`, `same_step` or `disabled`."""
        return self._autoreset.value

    @property
    def metrics(self) -> PoolMetrics:
        """What was counted so far."""
        return self._scheduler.metrics

    def reset(
        self,
        seeds: int | Sequence[int | None] | None = None,
        *,
        slots: Sequence[int] | None = None,
        **options: Any,
    ) -> PendingBatch[ObsT]:
        """Begins an episode in each slot. What is outstanding there is awaited and dropped.

        Args:
            seeds: one for each slot, or a number, to which each slot adds its own.
            slots: which; all by default.
            **options: what the environment's `reset` takes, the same for each slot.

        Raises:
            SessionCapacityError: at the first reset: a server holds fewer sessions than the pool
                wants of it.
            OpenEnvError: at the first reset: not one session could be started; the first error.
            ConfigurationError: an argument is wrong.
            SessionLost: the pool is closed.
        """
        for name, instead in (("seed", "seeds"), ("timeout_s", "EnvPool(timeout_s=…)")):
            if name in options:
                raise ConfigurationError(f"reset() of a pool takes no {name}: use {instead}")
        which = chosen(slots, self._size)
        begins = seeded(seeds, which)
        return self._batch_of("reset", partial(self._scheduler.reset, which, begins, options))

    def step(
        self, actions: Sequence[ActT] | Any, *, slots: Sequence[int] | None = None
    ) -> PendingBatch[ObsT]:
        """Takes an action in each slot and waits for all of them.

        If the wait is interrupted (Ctrl-C, cancellation), the steps stay outstanding.

        Args:
            actions: one for each slot: whatever the client's `step` takes. Where its action model
                has but one field, the bare value of that field will do, so that an array of shape
                `(len(slots),)` is a batch of actions.
            slots: which; all by default.

        Raises:
            ConcurrentCall: a slot has a step outstanding; the text names it.
            ResetRequired: a slot has never been reset.
            ConfigurationError: an argument is wrong, or an action cannot be sent; none was.
            SessionLost: the pool is closed.
        """
        which = chosen(slots, self._size)
        payloads = self._encoder.payloads(actions, which)
        return self._batch_of("step", partial(self._scheduler.step, which, payloads))

    def send(self, actions: Sequence[ActT] | Any, slots: Sequence[int]) -> Pending[None]:
        """Takes an action in each slot and waits for none; `recv` has the results.

        Arguments and errors as `step`.
        """
        which = chosen(slots, self._size)
        payloads = self._encoder.payloads(actions, which)
        work = partial(self._scheduler.send, which, payloads)
        return cast("Pending[None]", self._operate("send", work, lambda nothing: nothing))

    def recv(
        self, min_ready: int | None = None, timeout_s: float | None = None
    ) -> PendingBatch[ObsT]:
        """The results of slots that are ready, in the order in which they came.

        Args:
            min_ready: how many to wait for at least; all that are outstanding by default.
            timeout_s: how long to wait for them; what is ready by then is returned, even nothing.

        Raises:
            ConfigurationError: nothing is outstanding, or `min_ready` is no whole number from 1.
            SessionLost: the pool is closed.
        """
        fewest = None if min_ready is None else whole("min_ready", min_ready)
        return self._batch_of("recv", partial(self._scheduler.receive, fewest, timeout_s))

    def close(self) -> Pending[None]:
        """Ends every session; when it returns the servers have freed them. Twice does no harm."""
        return cast("Pending[None]", self._do("close", self._close, self._aclose))

    def sync(self) -> Self:
        """This pool, blocking from now on."""
        self._claim(Colour.BLOCKING)
        return self

    def __len__(self) -> int:
        return self._size

    def __enter__(self) -> Self:
        """The pool, blocking."""
        return self.sync()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes."""
        self.close()

    async def __aenter__(self) -> Self:
        """The pool, awaiting."""
        self._claim(Colour.AWAITING)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes."""
        await self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a pool does not travel between processes: make one in each")

    def _batch_of(
        self, name: str, work: Callable[[], Coroutine[Any, Any, list[Row]]]
    ) -> PendingBatch[ObsT]:
        return cast("PendingBatch[ObsT]", self._operate(name, work, self._delivered))

    def _delivered(self, rows: list[Row]) -> Batch[ObsT]:
        if self._on_batch is not None:
            self._on_batch(self.metrics)
        return Batch(rows)

    def _operate(
        self,
        name: str,
        work: Callable[[], Coroutine[Any, Any, ResultT]],
        finish: Callable[[ResultT], Any],
    ) -> Any:
        """A call: worked on by the event loop, finished where it was made."""
        if self._pid != os.getpid():
            raise ConfigurationError(
                "this process was forked, and the pool stays with its parent: make one here"
            )
        self._scheduler.refuse_if_closed()

        async def wait() -> Any:
            return finish(await work())

        return self._do(name, lambda: finish(self._background.run(work())), wait)

    def _close(self) -> None:
        self._scheduler.closed = True
        self._background.close()

    async def _aclose(self) -> None:
        if self._pid == os.getpid():
            await self._scheduler.close()


def _give_up(scheduler: Scheduler, background: Background) -> None:
    """Ends the sessions of a pool that nobody holds any more."""
    background.stop()
    scheduler.abandon()


def _client_class(client: type[EnvClient[ActT, ObsT, Any]]) -> type[EnvClient[ActT, ObsT, Any]]:
    if not (isinstance(client, type) and issubclass(client, EnvClient)):
        raise ConfigurationError(f"client must be a subclass of EnvClient, got {client!r}")
    return client


def _autoreset(name: str) -> Autoreset:
    try:
        return Autoreset(name)
    except ValueError:
        known = ", ".join(mode.value for mode in Autoreset)
        raise ConfigurationError(f"autoreset must be one of {known}, got {name!r}") from None
