"""Clients and a server with a network between them that is played by hand: no socket, no thread."""

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from openenv.client.conversation import Conversation
from openenv.client.effects import Connect, Drop, Heard, Keep, Open, Sleep, Transmit
from openenv.client.endpoint import Endpoint
from openenv.protocol.envelope import Ask, Encoding, Frame, decode_answer, encode_ask
from openenv.protocol.errors import ConnectFailed, Json, SessionLost
from openenv.runtime.sessions import Sessions
from openenv.server.channels import Channels
from tests.protocol.counting import Clock, Record, counting_sessions

AnyFlow = Generator[Any, Any, Any]


class Wire:
    """One connection: the frames under way in both directions, and the server's end of it."""

    def __init__(self, server: "Server", encoding: Encoding) -> None:
        self.up: deque[Frame] = deque()
        self.down: deque[Frame] = deque()
        self.is_cut = False
        self.is_left = False
        self._held = False
        self._server = server
        self._channels = Channels(server.sessions, encoding, self._emit, self._hold)

    @property
    def may_go_up(self) -> bool:
        """Whether the server would take a frame in."""
        return bool(self.up) and not self.is_left and not self._held

    def deliver(self) -> None:
        """The server takes the next frame in."""
        if self.may_go_up:
            self._server.clock.call_soon(self._channels.on_frame, self.up.popleft())
            self._server.clock.turn()

    def choke(self, on: bool) -> None:
        """The client takes no replies for now, or does again."""
        if not self.is_left:
            self._server.clock.call_soon(self._channels.choke, on)
            self._server.clock.turn()

    def leave(self) -> None:
        """The server's end is cut off; what was under way to it is lost."""
        if not self.is_left:
            self.is_left = True
            self.up.clear()
            self._server.clock.run_until_complete(self._channels.leave())

    def _emit(self, frame: Frame) -> None:
        if not self.is_left:
            self.down.append(frame)

    def _hold(self, on: bool) -> None:
        self._held = on


class Server:
    """The server, which may be started anew, and all connections to it."""

    def __init__(self, capacity: int) -> None:
        self.clock = Clock()
        self.record = Record()
        self.wires: list[Wire] = []
        self._capacity = capacity
        self.sessions: Sessions = counting_sessions(self.record, self.clock, capacity)

    def connect(self, encoding: Encoding) -> Wire:
        """A new connection."""
        wire = Wire(self, encoding)
        self.wires.append(wire)
        return wire

    def forget_dead(self) -> None:
        """Connections on which nothing can happen any more are of no interest."""
        self.wires = [wire for wire in self.wires if not (wire.is_left and wire.is_cut)]

    def restart(self) -> None:
        """Ends, with all its sessions, and begins anew."""
        for wire in self.wires:
            wire.leave()
        self._end()
        self.sessions = counting_sessions(self.record, self.clock, self._capacity)

    def close(self) -> None:
        """Ends for good; no session may be left."""
        for wire in self.wires:
            wire.leave()
        self._end()
        self.clock.close()

    def _end(self) -> None:
        while self.record.running:
            self.record.finish_one()
            self.clock.turn()
        self.clock.run_until_complete(self.sessions.close_all())


@dataclass
class Called:
    """One call of a client and how it ended: a result, an error, or it was given up."""

    op: str
    ticket: int
    episodes: frozenset[int] = frozenset()
    result: Json | None = None
    error: BaseException | None = None
    given_up: bool = False

    @property
    def is_over(self) -> bool:
        return self.given_up or self.result is not None or self.error is not None


def _next(flow: AnyFlow) -> Any:
    return next(flow)


@dataclass
class Client:
    """The real flows of a client, advanced by hand: each stands at an effect until it is performed.

    It does what the drivers do, but for the waiting.
    """

    server: Server
    encoding: Encoding
    wait_s: float = 0.0
    conversation: Conversation = field(init=False)
    wire: Wire | None = None
    effect: Any = None
    called: Called | None = None
    _flows: list[AnyFlow] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.conversation = Conversation(Endpoint("http://localhost:1", wait_s=self.wait_s), 60.0)

    @property
    def is_idle(self) -> bool:
        """Whether no call is running."""
        return not self._flows

    @property
    def waits(self) -> bool:
        """Whether it waits for an answer."""
        return isinstance(self.effect, Transmit)

    def call(self, called: Called, data: Json) -> None:
        """Begins a call."""
        conversation = self.conversation
        self.called = called
        flow: AnyFlow
        if called.op == "reset":
            flow = conversation.reset(data, None, dict)
        elif called.op == "step":
            flow = conversation.step(data, None, dict)
        elif called.op == "state":
            flow = conversation.state(None, dict)
        else:
            flow = conversation.close()
        self._flows.append(flow)
        self._go_on(_next)

    def connect(self, on: bool) -> None:
        """The attempt to connect that it makes succeeds or fails."""
        if not isinstance(self.effect, Open):
            return
        if on:
            self.wire = self.server.connect(self.encoding)
            self._answer(self.encoding.value)
        else:
            self._fail(ConnectFailed("nobody listens", worth_retrying=True))

    def deliver(self) -> None:
        """It takes the next frame in, if it is there to do so."""
        wire = self.wire
        if not self.waits or wire is None or not wire.down:
            return
        asked: Transmit = self.effect
        asked.receive(wire.down.popleft())
        if asked.done():
            self._answer(Heard.DONE)

    def hear(self, heard: Heard) -> None:
        """Nothing came for some time, or its time is up."""
        if self.waits:
            self._answer(heard)

    def cut(self) -> None:
        """Its end of the connection is cut off."""
        if self.wire is not None:
            self._hang_up()
            if self.waits:
                self._fail(SessionLost("the connection is gone"))

    def give_up(self) -> None:
        """The call is cancelled where it stands."""
        while self._flows:
            self._flows.pop().close()
        if self.called is not None and not self.called.is_over:
            self.called.given_up = True
        self._end_call()

    def _hang_up(self) -> None:
        if self.wire is not None:
            self.wire.is_cut = True
            self.wire = None

    def _answer(self, value: object) -> None:
        self.effect = None
        self._go_on(lambda flow: flow.send(value))

    def _fail(self, error: Exception) -> None:
        self.effect = None
        self._go_on(lambda flow: flow.throw(error))

    def _go_on(self, advance: Callable[[AnyFlow], Any] | None) -> None:
        while advance is not None:
            try:
                effect = advance(self._flows[-1])
            except StopIteration as stop:
                advance = self._left(stop.value, None)
            except Exception as error:  # noqa: BLE001  # whatever the caller would see
                advance = self._left(None, error)
            else:
                advance = self._begin(effect)

    def _left(self, value: Any, error: Exception | None) -> Callable[[AnyFlow], Any] | None:
        """A flow has ended: the one that it was part of goes on, or the call is over."""
        self._flows.pop()
        if self._flows:
            return lambda flow: flow.throw(error) if error is not None else flow.send(value)
        assert self.called is not None
        self.called.error = error
        self.called.result = None if error is not None else value or {}
        self._end_call()
        return None

    def _end_call(self) -> None:
        self.effect = None
        if not self.conversation.is_connected:
            self._hang_up()

    def _begin(self, effect: Any) -> Callable[[AnyFlow], Any] | None:
        """Does what an effect asks, if that needs no waiting."""
        match effect:
            case Connect():
                self._flows.append(self.conversation.open())
                return _next
            case Sleep():
                return _next
            case Drop():
                self._hang_up()
                return _next
            case Open():
                self._hang_up()
                self.effect = effect
                return None
        assert isinstance(effect, Transmit | Keep)
        if self.wire is None:
            gone = SessionLost("there is no connection")
            return lambda flow: flow.throw(gone)
        return self._transmit(self.wire, effect) if isinstance(effect, Transmit) else _next

    def _transmit(self, wire: Wire, asked: Transmit) -> Callable[[AnyFlow], Any] | None:
        wire.up.extend(asked.frames)
        if asked.done():
            return lambda flow: flow.send(Heard.DONE)
        self.effect = asked
        return None


class Intruder:
    """Somebody else who knows a session's token, and holds what he has taken until he is cut."""

    def __init__(self, server: Server, channel: Any) -> None:
        encoding = Encoding.JSON
        self._wire = server.connect(encoding)
        self._wire.is_cut = True  # no client takes part
        data = {"session_id": channel.session_id, "token": channel.token}
        self._wire.up.append(encode_ask(Ask(1, "open", data=data), encoding))
        self._wire.deliver()
        self.answer = decode_answer(self._wire.down.popleft(), encoding)
