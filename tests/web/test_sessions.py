"""Whose episode it is, and what becomes of it: reloads, restarts, full servers, copies of tabs."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from echo_env.server.echo_environment import EchoEnvironment
from openenv.runtime.limits import Limits
from tests.serving import eventually, serving
from tests.web.conftest import Visit
from tests.web.places import page_of, served_page
from tests.web.visitor import LOAD_FAILED, SOCKET_FAILED
from tests.web.worlds import Drawing, Gate

ONE_SLOT = Limits(capacity=1, eviction_age=0.1)
"""Who closes the window is waited for only a moment, before the next one has the slot."""


@pytest.fixture
def gate() -> Iterator[type[Gate]]:
    """An environment whose steps wait; those that still do go on when the test ends."""
    Gate.opened.clear()
    Gate.entered.clear()
    Gate.steps = 0
    yield Gate
    Gate.opened.set()


def test_two_visitors_have_an_episode_each(visit: Visit) -> None:
    with served_page(Drawing) as address:
        first, second = visit(address), visit(address)
        first.reset()
        second.reset()
        for title in ("one", "two", "three"):
            first.step(Title=title)
        second.step(Title="another")
        first.sees(re.compile(r"drawn.*3"))
        second.sees(re.compile(r"drawn.*1"))
        second.sees("another")


def test_a_page_that_nobody_uses_takes_no_slot(visit: Visit) -> None:
    with serving(EchoEnvironment, web=True) as served:
        visitor = visit(page_of(served))
        visitor.open_tab("Tools")
        visitor.open_tab("Form")
        assert served.active() == 0
        visitor.reset()
        assert served.active() == 1


def test_a_reload_goes_on_with_the_episode(visit: Visit) -> None:
    with serving(Drawing, web=True) as served:
        visitor = visit(page_of(served))
        visitor.reset()
        visitor.step(Title="before")
        visitor.page.reload()
        visitor.sees("before")
        expect(visitor.status).to_have_text("connected")
        visitor.step(Title="after")
        visitor.sees(re.compile(r"drawn.*2"))
        expect(visitor.entries).to_have_count(3)
        assert served.active() == 1


def test_a_dropped_socket_is_made_again(visit: Visit) -> None:
    with serving(Drawing, web=True) as served:
        visitor = visit(page_of(served), arrive=False)
        cut = visitor.may_cut_sockets()
        visitor.arrive()
        visitor.reset()
        cut()
        expect(visitor.status).to_have_text("connected")
        visitor.step(Title="later")
        visitor.sees(re.compile(r"drawn.*1"))
        assert served.active() == 1


def test_a_step_that_runs_while_the_socket_drops_is_taken_once(
    visit: Visit, gate: type[Gate]
) -> None:
    with served_page(gate) as address:
        visitor = visit(address, arrive=False)
        cut = visitor.may_cut_sockets()
        visitor.arrive()
        visitor.reset()
        visitor.fill("Text", "patience")
        visitor.step_button.click()
        eventually(gate.entered.is_set)
        cut()
        expect(visitor.status).to_have_text("running…")
        gate.opened.set()
        visitor.sees("through with patience")
        assert gate.steps == 1


def test_a_server_that_starts_anew_is_told_and_a_reset_recovers(visit: Visit) -> None:
    with serving(Drawing, web=True) as served:
        port = served.port
        visitor = visit(page_of(served))
        visitor.tolerates(SOCKET_FAILED, LOAD_FAILED)
        visitor.reset()
        visitor.step(Title="before")
    expect(visitor.status).to_have_text(re.compile("reconnecting|lost"))
    with serving(Drawing, port, web=True):
        expect(visitor.status).to_have_text("episode lost")
        visitor.is_told("Reset begins a new one.")
        visitor.sees("before")
        visitor.step(Title="too late")
        visitor.is_told("Reset begins a new one.")
        visitor.reset()
        visitor.step(Title="after")
        visitor.sees(re.compile(r"drawn.*1"))
        expect(visitor.status).to_have_text("connected")


def test_tools_are_listed_after_a_server_started_anew_and_a_reload(visit: Visit) -> None:
    with serving(EchoEnvironment, web=True) as served:
        port = served.port
        visitor = visit(page_of(served))
        visitor.tolerates(SOCKET_FAILED, LOAD_FAILED)
        visitor.reset()
    with serving(EchoEnvironment, port, web=True):
        visitor.page.reload()
        expect(visitor.status).to_have_text("episode lost")
        visitor.reset()
        visitor.open_tab("Tools")
        visitor.fill("Message", "again")
        visitor.call("echo_message")
        visitor.sees("again")


def test_a_full_server_keeps_a_place_in_its_queue(visit: Visit) -> None:
    with serving(EchoEnvironment, web=True, limits=ONE_SLOT) as served:
        first, second, third = (visit(page_of(served)) for _ in range(3))
        first.reset()
        second.reset_button.click()
        second.is_told("you are next in its queue")
        third.reset_button.click()
        third.is_told("you are number 2 of 2 in its queue")
        second.page.get_by_role("button", name="Leave the queue").click()
        third.is_told("you are next in its queue")
        first.page.goto("about:blank")
        expect(third.status).to_have_text("connected")
        expect(second.status).to_have_text("not connected")


def test_a_visitor_who_left_frees_the_slot_for_the_next(visit: Visit) -> None:
    with serving(EchoEnvironment, web=True, limits=ONE_SLOT) as served:
        first = visit(page_of(served))
        first.reset()
        first.page.goto("about:blank")
        second = visit(page_of(served))
        second.reset()
        second.step(Message="mine now")
        second.sees("mine now")
        first.tolerates(SOCKET_FAILED)
        first.page.go_back()
        first.is_told("its slot was given to somebody else")


def test_a_queue_that_is_full_too_says_so(visit: Visit) -> None:
    with serving(EchoEnvironment, web=True, limits=Limits(capacity=1, waiting=0)) as served:
        first, second = visit(page_of(served)), visit(page_of(served))
        first.reset()
        second.reset_button.click()
        expect(second.status).to_have_text("server full")
        second.is_told("Server at capacity")


def test_a_copied_tab_leaves_the_episode_to_the_other(visit: Visit) -> None:
    with served_page(Drawing) as address:
        visitor = visit(address)
        visitor.reset()
        visitor.step(Title="mine")
        copy = visitor.duplicate()
        copy.is_told("This tab is a copy of another")
        expect(copy.status).to_have_text("not connected")
        copy.reset()
        copy.step(Title="copied")
        copy.sees(re.compile(r"drawn.*1"))
        visitor.step(Title="still mine")
        visitor.sees(re.compile(r"drawn.*2"))


def test_who_takes_an_episode_over_is_told_of(visit: Visit) -> None:
    with serving(Drawing, web=True) as served:
        visitor = visit(page_of(served))
        visitor.reset()
        kept = visitor.page.evaluate(
            "JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage)"
            ".find(name => name.startsWith('openenv.session'))))"
        )
        data = {"session_id": kept["sessionId"], "token": kept["token"]}
        with served.socket(subprotocols=["openenv.v2+json"]) as socket:
            socket.send({"id": 1, "op": "open", "data": data})
            visitor.is_told("Another tab or client has taken this episode over")
        visitor.reset()
        visitor.step(Title="anew")
        visitor.sees(re.compile(r"drawn.*1"))


def test_a_crashed_episode_is_told_and_a_reset_recovers(visit: Visit, gate: type[Gate]) -> None:
    limits = Limits(step_timeout=0.2, close_grace=0.1)
    with serving(gate, web=True, limits=limits) as served:
        visitor = visit(page_of(served))
        visitor.reset()
        visitor.step(Text="never")
        visitor.is_told("ran longer than 0.2 s")
        expect(visitor.status).to_have_text("episode lost")
        gate.opened.set()
        visitor.reset()
        visitor.step(Text="now")
        visitor.sees("through with now")


def test_a_visitor_who_does_nothing_lets_go_and_comes_back(visit: Visit) -> None:
    with serving(Drawing, web=True) as served:
        visitor = visit(page_of(served), arrive=False)
        visitor.page.clock.install()
        visitor.arrive()
        visitor.reset()
        visitor.sees(re.compile(r"drawn.*0"))  # the state was looked at, too: now nothing is done
        visitor.page.clock.fast_forward("01:05")
        expect(visitor.status).to_have_text("not connected")
        assert served.active() == 1
        visitor.step(Title="back again")
        visitor.sees(re.compile(r"drawn.*1"))
        expect(visitor.status).to_have_text("connected")


def test_a_browser_that_forbids_storage_plays_all_the_same(visit: Visit) -> None:
    with served_page(Drawing) as address:
        visitor = visit(address, arrive=False)
        visitor.page.add_init_script(
            "for (const name of ['sessionStorage', 'localStorage', 'indexedDB']) "
            "Object.defineProperty(window, name, {get() { throw new DOMException('no') }})"
        )
        visitor.arrive()
        visitor.reset()
        visitor.step(Title="unkept")
        visitor.sees("unkept")
