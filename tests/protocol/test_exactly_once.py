"""Exactly once, whatever the network does: the client's and the server's objects against a model.

No socket and no time: rules deliver, drop, double and delay frames, cut connections at either end,
end waits and calls, and end sessions and the server. A long run, on other ways each time, has more
`EXAMPLES`: 20,000 take a quarter of an hour.
"""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from openenv.client.effects import Heard
from openenv.client.lifeline import Lifeline
from openenv.protocol.envelope import Encoding
from openenv.protocol.errors import SessionLost
from tests.protocol.counting import EVICTION_AGE_S, GRACE_S, IDLE_S, Done
from tests.protocol.simulated import Called, Client, Intruder, Server

FEW = 100
EXAMPLES, RULES = FEW, 60
CLIENTS = 3
LAST_ROUNDS = 60
"""Rounds of an undisturbed network within which every call must end."""

whose = st.integers(0, CLIENTS - 1)
kinds = st.sampled_from(["quick", "quick", "slow", "fails"])
calls = st.sampled_from(["step", "step", "step", "step", "reset", "state", "close"])


class Disturbed(RuleBasedStateMachine):
    """Clients of one server, and all that may happen to them."""

    def __init__(self) -> None:
        super().__init__()
        self.server = Server(capacity=CLIENTS)
        self.clients = [
            Client(self.server, encoding)
            for encoding in (Encoding.MSGPACK, Encoding.JSON, Encoding.MSGPACK)
        ]
        self.episodes: list[frozenset[int]] = [frozenset({0})] * CLIENTS
        self.lost = [False] * CLIENTS
        self.tickets = 0
        self.called: list[Called] = []

    # What clients do.

    @rule(who=whose, op=calls, kind=kinds)
    def call(self, who: int, op: str, kind: str) -> None:
        client = self.clients[who]
        if client.is_idle:
            self.begin(who, op, kind)
            client.connect(True)

    @rule(who=whose, op=calls, kind=kinds)
    def call_undisturbed(self, who: int, op: str, kind: str) -> None:
        client = self.clients[who]
        if client.is_idle:
            self.begin(who, op, kind)
            self.exchange(who)

    @rule(who=whose)
    def exchange(self, who: int) -> None:
        """All frames of a client arrive, those that they cause included."""
        client = self.clients[who]
        for _ in range(LAST_ROUNDS):
            client.connect(True)
            wire = client.wire
            if client.is_idle or wire is None or not (wire.may_go_up or wire.down):
                break
            wire.deliver()
            client.deliver()
        self.look(who)

    @rule(who=whose, on=st.booleans())
    def connect(self, who: int, on: bool) -> None:
        self.clients[who].connect(on)
        self.look(who)

    @rule(who=whose, heard=st.sampled_from([Heard.NOTHING, Heard.LATE]))
    def wait_in_vain(self, who: int, heard: Heard) -> None:
        self.clients[who].hear(heard)
        self.look(who)

    @rule(who=whose)
    def give_up(self, who: int) -> None:
        self.clients[who].give_up()
        self.look(who)

    # What networks do.

    @rule(which=st.integers(0, 7))
    def deliver_up(self, which: int) -> None:
        wires = [wire for wire in self.server.wires if wire.may_go_up]
        if wires:
            wires[which % len(wires)].deliver()

    @rule(who=whose)
    def deliver_down(self, who: int) -> None:
        self.clients[who].deliver()
        self.look(who)

    @rule(which=st.integers(0, 7), up=st.booleans(), twice=st.booleans())
    def drop_or_double(self, which: int, up: bool, twice: bool) -> None:
        ways = [wire.up if up else wire.down for wire in self.server.wires]
        ways = [way for way in ways if way]
        if ways:
            way = ways[which % len(ways)]
            if twice:
                way.insert(1, way[0])
            else:
                way.popleft()

    @rule(who=whose)
    def cut_client(self, who: int) -> None:
        self.clients[who].cut()
        self.look(who)

    @rule(which=st.integers(0, 7))
    def cut_server(self, which: int) -> None:
        if self.server.wires:
            self.server.wires[which % len(self.server.wires)].leave()
            self.server.forget_dead()

    @rule(which=st.integers(0, 7), on=st.booleans())
    def choke(self, which: int, on: bool) -> None:
        if self.server.wires:
            self.server.wires[which % len(self.server.wires)].choke(on)

    # What servers do.

    @rule()
    @precondition(lambda self: self.server.record.running)
    def finish_slow_step(self) -> None:
        self.server.record.finish_one()
        self.server.clock.turn()

    @rule(seconds=st.sampled_from([1.0, 1.0, EVICTION_AGE_S + 1, GRACE_S + 1, IDLE_S + 1, None]))
    def pass_by(self, seconds: float | None) -> None:
        """Time passes, or the server is started anew."""
        if seconds is None:
            self.server.restart()
        else:
            self.server.clock.pass_by(seconds)

    @rule(who=whose)
    def take_over(self, who: int) -> None:
        talk = self.clients[who].conversation._talk
        if isinstance(talk, Lifeline) and talk._channel.is_open:
            Intruder(self.server, talk._channel)

    # What must hold.

    def begin(self, who: int, op: str, kind: str) -> None:
        """Begins a call; it may only touch the episodes that its client can have in mind."""
        self.tickets += 1
        ticket = self.tickets
        if op == "reset":
            self.episodes[who] |= {ticket}
            self.lost[who] = False  # there may be a session from here on, also if it fails
        called = Called(op, ticket, self.episodes[who])
        self.called.append(called)
        if op == "close" and self.clients[who].conversation.is_connected:
            self.lost[who] = True
        data = {"ticket": ticket, "slow": kind == "slow"}
        if op == "step":
            data["fails"] = kind == "fails"
        self.clients[who].call(called, data)
        self.look(who)

    def look(self, who: int) -> None:
        """Looks at how a client's call has ended, if it has."""
        called = self.clients[who].called
        if called is None or not called.is_over:
            return
        self.clients[who].called = None
        done = self.server.record.of(called.ticket)
        if self.lost[who] and called.op in ("step", "state"):
            assert isinstance(called.error, SessionLost) and not done, called
        if isinstance(called.error, SessionLost) and called.op != "reset":
            self.was_lost(who, called.error)
        elif called.op != "close" and called.result is not None:
            self.returned(who, called, done)

    def was_lost(self, who: int, error: SessionLost) -> None:
        """A session is lost only if it has ended, or somebody else has it."""
        if not self.lost[who] and error.details.get("cause") != "TAKEN_OVER":
            lost = self.server.sessions._resumable.get(str(error.details.get("session_id")))
            assert lost is None or not lost.seat.is_open, error
        self.lost[who] = True

    def returned(self, who: int, called: Called, done: list[Done]) -> None:
        """A result came: it tells of what was carried out, in the client's own episode."""
        self.lost[who] = False
        assert called.result is not None
        if called.op == "state":
            self.seen(who, called.result)
            return
        entry = done[-1]
        assert entry.op == called.op
        assert len(done) == 1 or called.op == "reset"  # whose session was lost on the way
        seen = called.result["observation"]
        assert (seen["ticket"], seen["home"], seen["count"]) == (called.ticket, *entry[2::2]), seen
        if called.op == "reset":
            self.episodes[who] = frozenset({called.ticket})
        elif self.episodes[who] == called.episodes:
            self.episodes[who] = frozenset({entry.episode})

    def seen(self, who: int, state: dict[str, object]) -> None:
        """A state came: it is that of the client's own episode, after all of its steps."""
        entries = [entry for entry in self.server.record.done if entry.home == state["home"]]
        if not entries:
            assert state["step_count"] == 0 and state["ticket"] == 0
            return
        assert entries[-1].episode in self.episodes[who]
        assert entries[-1][3:] == (entries[-1].episode, state["step_count"])
        assert entries[-1].ticket == state["ticket"]

    @invariant()
    def nothing_is_done_twice_or_elsewhere(self) -> None:
        done = self.server.record.done
        assert len({_identity(entry) for entry in done}) == len(done), "carried out twice"
        for entry in done[getattr(self, "_checked", 0) :]:
            called = self.called[entry.ticket - 1]
            assert entry.op == called.op
            assert entry.episode in called.episodes, "in another episode"
        self._checked = len(done)
        latest: dict[int, int] = {}
        for entry in done:
            assert latest.get(entry.home, 0) < entry.ticket, "out of order"
            latest[entry.home] = entry.ticket

    def teardown(self) -> None:
        try:
            self.heal()
        finally:
            self.server.close()

    def heal(self) -> None:
        """The disturbances end: every call ends, what is lost can be reset, states agree."""
        record = self.server.record
        record.hurry = True
        for wire in self.server.wires:
            wire.choke(False)
        while record.running:
            record.finish_one()
        self.server.clock.turn()
        for who in range(CLIENTS):
            self.finish(who)
        for who in range(CLIENTS):
            self.play_on(who)
        self.nothing_is_done_twice_or_elsewhere()
        for client in self.clients:
            client.cut()
        for wire in self.server.wires:
            wire.leave()
        self.server.clock.pass_by(GRACE_S + 1)
        assert self.server.sessions.active == 0, "sessions that nobody can come back to"

    def finish(self, who: int) -> None:
        client = self.clients[who]
        for _ in range(LAST_ROUNDS):
            self.exchange(who)
            if client.is_idle:
                return
            if client.wire is not None and client.wire.is_left:
                client.cut()
            else:
                self.server.clock.pass_by(1.0)
                client.hear(Heard.NOTHING)
        raise AssertionError("a call did not end")

    def ask(self, who: int, op: str) -> Called:
        self.begin(who, op, "quick")
        self.finish(who)
        return self.called[-1]

    def play_on(self, who: int) -> None:
        state = self.ask(who, "state")
        if state.result is None and self.ask(who, "reset").result is None:
            for wire in self.server.wires:  # there is no room, for sessions that nobody asks
                wire.leave()
            self.server.clock.pass_by(GRACE_S + 1)
            assert self.ask(who, "reset").result is not None
        assert self.ask(who, "step").result is not None
        assert self.ask(who, "state").result is not None


def _identity(entry: Done) -> tuple[int, int]:
    """What may be there once: a reset may begin anew in another session, and nothing else."""
    return entry.ticket, entry.home if entry.op == "reset" else 0


Disturbed.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=RULES,
    deadline=None,
    derandomize=EXAMPLES <= FEW,
    database=None,
    suppress_health_check=list(HealthCheck),
)
TestExactlyOnce = pytest.mark.timeout(60)(Disturbed.TestCase)
