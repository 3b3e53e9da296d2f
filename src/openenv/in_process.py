"""`local(Env)`: a client and its environment in one process, with no socket between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from openenv.client.env_client import EnvClient
from openenv.client.running import inside_a_loop
from openenv.env.environment import Environment
from openenv.env.models import Action, Observation, State
from openenv.env.spec import EnvSpec
from openenv.protocol.errors import InvalidRequest, ModeError
from openenv.protocol.messages import Reply, Request, error_reply, parse_request
from openenv.protocol.wire import ServerMode
from openenv.runtime.host import session_factory
from openenv.runtime.session import Session
from openenv.runtime.worker import BlockingCalls

ActT = TypeVar("ActT", bound=Action)
ObsT = TypeVar("ObsT", bound=Observation)
StateT = TypeVar("StateT", bound=State)


def local(
    env: Callable[..., Environment[ActT, ObsT, StateT]] | Environment[ActT, ObsT, StateT],
    action_cls: Any = None,
    observation_cls: type[ObsT] | None = None,
    *,
    client_class: type[EnvClient[Any, Any, Any]] = EnvClient,
) -> EnvClient[ActT, ObsT, StateT]:
    """A client whose environment lives in this process and thread.

    It behaves as one over a socket, blocking or awaiting: every action is validated, every
    observation crosses as JSON. Only deadlines are missing: the server's, and `timeout_s`.

    Args:
        env: an `Environment` class, a factory or an instance.
        action_cls: needed where the environment's class does not say it.
        observation_cls: likewise.
        client_class: the client to be, for one with methods of its own.

    Raises:
        ConfigurationError: the environment's types cannot be told.
    """
    spec = EnvSpec.of(env, action_cls, observation_cls)
    types: dict[str, Any] = {"_spec": spec}
    if client_class is EnvClient:
        types |= {"_observation_class": spec.observation, "_state_class": spec.state}
        types["_reset_observation_class"] = spec.reset_observation
    made: type[Any] = type(f"Local{spec.name}", (_Local, client_class), types)
    client: EnvClient[ActT, ObsT, StateT] = made(base_url=f"http://{spec.name}.localhost")
    return client


class _Local:
    """Opens a session in this process where a client would open a socket."""

    _spec: EnvSpec

    @classmethod
    def _usual_mode(cls) -> ServerMode:
        """Whoever has the environment in hand controls its episodes."""
        return ServerMode.SIMULATION

    def _open_blocking(self) -> LocalTransport:
        if self._spec.traits.is_async and inside_a_loop():
            raise ModeError(
                f"{self._spec.name} awaits, which a blocking client cannot do inside a running "
                "event loop: use `async with`"
            )
        return LocalTransport(self._spec)

    async def _open_awaiting(self) -> AwaitedLocalTransport:
        return AwaitedLocalTransport(self._spec)


class LocalTransport:
    """One session in this thread."""

    subprotocol = None

    def __init__(self, spec: EnvSpec) -> None:
        self._session = session_factory(spec, tracebacks=True)()
        self._calls = BlockingCalls()

    def exchange(self, frame: str, timeout_s: float) -> str:
        """Answers a frame."""
        request = _request(frame)
        if isinstance(request, str):
            return request
        try:
            return self._calls.settle(self._session.serve(request)).frame()
        except BaseException:  # Ctrl-C or an alarm in the environment: nobody goes on with it
            self.close("", timeout_s)
            raise

    def close(self, goodbye: str, timeout_s: float) -> None:
        """Closes the environment."""
        self._calls.settle(self._session.close())
        self._calls.close()

    def abort(self) -> None:
        """Nothing: there is no connection to drop."""


class AwaitedLocalTransport:
    """One session on this event loop."""

    subprotocol = None

    def __init__(self, spec: EnvSpec) -> None:
        self._session: Session = session_factory(spec, tracebacks=True)()

    async def exchange(self, frame: str, timeout_s: float) -> str:
        """Answers a frame."""
        request = _request(frame)
        if isinstance(request, str):
            return request
        try:
            outcome = self._session.serve(request)
            return (outcome if isinstance(outcome, Reply) else await outcome).frame()
        except BaseException:  # cancelled
            await self.close("", timeout_s)
            raise

    async def close(self, goodbye: str, timeout_s: float) -> None:
        """Closes the environment."""
        if (closing := self._session.close()) is not None:
            await closing

    def abort(self) -> None:
        """Nothing: there is no connection to drop."""


def _request(frame: str) -> Request | str:
    """The request in a frame, or the frame that refuses it."""
    try:
        return parse_request(frame)
    except InvalidRequest as error:
        return error_reply(error).frame()
