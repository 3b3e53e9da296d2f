"""`WebInterfaceManager`: what a custom page plays with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from starlette.websockets import WebSocket

from openenv.env.metadata import EnvironmentMetadata
from openenv.env.serialization import prepared_action
from openenv.env.spec import AnyEnvironment, EnvironmentSource, EnvSpec
from openenv.protocol.errors import ConfigurationError, Json
from openenv.protocol.messages import Request
from openenv.protocol.wire import ServerMode
from openenv.runtime.host import Host, session_factory
from openenv.runtime.sessions import Sessions
from openenv.server.calls import Calls, told
from openenv.server.readme import metadata_of
from openenv.server.web.in_hand import InHand, LentHost
from openenv.server.web.seated import seated_episode
from openenv.server.web.shared_episode import MAX_ACTION_LOGS, EpisodeState, SharedEpisode

ResultT = TypeVar("ResultT")


class WebInterfaceManager:
    """One environment that all visitors of a custom page share, and the record of its episode.

    By itself it has an environment of its own, in this process. In a server, its episode is a
    session of that server: it counts in the capacity, and ends when nobody plays for long.

    Args:
        env: an `Environment` class, a factory or an instance.
        action_cls: its actions' class.
        observation_cls: its observations' class.
        metadata: what it tells about itself; asked of it by default.
        sessions: the server's, if it is part of one.
        calls: that server's calls over HTTP, if it is part of one.

    Attributes:
        action_cls: its actions' class.
        observation_cls: its observations' class.
        metadata: what it tells about itself.
        episode: the episode.

    Raises:
        ConfigurationError: `env` makes no environments.
    """

    MAX_ACTION_LOGS = MAX_ACTION_LOGS

    def __init__(
        self,
        env: EnvironmentSource | EnvSpec,
        action_cls: Any = None,
        observation_cls: Any = None,
        metadata: EnvironmentMetadata | None = None,
        *,
        sessions: Sessions | None = None,
        calls: Calls | None = None,
    ) -> None:
        spec = env if isinstance(env, EnvSpec) else EnvSpec.of(env, action_cls, observation_cls)
        self.action_cls = spec.action
        self.observation_cls = spec.observation
        self.metadata = metadata or metadata_of(spec)
        self._home: asyncio.AbstractEventLoop | None = None
        self._in_hand: InHand | None = None
        if sessions is None or not _lives_apart(sessions):
            mode = ServerMode.SIMULATION if sessions is None else sessions.mode
            self._in_hand = InHand(session_factory(spec, tracebacks=False, mode=mode), spec.name)
        if sessions is None:
            self.episode = SharedEpisode(spec, self._hand.ask)
        else:
            lent = None if self._in_hand is None else self._lent
            self.episode = seated_episode(sessions, calls or Calls(), lent)

    @property
    def env(self) -> AnyEnvironment:
        """The environment itself; it is built when it is first asked for, which may block.

        Raises:
            ConfigurationError: it lives in another process, or on the one thread of all others.
            EnvironmentFactoryError: its constructor raised.
        """
        return self._hand.environment

    @property
    def episode_state(self) -> EpisodeState:
        """Where the episode stands, and its actions."""
        return self.episode.record

    @property
    def connected_clients(self) -> list[WebSocket]:
        """The sockets of those who look at the episode."""
        return self.episode.viewers.sockets

    @property
    def _executor(self) -> Any:
        return self._hand.executor

    async def connect_websocket(self, websocket: WebSocket) -> None:
        """Accepts a socket and tells it where the episode stands, whenever that changes."""
        await self.episode.viewers.connect(websocket)

    async def disconnect_websocket(self, websocket: WebSocket) -> None:
        """Tells a socket nothing more."""
        await self.episode.viewers.disconnect(websocket)

    async def reset_environment(self, reset_kwargs: Json | None = None) -> Json:
        """Begins an episode; gives its first observation, as `serialize_observation` does.

        Args:
            reset_kwargs: the keywords of the environment's reset.

        Raises:
            SessionError: it could not.
        """
        return await self._at_home(self.episode.reset(reset_kwargs or {}))

    async def step_environment(self, action_data: Json) -> Json:
        """Takes one action; gives what followed, as `serialize_observation` does.

        Args:
            action_data: the action's fields; what forms write as text is read as what it is.

        Raises:
            SessionError: it could not; an `InvalidRequest` where the action is not valid.
        """
        return await self._at_home(self.episode.step(prepared_action(action_data)))

    def get_state(self) -> Json:
        """The environment's state now; after the last reset or step where it is not in hand.

        Raises:
            SessionError: it could not be told.
        """
        if self._in_hand is None or not self._in_hand.is_built:
            return self.episode.last_state
        seen = self._in_hand.session.serve(Request("state"))
        if isinstance(seen, Coroutine):
            seen.close()
            return self.episode.last_state
        return told(seen)

    def begin(self) -> None:
        """Makes the running event loop the one on which the episode is played, whoever asks.

        A server may begin again after its end: then so does what is in hand.
        """
        self._home = asyncio.get_running_loop()
        if self._in_hand is not None:
            self._in_hand = self._in_hand.or_anew()

    async def close(self, grace_s: float) -> None:
        """Closes the environment that is in hand; a call that hangs is waited for so long."""
        if self._in_hand is not None:
            await self._in_hand.close(grace_s)

    async def _run_sync_in_thread_pool(
        self, function: Callable[..., ResultT], *args: Any, **kwargs: Any
    ) -> ResultT:
        """Makes a blocking call on the environment's thread; custom pages do."""
        return await asyncio.wrap_future(self._executor.submit(function, *args, **kwargs))

    async def _at_home(self, playing: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Plays on the server's event loop, also for a page's function that has one of its own."""
        home = self._home
        if home is None or home is asyncio.get_running_loop():
            return await playing
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(playing, home))

    def _lent(self) -> Host:
        return LentHost(self._hand)

    @property
    def _hand(self) -> InHand:
        if self._in_hand is None:
            raise ConfigurationError(
                "web_manager.env is out of reach: this server keeps environments in processes of "
                "their own, or all on one thread; use reset_environment(), step_environment() and "
                "get_state(), or serve with --host-kind thread"
            )
        return self._in_hand


def _lives_apart(sessions: Sessions) -> bool:
    return sessions.hosts.kind in ("process", "sandbox") or sessions.spec.traits.one_thread
