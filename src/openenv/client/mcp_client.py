"""MCPClientBase: a client of an environment's tools, as an agent or as a trainer has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast, overload

from openenv._flow import Flow, adrive, drive
from openenv.client.agent_line import AgentConversation
from openenv.client.codec import ActT, ObsT, StateT, fields_of, step_result
from openenv.client.conversation import Conversation
from openenv.client.effects import Effect, Exchange
from openenv.client.env_client import EnvClient
from openenv.client.pending import Pending
from openenv.client.results import PendingResult, StepResult
from openenv.client.tool_results import GenericMCPObservation, tool_observation
from openenv.env.models import unpack, validate
from openenv.env.tool_models import (
    CallToolAction,
    CallToolObservation,
    ListToolsAction,
    ListToolsObservation,
    Tool,
)
from openenv.protocol.errors import (
    ControlClosed,
    InvalidRequest,
    Json,
    NoTools,
    ProtocolError,
    SessionError,
)
from openenv.protocol.rpc_client import CREATE, RpcFailed, object_in, rpc_request, rpc_result
from openenv.protocol.values import encode
from openenv.protocol.wire import ServerMode

ResultT = TypeVar("ResultT")
JOIN_TIMEOUT_S = 15.0
"""How long a server may take to say whose session a connection is."""


@dataclass(frozen=True)
class On:
    """Drive a flow on one of a client's connections; gives its result."""

    client: EnvClient[Any, Any, Any]
    flow: Flow[Effect, Any]
    last: bool = False


class MCPClientBase(EnvClient[ActT, ObsT, StateT], Generic[ActT, ObsT, StateT]):
    """A client that can tell which tools its environment has.

    In production mode it is an agent's: tools go over `WS /mcp`, and no connection to `/ws` is
    made before `reset`, `step` or `state` is called; that takes part in the same session, where
    the server lets it. In simulation mode everything goes over `/ws`, where the call of a tool is
    a step. One that declares types for its steps is in simulation mode by default, others in
    production.

    Arguments and errors are those of `EnvClient`.
    """

    _reads_msgpack = True
    _tools: list[Tool] | None
    _control: EnvClient[Any, Any, Any] | None

    def list_tools(self, use_cache: bool = True) -> Pending[list[Tool]]:
        """The tools there are now.

        Args:
            use_cache: the answer to an earlier call will do, of this episode.

        Raises:
            NoTools: the environment has none.
            SessionError: otherwise as `step`.
        """
        return cast("Pending[list[Tool]]", self._operate("list_tools", self._listing(use_cache)))

    def reset(self, *, timeout_s: float | None = None, **kwargs: Any) -> PendingResult[ObsT]:
        """Begins an episode; as `EnvClient.reset`.

        Raises:
            ControlClosed: the server lets agents call tools only.
        """
        self._tools = None  # another episode may have others

        def flow(talk: Conversation) -> Flow[Effect, StepResult[ObsT]]:
            return talk.reset(kwargs, timeout_s, self._read_result)

        return cast("PendingResult[ObsT]", self._controlled("reset", flow))

    @overload
    def step(
        self, action: CallToolAction, timeout_s: float | None = None
    ) -> PendingResult[CallToolObservation]: ...

    @overload
    def step(
        self, action: ListToolsAction, timeout_s: float | None = None
    ) -> PendingResult[ListToolsObservation]: ...

    @overload
    def step(self, action: ActT, timeout_s: float | None = None) -> PendingResult[ObsT]: ...

    def step(self, action: Any, timeout_s: float | None = None) -> PendingResult[Any]:
        """Takes one action, which may be one of tools; as `EnvClient.step`, errors as `reset`."""

        def flow(talk: Conversation) -> Flow[Effect, StepResult[Any]]:
            return talk.step(self._data_of(action), timeout_s, self._read_result)

        return cast("PendingResult[Any]", self._controlled("step", flow))

    def state(self, timeout_s: float | None = None) -> Pending[StateT]:
        """Where the episode stands; errors as `reset`."""

        def flow(talk: Conversation) -> Flow[Effect, StateT]:
            return talk.state(timeout_s, self._parse_state)

        return cast("Pending[StateT]", self._controlled("state", flow))

    def close(self) -> Pending[None]:
        """Ends the session; as `EnvClient.close`."""
        return cast("Pending[None]", self._planned("close", self._closing(last=True)))

    def disconnect(self) -> Pending[None]:
        """The same as `close`, but a server of the client's own runs on."""
        last = self._server is None
        return cast("Pending[None]", self._planned("disconnect", self._closing(last=last)))

    def _parse_result(self, payload: Json) -> StepResult[ObsT]:
        if self._observation_class is not None:
            return super()._parse_result(payload)
        observation: Any = tool_observation(payload)
        if observation is None:
            observation = validate(GenericMCPObservation, unpack(GenericMCPObservation, payload))
        return step_result(observation, payload)

    @classmethod
    def _usual_mode(cls) -> ServerMode:
        return ServerMode.PRODUCTION if cls._observation_class is None else super()._usual_mode()

    def __getstate__(self) -> dict[str, Any]:
        """As of an `EnvClient`."""
        return {**super().__getstate__(), "_tools": None, "_control": None}

    def _start_afresh(self) -> None:
        super()._start_afresh()
        self._tools = self._control = None
        if self._mode is ServerMode.PRODUCTION:
            self._endpoint = self._endpoint.of_tools()
            self._conversation = AgentConversation(self._endpoint, self._message_timeout)

    def _leave_to_parent(self) -> None:
        super()._leave_to_parent()
        if self._control is not None:
            self._control._leave_to_parent()

    def _listing(self, use_cache: bool) -> Flow[Effect, list[Tool]]:
        if self._tools is None or not use_cache:
            asked = fields_of(ListToolsAction(), frozenset({"metadata"}))
            self._tools = yield from self._use_tools(asked, None, _listed)
        return list(self._tools or ())

    def _use_tools(
        self,
        asked: Json,
        timeout_s: float | None,
        parse: Callable[[Json], ResultT],
        limit_s: float | None = None,
    ) -> Flow[Effect, ResultT]:
        """Lists or calls tools; arguments as `Conversation.step`."""
        try:
            return (yield from self._conversation.step(asked, timeout_s, parse, limit_s))
        except InvalidRequest as error:
            if type(error) is not InvalidRequest:
                raise
            raise NoTools(
                f"the environment takes no step with tools ({error.message}): it has none, or "
                "offers them over /mcp only, for which there is mode='production'"
            ) from error

    def _controlled(self, name: str, flow: Callable[[Conversation], Flow[Effect, ResultT]]) -> Any:
        """A call that an agent has no right to, on the road where it is made."""
        return self._planned(name, self._controlling(name, flow))

    def _planned(self, name: str, plan: Flow[On, ResultT]) -> Any:
        return self._call(name, lambda: drive(plan, _done), lambda: adrive(plan, _adone))

    def _controlling(
        self, name: str, flow: Callable[[Conversation], Flow[Effect, ResultT]]
    ) -> Flow[On, ResultT]:
        agent = self._conversation
        if isinstance(agent, AgentConversation):
            session_id = yield On(self, agent.hold(name))
            control = self._control
            if control is None or control._endpoint.session_id != session_id:
                control = self._control = self._twin(session_id)
            joined = yield On(control, _joining(control._conversation, session_id))
            if joined:
                result: ResultT = yield On(control, flow(control._conversation))
                return result
            yield from self._change_over(agent, name)
        result = yield On(self, flow(self._conversation))
        return result

    def _twin(self, session_id: str) -> EnvClient[Any, Any, Any]:
        """A second connection to the same server, on the road of trainers."""
        twin: EnvClient[Any, Any, Any] = EnvClient.__new__(EnvClient)
        twin.__setstate__(
            {**self.__getstate__(), "_endpoint": self._endpoint.of_episode(session_id)}
        )
        return twin

    def _change_over(self, agent: AgentConversation, name: str) -> Flow[On, None]:
        """Leaves the road of agents, where the server has no way from there to the episode.

        Raises:
            SessionLost: tools were called in the session that is left.
        """
        apart = agent.has_called and name != "reset"
        yield On(self, agent.close())
        why = "the server keeps tools and episodes apart; from now on both go over /ws"
        self._control, self._endpoint = None, self._endpoint.of_episode(None)
        self._conversation = Conversation(
            self._endpoint, self._message_timeout, why if apart else None
        )

    def _closing(self, *, last: bool) -> Flow[On, None]:
        control, self._control, self._tools = self._control, None, None
        try:
            if control is not None:
                yield On(control, control._conversation.close())
        finally:
            yield On(self, self._conversation.close(), last)


def _done(task: On) -> object:
    return task.client._drive(task.flow, task.last)


async def _adone(task: On) -> object:
    return await task.client._adrive(task.flow, task.last)


def _listed(payload: Json) -> list[Tool]:
    observation = tool_observation(payload)
    if not isinstance(observation, ListToolsObservation):
        raise ProtocolError(f"the server answered with no list of tools: {str(payload)[:200]}")
    return observation.tools


def _joining(talk: Conversation, session_id: str) -> Flow[Effect, bool]:
    """Takes part in a session by another connection; whether the server knows how.

    Raises:
        ControlClosed: agents may not.
    """
    if talk.is_connected:
        return True
    try:
        yield from talk.open()
        if (yield from _whose()) == session_id:
            return True
    except ControlClosed:
        talk.lose("the server keeps agents from it")
        raise
    except (SessionError, RpcFailed):  # it has another session for this connection, or no room
        pass
    except BaseException:
        talk.lose("it was not asked whose session it has")
        raise
    yield from talk.close()
    return False


def _whose() -> Flow[Effect, str | None]:
    """The session that a connection of `/ws` has."""
    asked = {"type": "mcp", "data": rpc_request(1, CREATE, {})}
    frame: Any = yield Exchange(encode(asked).decode(), JOIN_TIMEOUT_S)
    answer = object_in(frame)
    told = answer.get("data")
    if not isinstance(told, dict):
        raise ProtocolError(f"the server sent a {answer.get('type')!r} frame without a data object")
    if answer.get("type") == "error":
        raise SessionError.from_data(told)
    name: str | None = rpc_result(told, 1).get("session_id")
    return name
