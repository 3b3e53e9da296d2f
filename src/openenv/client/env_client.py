"""EnvClient: one client's hold on one environment, blocking or awaiting."""

from __future__ import annotations

import asyncio
import math
import os
import weakref
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from typing_extensions import Self

from openenv import settings
from openenv._flow import Flow, adrive, drive
from openenv.client.adoptive import Adoptive
from openenv.client.codec import ActT, Codec, ObsT, StateT
from openenv.client.conversation import Conversation
from openenv.client.drivers import AwaitingDriver, BlockingDriver
from openenv.client.effects import Connect, Effect, Open
from openenv.client.endpoint import Endpoint, normalised, offers
from openenv.client.launching import Launched
from openenv.client.modes import Colour, TwoColoured
from openenv.client.own_server import OwnServer
from openenv.client.pending import Pending
from openenv.client.results import PendingResult
from openenv.protocol.errors import ConcurrentCall, ConfigurationError
from openenv.protocol.wire import ServerMode

if TYPE_CHECKING:
    from openenv.client.sync_client import SyncEnvClient
    from openenv.client.transports import AwaitingTransport, BlockingTransport

ResultT = TypeVar("ResultT")
DEFAULT_TIMEOUT_S = 60.0
"""The default of `message_timeout_s`, told by its identity from a 60 that a caller chose."""


class EnvClient(
    TwoColoured, Launched, Adoptive, Codec[ActT, ObsT, StateT], Generic[ActT, ObsT, StateT]
):
    """A client of one environment, typed by its subclass line; no method need be written.

        class EchoEnv(EnvClient[EchoAction, EchoObservation, State]):
            \"\"\"Client of the echo environment.\"\"\"

        with EchoEnv(base_url="http://localhost:8000") as env:
            result = env.reset(seed=1)
            result = env.step(EchoAction(message="hi"))

    Outside a running event loop a call blocks and returns its result. Inside one it can be
    awaited; if an attribute of its result is read instead, it blocks there too. The first use
    settles which, for the client's whole life. Nothing connects before the first call.

    One client holds one episode and makes one call at a time, from any thread. After `fork` the
    child's first `reset()` opens a session of its own; a pickled client does likewise.

    Args:
        base_url: the server's address; not needed with a provider.
        connect_timeout_s: for one attempt to connect.
        message_timeout_s: how long a call waits for its answer, unless it says otherwise; `None`
            for ever. By default as long as the server lets a call run, if the server tells (v2);
            a connection that dies is noticed sooner by its pings.
        max_message_size_mb: the largest answer that is read.
        websocket_ping_interval_s: how often a quiet connection is pinged; `None` never.
        websocket_ping_timeout_s: how long a ping may stay unanswered; `None` for ever.
        provider: starts the server at the first connection and stops it with `close()`; with a
            base_url, it has started it already.
        mode: `simulation` or `production`; `OPENENV_CLIENT_MODE`, else simulation, by default.
        headers: extra headers of the handshake, for example `Authorization`, which is otherwise
            the token in `OPENENV_CLIENT_TOKEN`, if that is set.
        connect_retries: further attempts when nobody listens or the server is busy.
        wait_s: how long to queue when the server is full; 0 fails at once.
        protocol: `v1`, `v2+msgpack` or `v2+json`; by default the best that the server knows. One
            that knows no v2 is spoken to in v1 whatever is asked for.

    Raises:
        ConfigurationError: `base_url` is missing or no address, or there is no such provider,
            mode or protocol.
    """

    _sync_client: weakref.ref[SyncEnvClient[ActT, ObsT, StateT]] | None

    def __init__(
        self,
        base_url: str | None = None,
        connect_timeout_s: float = 10.0,
        message_timeout_s: float | None = DEFAULT_TIMEOUT_S,
        max_message_size_mb: float = 100.0,
        websocket_ping_interval_s: float | None = 20.0,
        websocket_ping_timeout_s: float | None = 20.0,
        provider: Any = None,
        mode: ServerMode | str | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        connect_retries: int = 3,
        wait_s: float = 0.0,
        protocol: str | None = None,
    ) -> None:
        if base_url is None and provider is None:
            raise ConfigurationError(
                "base_url is missing: pass the server's address, or a provider that starts one"
            )
        self._server = None if provider is None else OwnServer.of(provider, base_url)
        self._endpoint = Endpoint(
            "" if base_url is None else normalised(base_url),
            settings.client_headers(headers),
            connect_timeout_s,
            connect_retries,
            websocket_ping_interval_s,
            websocket_ping_timeout_s,
            int(max_message_size_mb * 1024 * 1024),
            wait_s,
            offers(protocol, msgpack=self._reads_msgpack),
        )
        self._message_timeout = _told(message_timeout_s)
        self._mode = self._usual_mode() if mode is None else settings.mode(mode)
        self._start_afresh()

    @property
    def base_url(self) -> str | None:
        """The server's address; `None` while a server of the client's own is not running."""
        if self._server is not None and self._server.running is None:
            return None
        return self._endpoint.base_url

    @property
    def mode(self) -> ServerMode:
        """For whom it speaks: a trainer (simulation) or an agent (production)."""
        return self._mode

    @property
    def protocol(self) -> str | None:
        """What was agreed with the server: `v1`, `v2+msgpack` or `v2+json`; `None` before that."""
        return self._conversation.protocol

    def connect(self) -> Pending[Self]:
        """Opens the session now, rather than at the first call.

        Raises:
            ConnectFailed: no server answered.
            SessionError: the server refused, for example `SessionCapacityError`.
            ProviderError: the client's own server could not be started.
        """

        def flow() -> Flow[Effect, Self]:
            yield from self._conversation.open()
            return self

        return cast("Pending[Self]", self._operate("connect", flow()))

    def reset(self, *, timeout_s: float | None = None, **kwargs: Any) -> PendingResult[ObsT]:
        """Begins an episode; connects first if need be, on a new session if the old one is gone.

        Args:
            timeout_s: how long to wait; `message_timeout_s` by default.
            **kwargs: `seed` (int ≥ 0), `episode_id` (≤ 255 characters) and whatever else the
                environment's `reset` takes.

        Raises:
            SessionError: the server's typed answer, for example `InvalidRequest`,
                `EnvironmentFailed` or `SessionCapacityError`.
            ConnectFailed: no server answered.
            ReplyTimeout: no answer came in time.
        """
        flow = self._conversation.reset(kwargs, timeout_s, self._read_result)
        return cast("PendingResult[ObsT]", self._operate("reset", flow))

    def step(self, action: ActT, timeout_s: float | None = None) -> PendingResult[ObsT]:
        """Takes one action in the episode.

        Args:
            action: what to do.
            timeout_s: how long to wait; `message_timeout_s` by default.

        Raises:
            SessionLost: the episode is gone; it never goes on in another session.
            SessionError: otherwise as `reset`.
            ConnectFailed: the connection broke and could not be made again; the next call tries to
                resume the session.
            ReplyTimeout: no answer came in time. The action may still be taken, once; the next
                call comes after it (v1: the episode is lost).
        """
        flow = self._conversation.step(self._data_of(action), timeout_s, self._read_result)
        return cast("PendingResult[ObsT]", self._operate("step", flow))

    def state(self, timeout_s: float | None = None) -> Pending[StateT]:
        """Where the episode stands; errors as `step`."""
        flow = self._conversation.state(timeout_s, self._parse_state)
        return cast("Pending[StateT]", self._operate("state", flow))

    def close(self) -> Pending[None]:
        """Ends the session; when it returns the server has freed its slot. Twice does no harm.

        A server of the client's own is stopped.
        """
        return cast("Pending[None]", self._operate("close", self._conversation.close(), last=True))

    def disconnect(self) -> Pending[None]:
        """The same as `close`, but a server of the client's own runs on."""
        if self._server is None:
            return self.close()
        return cast("Pending[None]", self._operate("disconnect", self._conversation.close()))

    def sync(self) -> SyncEnvClient[ActT, ObsT, StateT]:
        """The blocking form of this client, precisely typed."""
        made = None if self._sync_client is None else self._sync_client()
        if made is None:
            self._claim(Colour.BLOCKING)
            made = self._sync_form()
            self._sync_client = weakref.ref(made)  # a cycle would keep what the user let go
        return made

    def __enter__(self) -> Self:
        """Connects, blocking."""
        self._claim(Colour.BLOCKING)
        self.connect()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes."""
        self.close()

    async def __aenter__(self) -> Self:
        """Connects, awaiting."""
        self._claim(Colour.AWAITING)
        await self.connect()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes."""
        await self.close()

    def __getstate__(self) -> dict[str, Any]:
        """A pickled client is a new one with the same settings: sessions do not travel."""
        if self._server is not None and self._server.running is None:
            raise ConfigurationError(
                "this client's own server is not running, and a copy starts none: connect() first"
            )
        own = ("_blocking", "_awaiting", "_conversation", "_sync_client", "_pid", "_colour")
        kept = {name: value for name, value in self.__dict__.items() if name not in own}
        return kept | {"_server": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """See `__getstate__`."""
        self.__dict__.update(state)
        self._start_afresh()

    @classmethod
    def _usual_mode(cls) -> ServerMode:
        """The mode of a client that was given none."""
        return settings.client_mode()

    def _sync_form(self) -> SyncEnvClient[ActT, ObsT, StateT]:
        from openenv.client.sync_client import SyncEnvClient

        return SyncEnvClient(self)

    def _start_afresh(self) -> None:
        self._conversation = Conversation(self._endpoint, self._message_timeout)
        self._blocking = BlockingDriver()
        self._awaiting = AwaitingDriver()
        self._sync_client = None
        self._pid = os.getpid()

    def _operate(self, name: str, flow: Flow[Effect, ResultT], *, last: bool = False) -> Any:
        return self._call(name, lambda: self._drive(flow, last), lambda: self._adrive(flow, last))

    def _call(
        self,
        name: str,
        blocking: Callable[[], ResultT],
        awaiting: Callable[[], Coroutine[Any, Any, ResultT]],
    ) -> Any:
        if os.getpid() != self._pid:
            self._leave_to_parent()
        return self._do(name, blocking, awaiting)

    def _leave_to_parent(self) -> None:
        """After a fork: the connection is the parent's. It is let go of without a word."""
        self._pid = os.getpid()
        self._conversation.leave("this process was forked, the session stays with its parent")
        self._blocking.drop()
        self._awaiting.transport = None
        if self._server is not None and self._server.running is not None:
            self._server = None  # it is the parent's too

    def _drive(self, flow: Flow[Effect, ResultT], last: bool) -> ResultT:
        server, held = self._server, self._holds_a_session()
        try:
            return drive(flow, self._perform)
        except BaseException as error:
            self._let_go(self._blocking, error)
            if server is not None and not self._conversation.is_connected:
                server.failed(error, held=held)
            raise
        finally:
            if last and server is not None:
                server.stop()

    async def _adrive(self, flow: Flow[Effect, ResultT], last: bool) -> ResultT:
        server, held = self._server, self._holds_a_session()
        loop = getattr(self._awaiting.transport, "loop", None)
        if loop is not None and loop is not asyncio.get_running_loop():
            self._conversation.cut("it was opened on another event loop")
            self._awaiting.forget(loop)
        try:
            return await adrive(flow, self._aperform)
        except BaseException as error:
            self._let_go(self._awaiting, error)
            if server is not None and not self._conversation.is_connected:
                await server.afailed(error, held=held)
            raise
        finally:
            if last and server is not None:
                await server.astop()

    def _holds_a_session(self) -> bool:
        held = self._conversation.is_connected
        if held and self._server is not None:
            self._server.was_reached = True
        return held

    def _let_go(self, driver: BlockingDriver | AwaitingDriver, error: BaseException) -> None:
        """Drops the connection of a session that was lost, so that the server frees its slot."""
        if isinstance(error, ConcurrentCall):
            return
        if not self._conversation.is_connected:
            driver.drop()

    def _perform(self, effect: Effect) -> object:
        match effect:
            case Connect():
                return self.connect()
            case Open():
                return self._blocking.open(effect, self._open_blocking)
        return self._blocking.perform(effect)

    async def _aperform(self, effect: Effect) -> object:
        match effect:
            case Connect():
                return await self.connect()
            case Open():
                return await self._awaiting.open(effect, self._open_awaiting)
        return await self._awaiting.perform(effect)

    def _open_blocking(self) -> BlockingTransport:
        from openenv.client.transports.blocking import BlockingSocket

        if self._server is not None:
            started = self._server.start(resuming=self._conversation.is_connected)
            self._endpoint = self._endpoint.at(started.url, started.headers)
        return BlockingSocket(self._endpoint)

    async def _open_awaiting(self) -> AwaitingTransport:
        from openenv.client.transports.awaiting import AwaitingSocket

        if self._server is not None:
            started = await self._server.astart(resuming=self._conversation.is_connected)
            self._endpoint = self._endpoint.at(started.url, started.headers)
        return await AwaitingSocket.open(self._endpoint)


def _told(timeout_s: float | None) -> float | None:
    """The patience that the caller chose; `None` if that was left to the server."""
    if timeout_s is DEFAULT_TIMEOUT_S:
        return None
    return math.inf if timeout_s is None else timeout_s
