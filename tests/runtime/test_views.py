"""Views: how an environment shows itself on a page; never at the cost of its episode."""

import gc
import json
import weakref
from typing import Any

import pytest

from openenv.env.environment import HostKind
from openenv.protocol.messages import Operation, Reply, Request
from openenv.protocol.msgpack import decode_msgpack
from openenv.runtime import showing
from openenv.runtime.seat import Seat
from tests.runtime.seats import ask, serving, until
from tests.runtime.view_worlds import Plain, Shown, ShownLater, ShownTools, released_at_last

HOSTS: list[HostKind] = ["inline", "thread", "process", "sandbox"]
CHILDREN: list[HostKind] = ["process", "sandbox"]
HANGING: list[tuple[type[Shown], HostKind]] = [
    *[(Shown, kind) for kind in HOSTS if kind != "inline"],
    *[(ShownLater, kind) for kind in HOSTS],
]
UP = {"label": "up", "action": {"view": "well"}, "key": "ArrowUp"}
DOWN = {"label": "down", "action": {"view": "raises"}}

WRONG = {
    "raises": "'board'",
    "exits": "sys.exit(3)",
    "no text": "render_web must give HTML text or None, got dict",
    "huge": "render_web gave 5242880 characters",
    "huge in bytes": "bytes, a page is shown at most",
    "huge label": "web_actions gave 5242880 characters",
    "too many": "web_actions gave 201 actions, a page shows at most 200",
    "surrogate": "surrogate",
    "actions raise": "no moves",
    "no list": "web_actions must give a list",
    "no pair": "(label, action) or (label, action, key)",
    "no label": "labels of text, got int",
    "no action": "the action of 'up' as a dict, got str",
    "no key": "the key of 'up' by text, got int",
    "unsendable": "lock",
}


async def shown(
    seat: Seat, view: str = "well", *, timeout_s: float | None = None, binary: bool = False
) -> Any:
    """The data of a step that was asked for its view."""
    return data(await seat.ask(Request("step", {"view": view}, timeout_s, binary, view=True)))


def data(reply: Reply) -> Any:
    assert reply.type == "observation", reply
    return decode_msgpack(reply.body) if reply.binary else json.loads(reply.body)


@pytest.mark.parametrize("world", [Shown, ShownLater])
@pytest.mark.parametrize("kind", HOSTS)
async def test_shows_what_the_author_says(kind: HostKind, world: type[Shown]) -> None:
    async with serving(world, kind, typed=False) as sessions:
        seat = await sessions.open()
        for operation in ("reset", "step"):
            op: Operation = operation
            told = data(await seat.ask(Request(op, view=True)))
            scene = told["observation"]
            keys = ["done", "metadata", "pid", "pixels", "reward", "text", "thread"]
            assert (
                told["view"]["html"] == f"<b>{keys} 0.5 False</b>{scene['thread']} {scene['pid']}"
            )
            assert told["view"]["actions"] == [UP, DOWN]
        assert "True</b>" in (await shown(seat, "end"))["view"]["html"]
        assert (await shown(seat, "nothing"))["view"]["html"] is None


@pytest.mark.parametrize("kind", HOSTS)
async def test_a_view_comes_with_messagepack_and_its_arrays_too(kind: HostKind) -> None:
    async with serving(Shown, kind, typed=False) as sessions:
        seat = await sessions.open()
        told = await shown(seat, "pixels", binary=True)
        assert told["observation"]["pixels"].tolist() == [[0, 0], [0, 0]]
        assert told["view"]["actions"] == [UP, DOWN]
        assert (await shown(seat, "raises", binary=True))["view"]["html"] is None


async def test_nothing_is_computed_unasked() -> None:
    before = Shown.views
    async with serving(Shown, "thread", typed=False) as sessions:
        seat = await sessions.open()
        for op in ("reset", "step", "state"):
            answer = await ask(seat, op)
            assert "view" not in answer.data
    assert Shown.views == before


async def test_an_environment_that_says_nothing_has_an_empty_view() -> None:
    async with serving(Plain, "thread", typed=False) as sessions:
        told = await shown(await sessions.open())
        assert told["view"] == {"html": None, "actions": []}


@pytest.mark.parametrize("world", [Shown, ShownLater])
@pytest.mark.parametrize("kind", HOSTS)
async def test_a_bad_view_says_so_and_costs_no_step(kind: HostKind, world: type[Shown]) -> None:
    async with serving(world, kind, typed=False) as sessions:
        seat = await sessions.open()
        for trick, message in WRONG.items():
            told = await shown(seat, trick)
            assert told["observation"]["text"] == trick
            why = told["view"].pop("error")
            assert message in why, (trick, why)
            assert told["view"] == {"html": None, "actions": []}
        assert (await ask(seat, "state")).data["step_count"] == len(WRONG)


@pytest.mark.parametrize(("world", "kind"), HANGING)
async def test_a_view_that_hangs_is_given_up(
    monkeypatch: pytest.MonkeyPatch, world: type[Shown], kind: HostKind
) -> None:
    monkeypatch.setattr(showing, "PATIENCE_S", 0.2)
    async with serving(world, kind, typed=False, step_timeout=30.0) as sessions:
        seat = await sessions.open()
        told = await shown(seat, "hangs")
        assert "render_web or web_actions timed out after 0.2 s" in told["view"]["error"]
        monkeypatch.undo()
        assert (await shown(seat))["view"]["actions"] == [UP, DOWN]
        assert (await ask(seat, "state")).data["step_count"] == 2


@pytest.mark.parametrize(("world", "kind"), HANGING)
async def test_what_waits_for_a_view_that_will_not_end_is_told_so_and_not_begun(
    monkeypatch: pytest.MonkeyPatch, world: type[Shown], kind: HostKind
) -> None:
    monkeypatch.setattr(showing, "PATIENCE_S", 0.2)
    limits: dict[str, Any] = {"step_timeout": None, "reset_timeout": None, "close_grace": 0.2}
    asked: list[tuple[Operation, float | None]] = [
        ("step", None),
        ("reset", None),
        ("state", None),
        ("step", 0.1),
    ]
    async with serving(world, kind, typed=False, **limits) as sessions:
        with released_at_last():
            seat = await sessions.open()
            assert "timed out" in (await shown(seat, "stubborn"))["view"]["error"]
            for op, timeout_s in asked:
                refused = await ask(seat, op, None, timeout_s)
                assert (refused.code, refused.ends_session) == ("EXECUTION_ERROR", False)
                told = refused.data["message"]
                assert "render_web or web_actions" in told
                assert f"this {op} was not begun" in told
            assert seat.is_open
            if kind in CHILDREN:
                await seat.close()
        await until(lambda: not seat.is_recovering or not sessions.active)


@pytest.mark.parametrize(("world", "kind"), HANGING)
async def test_a_session_goes_on_when_a_view_that_was_given_up_returns(
    monkeypatch: pytest.MonkeyPatch, world: type[Shown], kind: HostKind
) -> None:
    async with serving(world, kind, typed=False) as sessions:
        seat = await sessions.open()
        monkeypatch.setattr(showing, "PATIENCE_S", 0.1)
        assert "timed out" in (await shown(seat, "lingers"))["view"]["error"]
        while (answer := await ask(seat, "step")).type == "error":
            assert answer.code == "EXECUTION_ERROR"
        assert (await ask(seat, "state")).data["step_count"] == 2


async def test_what_has_waited_for_a_view_has_a_deadline_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(showing, "PATIENCE_S", 0.1)
    async with serving(Shown, "process", typed=False, step_timeout=1.0) as sessions:
        seat = await sessions.open()
        assert "timed out" in (await shown(seat, "lingers"))["view"]["error"]
        code = "EXECUTION_ERROR"
        while code == "EXECUTION_ERROR":
            code = (await ask(seat, "step", {"view": "hanging step"})).code
        assert code == "STEP_TIMEOUT"


async def test_a_view_that_will_not_end_keeps_no_session_that_nobody_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(showing, "PATIENCE_S", 0.2)
    limits: dict[str, Any] = {"unattached_timeout": 0.2, "close_grace": 0.2}
    async with serving(Shown, "process", typed=False, **limits) as sessions:
        seat = await sessions.open()
        assert "timed out" in (await shown(seat, "stubborn"))["view"]["error"]
        await until(lambda: sessions.active == 0)


async def test_a_view_takes_no_longer_than_its_caller_waits() -> None:
    async with serving(Shown, "thread", typed=False) as sessions:
        told = await shown(await sessions.open(), "hangs", timeout_s=1.0)
        assert "after 1 s" in told["view"]["error"]


@pytest.mark.parametrize("kind", CHILDREN)
async def test_an_environment_that_dies_of_its_view_has_taken_the_step(kind: HostKind) -> None:
    async with serving(Shown, kind, typed=False) as sessions:
        seat = await sessions.open()
        reply = await seat.ask(Request("step", {"view": "dies"}, view=True))
        told = data(reply)
        assert told["observation"]["text"] == "dies"
        assert "died (exit code 7)" in told["view"]["error"]
        assert reply.ends_session
        assert not seat.is_open


async def test_a_view_that_makes_its_reply_too_large_is_left_out() -> None:
    async with serving(Shown, "thread", typed=False, max_reply_bytes=250) as sessions:
        seat = await sessions.open()
        told = await shown(seat)
        assert "larger than may be sent" in told["view"]["error"]


@pytest.mark.parametrize("world", [Shown, ShownLater])
async def test_a_view_that_was_refused_is_not_kept(world: type[Shown]) -> None:
    class Text(str):
        """One that can be looked after."""

    made: list[weakref.ref[Text]] = []

    class Huge(world):  # type: ignore[valid-type,misc]
        def render_web(self, observation: dict[str, Any]) -> Any:
            text = Text("x" * (5 << 20))
            made.append(weakref.ref(text))
            return text

    gc.disable()  # it is let go at once, not some day
    try:
        async with serving(Huge, "thread", typed=False) as sessions:
            seat = await sessions.open()
            assert "5242880 characters" in (await shown(seat))["view"]["error"]
            await ask(seat, "state")
            assert made[0]() is None
    finally:
        gc.enable()


async def test_a_session_that_is_closed_meanwhile_gives_its_step_away() -> None:
    async with serving(ShownLater, "inline", typed=False) as sessions:
        seat = await sessions.open()
        before, replies = Shown.views, list[Reply]()
        seat.serve(Request("step", {"view": "hangs"}, view=True), replies.append)
        await until(lambda: Shown.views > before)
        await seat.close()
        told = data(replies[0])
        assert told["observation"]["text"] == "hangs"
        assert told["view"]["error"]


@pytest.mark.parametrize("kind", HOSTS)
async def test_calls_of_tools_are_shown_too(kind: HostKind) -> None:
    async with serving(ShownTools, kind, typed=False) as sessions:
        seat = await sessions.open()
        assert data(await seat.ask(Request("reset", view=True)))["view"]["html"] is not None
        listing = Request("step", {"type": "list_tools"}, view=True)
        assert "tools" in data(await seat.ask(listing))["view"]["html"]
        call = {"type": "call_tool", "tool_name": "add", "arguments": {"a": 2}}
        told = data(await seat.ask(Request("step", call, view=True)))
        assert told["observation"]["result"]["data"] == 3
        assert told["view"]["html"] == "done,error,metadata,result,reward,tool_name"


async def test_a_call_that_is_given_up_has_no_view() -> None:
    async with serving(ShownTools, "thread", typed=False) as sessions:
        seat = await sessions.open()
        await ask(seat, "reset")
        told = data(await seat.ask(Request("call_tool", {"tool_name": "hang"}, view=True)))
        assert told["observation"]["error"]["error_type"] == "timeout"
        assert "given up" in told["view"]["error"]
        listed = data(await seat.ask(Request("list_tools", view=True)))
        assert "tools" in listed["view"]["html"]
