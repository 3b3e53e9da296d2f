"""Sessions of clients that stay away make room for clients that wait."""

from contextlib import ExitStack
from typing import Any

import pytest

from openenv.runtime.limits import Limits
from tests.server.test_capacity import Slow, refused
from tests.server.v2 import back, speaking
from tests.server.worlds import Gate, World
from tests.serving import PATIENCE_S, Served, eventually, serving

AGE_S = 0.3


def begun_and_cut_off(server: Served) -> dict[str, Any]:
    """A session whose client has left without a goodbye."""
    with speaking(server) as client:
        opened = client.open()
        client.done("reset", seq=1)
    session = server.openenv.sessions._resumable[opened["session_id"]]
    eventually(lambda: session.detached_at is not None)
    return opened


def test_who_waits_gets_the_slots_of_those_who_stay_away() -> None:
    limits = Limits(capacity=2, eviction_age=AGE_S)
    with serving(World, limits=limits) as server, ExitStack() as leaving:
        left = [begun_and_cut_off(server), begun_and_cut_off(server)]
        waiting = [leaving.enter_context(speaking(server)) for _ in left]
        for client in waiting:
            client.send("open", data={"wait_s": PATIENCE_S})
        for client in waiting:
            assert client.receive()["type"] == "opened"
        for each in left:
            with speaking(server) as late:
                assert late.refused("open", data=back(each)) == "SESSION_GONE"


def test_who_waits_gets_the_slot_of_a_client_that_is_cut_off_meanwhile() -> None:
    limits = Limits(capacity=1, eviction_age=AGE_S)
    with serving(World, limits=limits) as server, ExitStack() as leaving:
        with speaking(server) as first:
            first.open()
            first.done("reset", seq=1)
            second = leaving.enter_context(speaking(server))
            second.send("open", data={"wait_s": PATIENCE_S})
            eventually(lambda: server.health()["waiting"] == 1)
        assert second.receive()["type"] == "opened"


def test_who_comes_back_in_time_keeps_its_session_though_others_wait() -> None:
    with serving(World, limits=Limits(capacity=1)) as server:
        opened = begun_and_cut_off(server)
        with speaking(server) as second, speaking(server) as first:
            second.send("open", data={"wait_s": PATIENCE_S})
            eventually(lambda: server.health()["waiting"] == 1)
            assert server.openenv.sessions._eviction._timer is not None
            assert first.open(**back(opened, 1))["resumed"]
            assert server.openenv.sessions._eviction._timer is None
            first.done("close")
            assert second.receive()["type"] == "opened"


def test_no_timer_runs_when_nobody_waits_any_more() -> None:
    with serving(World, limits=Limits(capacity=1)) as server:
        begun_and_cut_off(server)
        sessions = server.openenv.sessions
        with server.socket("/ws?wait_s=30"):
            eventually(lambda: server.health()["waiting"] == 1)
            assert sessions._eviction._timer is not None
        eventually(lambda: server.health()["waiting"] == 0)
        eventually(lambda: sessions._eviction._timer is None)
        assert refused(server)["code"] == "CAPACITY_REACHED"
        assert sessions._eviction._timer is None


def test_nobody_is_evicted_for_who_is_refused_as_the_queue_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    building, ending = Gate(), Gate()
    building.opened.set()
    monkeypatch.setattr(Slow, "building", building)
    monkeypatch.setattr(Slow, "ending", ending)
    limits = Limits(capacity=2, waiting=1, eviction_age=0.0)
    with serving(Slow, host_kind="thread", limits=limits) as server, ExitStack() as leaving:
        leaving.callback(ending.opened.set)
        begun_and_cut_off(server)
        second = begun_and_cut_off(server)
        third = leaving.enter_context(speaking(server))
        third.send("open", data={"wait_s": PATIENCE_S})
        ending.wait_until_entered()
        assert refused(server, "/ws?wait_s=30")["code"] == "CAPACITY_REACHED"
        with speaking(server) as client:
            assert client.open(**back(second, 1))["resumed"]
            ending.opened.set()
            assert third.receive()["type"] == "opened"
