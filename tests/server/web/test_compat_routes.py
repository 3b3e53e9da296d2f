"""The shared episode of custom pages: `/web/metadata|state|reset|step` and `/ws/ui`."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPException
from typing import Any, get_args

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from openenv import Action, CallToolAction, CallToolObservation, Environment, Observation, tool
from openenv.env.environment import HostKind
from openenv.runtime.limits import Limits
from openenv.server.web.shared_episode import MAX_ACTION_LOGS, MAX_LOG_BYTES
from openenv.server.web.viewers import MOST_VIEWERS
from tests.server.worlds import Awaited, Do, Gate, Saw, World
from tests.serving import PATIENCE_S, Answer, Served, eventually, serving

HOST_KINDS = get_args(HostKind)
NOTHING_YET: dict[str, Any] = {
    "episode_id": None,
    "step_count": 0,
    "current_observation": None,
    "action_logs": [],
    "is_reset": True,
}


@pytest.fixture(params=HOST_KINDS)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with serving(World, host_kind=request.param, web=True) as server:
        yield server


@pytest.fixture
def threaded() -> Iterator[Served]:
    with serving(World, host_kind="thread", web=True) as server:
        yield server


def reset(served: Served, **keywords: Any) -> Any:
    return played(served.post("/web/reset", keywords))


def step(served: Served, **action: Any) -> Any:
    return played(served.post("/web/step", {"action": action}))


def played(answer: Answer) -> Any:
    assert answer.status == 200, answer.body
    return answer.json()


def refused(answer: Answer) -> tuple[int, str]:
    """The status, and the code in the form of all of our errors."""
    told = answer.json()
    assert told.keys() >= {"detail", "code", "message"}
    return answer.status, told["code"]


@contextmanager
def viewing(served: Served, **options: Any) -> Iterator[ClientConnection]:
    with served.socket("/ws/ui", **options) as socket:
        yield socket.connection


def seen(viewer: ClientConnection) -> dict[str, Any]:
    update = json.loads(viewer.recv(timeout=PATIENCE_S))
    assert update.keys() == {"type", "episode_state"}
    assert update["type"] == "state_update"
    state: dict[str, Any] = update["episode_state"]
    return state


def test_an_episode_in_every_host(served: Served) -> None:
    assert reset(served, seed=3, episode_id="e1", level=2) == {
        "observation": {"metadata": {}, "text": "ready", "value": {"seed": 3, "level": 2}},
        "reward": None,
        "done": False,
    }
    assert step(served, text="hi") == {
        "observation": {"metadata": {}, "text": "hi", "value": None},
        "reward": 1.0,
        "done": False,
    }
    assert served.http("GET", "/web/state").json() == {
        "episode_id": "e1",
        "step_count": 1,
        "last": "hi",
    }


def test_async_environments_play() -> None:
    with serving(Awaited, web=True) as served:
        assert reset(served)["observation"]["text"] == "ready"
        assert step(served, text="hi", number=3)["observation"]["text"] == "hi"


def test_an_instance_is_played_as_well() -> None:
    with serving(World(), web=True) as served:
        reset(served, episode_id="e1")
        assert served.http("GET", "/web/state").json()["episode_id"] == "e1"


def test_an_action_that_is_not_valid_leaves_the_episode_alone(threaded: Served) -> None:
    reset(threaded)
    step(threaded, text="first")
    wrong = threaded.post("/web/step", {"action": {"number": -1}})
    assert refused(wrong) == (422, "VALIDATION_ERROR")
    assert wrong.json()["detail"][0]["loc"] == ["number"]
    step(threaded, text="second")
    assert threaded.http("GET", "/web/state").json()["step_count"] == 2


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("/web/step", {}, ["body", "action"]),
        ("/web/step", {"action": []}, ["body", "action"]),
        ("/web/step", [], ["body"]),
        ("/web/step", b"{bad", ["body"]),
        ("/web/reset", [], ["body"]),
        ("/web/reset", b"null", ["body"]),
        ("/web/reset", {"seed": -1}, ["body", "seed"]),
    ],
)
def test_what_cannot_be_read_is_told_where(
    threaded: Served, path: str, body: Any, place: list[str]
) -> None:
    reset(threaded)
    answer = threaded.http("POST", path, body, {"Content-Type": "application/json"})
    assert refused(answer)[0] == 422
    assert answer.json()["detail"][0]["loc"] == place
    step(threaded, text="it lives")


def test_a_reset_needs_no_body(threaded: Served) -> None:
    assert played(threaded.post("/web/reset"))["observation"]["text"] == "ready"


def test_before_the_first_reset_there_is_no_session(threaded: Served) -> None:
    state = threaded.http("GET", "/web/state")
    assert state.json() == {"episode_id": None, "step_count": 0, "last": ""}
    wanting = threaded.post("/web/step", {"action": {}})
    assert refused(wanting) == (409, "RESET_REQUIRED")
    assert threaded.active() == 0


class Lenient(World):
    """Takes steps outside of an episode."""

    REQUIRES_RESET = False


def test_an_environment_that_needs_no_reset_gets_none() -> None:
    with serving(Lenient, web=True) as served:
        assert step(served, text="hi")["observation"]["text"] == "hi"


def test_a_state_that_cannot_be_told_is_409_and_the_step_counts(threaded: Served) -> None:
    reset(threaded, episode_id="e1")
    with viewing(threaded) as viewer:
        seen(viewer)
        step(threaded, text="no state")
        assert refused(threaded.http("GET", "/web/state")) == (409, "EXECUTION_ERROR")
        state = seen(viewer)
    assert (state["episode_id"], state["step_count"]) == ("e1", 1)


def test_a_step_that_raises_is_told_and_the_episode_goes_on(threaded: Served) -> None:
    reset(threaded)
    assert refused(threaded.post("/web/step", {"action": {"what": "raise"}}))[0] == 500
    step(threaded, text="it lives")


def test_a_reset_that_raises_leaves_no_episode(threaded: Served) -> None:
    reset(threaded)
    step(threaded, text="first")
    with viewing(threaded) as viewer:
        assert len(seen(viewer)["action_logs"]) == 1
        answer = threaded.post("/web/reset", {"what": "raise"})
        assert refused(answer) == (500, "EXECUTION_ERROR")
        assert seen(viewer) == NOTHING_YET
    assert refused(threaded.post("/web/step", {"action": {}})) == (409, "RESET_REQUIRED")


class Mortal(World):
    """Ends its process, if it is told to."""

    def step(self, action: Do) -> Saw:
        if action.what == "exit":
            os._exit(3)
        return super().step(action)


def test_a_process_that_dies_is_told_and_the_next_reset_gets_another() -> None:
    with serving(Mortal, host_kind="process", web=True) as served:
        reset(served)
        with viewing(served) as viewer:
            seen(viewer)
            answer = served.post("/web/step", {"action": {"what": "exit"}})
            assert refused(answer) == (500, "HOST_CRASHED")
            assert seen(viewer) == NOTHING_YET
        assert reset(served)["observation"]["text"] == "ready"


def test_the_card_is_that_of_metadata(threaded: Served) -> None:
    assert played(threaded.http("GET", "/web/metadata")) == played(
        threaded.http("GET", "/metadata")
    )


def test_messages_are_actions(threaded: Served) -> None:
    class Said(Action):
        message: str

    class Listening(Environment[Said, Saw]):
        def reset(self, **options: Any) -> Saw:
            return Saw()

        def step(self, action: Said) -> Saw:
            return Saw(text=f"you said {action.message}")

    with serving(Listening, web=True) as served:
        reset(served)
        answer = played(served.post("/web/step", {"message": "hi"}))
        assert answer["observation"]["text"] == "you said hi"


class Tokens(Action):
    """What a tokenizer makes of a message."""

    tokens: list[int]


class Mumbling(Environment[Tokens, Saw]):
    """Makes no actions of messages, though it means to."""

    async def message_to_action(self, message: Any) -> Tokens:
        return Tokens(tokens=[len(message)])

    def reset(self, **options: Any) -> Saw:
        return Saw()

    def step(self, action: Tokens) -> Saw:
        return Saw(value=action.tokens)


def test_a_step_never_gets_a_message_that_is_no_action() -> None:
    with serving(Mumbling, web=True) as served:
        reset(served)
        answer = served.post("/web/step", {"message": "hi"})
        assert refused(answer) == (500, "EXECUTION_ERROR")
        assert b"message_to_action must give an action, got coroutine" in answer.body
        assert step(served, tokens="1")["observation"]["value"] == [1]


class Chat(Environment[Tokens, Saw]):
    """Makes actions of messages itself."""

    def message_to_action(self, message: Any) -> Tokens:
        return Tokens(tokens=[len(message["content"])])

    def reset(self, **options: Any) -> Saw:
        return Saw()

    def step(self, action: Tokens) -> Saw:
        return Saw(value=action.tokens)


@pytest.mark.parametrize("host", ["thread", "process"])
def test_an_environment_makes_actions_of_messages_where_it_lives(host: HostKind) -> None:
    with serving(Chat, host_kind=host, web=True) as served:
        reset(served)
        said = {"role": "user", "content": "hello"}
        assert played(served.post("/web/step", {"message": said}))["observation"]["value"] == [5]
        broken = served.post("/web/step", {"message": "no role"})
        assert refused(broken) == (500, "EXECUTION_ERROR")
        assert step(served, tokens="1, 2")["observation"]["value"] == [1, 2]


class TestSessions:
    """The shared episode is a session like any other."""

    def test_it_is_apart_from_others_and_counts(self) -> None:
        with serving(World, max_concurrent_envs=2, web=True) as served:
            reset(served, episode_id="shared")
            with served.socket() as own:
                own.reset(episode_id="own")
                own.step(text="mine")
                assert served.http("GET", "/web/state").json()["step_count"] == 0
                assert served.active() == 2
            eventually(lambda: served.active() == 1)

    def test_a_full_server_says_so(self) -> None:
        with serving(World, max_concurrent_envs=1, web=True) as served:
            with served.socket() as own:
                own.reset()
                answer = served.post("/web/reset")
                assert refused(answer) == (503, "CAPACITY_REACHED")
            eventually(lambda: served.active() == 0)
            reset(served)

    def test_it_expires_and_viewers_see_it(self) -> None:
        with serving(World, web=True, limits=Limits(unattached_timeout=0.3)) as served:
            with viewing(served) as viewer:
                assert seen(viewer) == NOTHING_YET
                reset(served, episode_id="e1")
                assert seen(viewer)["episode_id"] == "e1"
                assert seen(viewer) == NOTHING_YET
            eventually(lambda: served.active() == 0)
            assert refused(served.post("/web/step", {"action": {}})) == (409, "RESET_REQUIRED")

    def test_two_visitors_at_once_open_one_session(self) -> None:
        gate = World.gate = Gate()
        with serving(World, host_kind="thread", web=True) as served:
            reset(served)
            with ThreadPoolExecutor(4) as visitors:
                waiting = visitors.submit(step, served, what="wait", text="first")
                gate.wait_until_entered()
                others = [visitors.submit(step, served, text=f"{n}") for n in range(3)]
                gate.opened.set()
                assert waiting.result()["observation"]["text"] == "first"
                assert {other.result()["reward"] for other in others} == {1.0}
            assert served.active() == 1
            assert served.http("GET", "/web/state").json()["step_count"] == 4

    def test_several_processes_share_none(self) -> None:
        with serving(World, web=True, variables={"OPENENV_WORKERS": "2"}) as served:
            assert refused(served.post("/web/reset")) == (503, "SESSION_ERROR")


class TestControl:
    """Who may not control episodes plays none."""

    CALLS = (("POST", "/web/reset"), ("POST", "/web/step"), ("GET", "/web/state"))

    @pytest.mark.parametrize("options", [{"mode": "production"}, {"control_token": "secret"}])
    def test_it_is_refused(self, options: dict[str, Any]) -> None:
        with serving(World, web=True, **options) as served:
            for method, path in self.CALLS:
                assert refused(served.http(method, path)) == (401, "CONTROL_CLOSED")
            with pytest.raises(InvalidStatus, match="401"), viewing(served):
                pass
            assert played(served.http("GET", "/web/metadata"))["name"] == "World"
            assert served.active() == 0

    def test_who_shows_the_token_plays(self) -> None:
        shown = {"Authorization": "Bearer secret"}
        with serving(World, web=True, mode="production", control_token="secret") as served:
            played(served.http("POST", "/web/reset", {}, shown))
            with viewing(served, additional_headers=shown) as viewer:
                assert seen(viewer)["current_observation"]["text"] == "ready"
            page = ["my.page", "openenv.bearer.c2VjcmV0"]
            with viewing(served, subprotocols=page) as viewer:
                assert viewer.subprotocol == "my.page"
                seen(viewer)

    def test_there_is_nothing_without_the_page(self) -> None:
        with serving(World, web=False) as served:
            assert served.http("POST", "/web/reset").status == 404
            with pytest.raises(InvalidStatus), viewing(served):
                pass

    def test_other_origins_see_nothing(self, threaded: Served) -> None:
        with (
            pytest.raises(InvalidStatus, match="403"),
            viewing(threaded, origin="https://elsewhere.example"),
        ):
            pass


class TestViewers:
    """What `/ws/ui` tells."""

    def test_everything_that_happens(self, threaded: Served) -> None:
        with viewing(threaded) as viewer:
            assert seen(viewer) == NOTHING_YET
            reset(threaded, episode_id="e1")
            begun = seen(viewer)
            step(threaded, what="end", text="bye")
            ended = seen(viewer)
        assert begun == {
            **NOTHING_YET,
            "episode_id": "e1",
            "current_observation": {
                "metadata": {},
                "text": "ready",
                "value": {"seed": None},
            },
        }
        (log,) = ended.pop("action_logs")
        assert ended == {
            "episode_id": "e1",
            "step_count": 1,
            "current_observation": {"metadata": {}, "text": "bye", "value": None},
            "is_reset": False,
        }
        assert log.pop("timestamp").endswith("+00:00")
        assert log == {
            "action": {"what": "end", "text": "bye", "number": 0},
            "observation": {"metadata": {}, "text": "bye", "value": None},
            "reward": 1.0,
            "done": True,
            "step_count": 1,
        }

    def test_what_they_say_means_nothing(self, threaded: Served) -> None:
        with viewing(threaded) as viewer:
            seen(viewer)
            for frame in ("hello", '{"type":"reset"}', b"\x00"):
                viewer.send(frame)
            reset(threaded)
            assert seen(viewer)["current_observation"]["text"] == "ready"

    def test_all_see_the_same(self, threaded: Served) -> None:
        with viewing(threaded) as one, viewing(threaded) as other:
            seen(one), seen(other)
            reset(threaded, episode_id="e1")
            assert seen(one) == seen(other)

    def test_who_is_slow_sees_the_newest_in_the_end(self, threaded: Served) -> None:
        reset(threaded)
        with viewing(threaded, max_queue=1, max_size=None) as viewer:
            seen(viewer)
            for number in range(200):
                step(threaded, text=f"{number} {'x' * 20_000}")
            frames = 1
            while seen(viewer)["step_count"] < 200:
                frames += 1
        assert frames < 200

    def test_there_are_not_too_many(self, threaded: Served) -> None:
        with ExitStack() as stack:
            for _ in range(MOST_VIEWERS):
                seen(stack.enter_context(viewing(threaded)))
            with pytest.raises(InvalidStatus), viewing(threaded):
                pass
        with viewing(threaded) as viewer:
            seen(viewer)


class Big(Observation):
    """As large as its action asks for."""

    text: str = ""


class Sized(Action):
    """How large."""

    size: int = 1


class Bigger(Environment[Sized, Big]):
    """Gives large observations."""

    def reset(self, **options: Any) -> Big:
        return Big()

    def step(self, action: Sized) -> Big:
        return Big(text="x" * action.size)


def test_the_record_is_bounded_in_steps() -> None:
    with serving(Bigger, host_kind="inline", web=True) as served:
        reset(served)
        for _ in range(MAX_ACTION_LOGS + 2):
            step(served)
        with viewing(served, max_size=None) as viewer:
            logs = seen(viewer)["action_logs"]
    assert [log["step_count"] for log in (logs[0], logs[-1])] == [3, MAX_ACTION_LOGS + 2]


def test_the_record_is_bounded_in_bytes() -> None:
    with serving(Bigger, host_kind="inline", web=True) as served:
        reset(served)
        for _ in range(6):
            step(served, size=MAX_LOG_BYTES // 4)
        with viewing(served, max_size=None) as viewer:
            assert len(seen(viewer)["action_logs"]) == 3
        step(served, size=MAX_LOG_BYTES + 1)
        with viewing(served, max_size=None) as viewer:
            (log,) = seen(viewer)["action_logs"]
    assert log["step_count"] == 7


def test_a_server_that_ends_lets_viewers_go() -> None:
    with ExitStack() as viewers, serving(World, web=True) as served:
        viewer = viewers.enter_context(viewing(served))
        seen(viewer)
        reset(served)
    with pytest.raises(ConnectionClosed):
        while True:
            seen(viewer)


class Shop(Environment[CallToolAction, CallToolObservation]):
    """Offers a tool alone."""

    def reset(self, **options: Any) -> Observation:  # type: ignore[override]
        return Observation()

    @tool
    def price(self, of: str) -> int:
        """The price of something."""
        return len(of)


def test_tools_are_called() -> None:
    with serving(Shop, web=True) as served:
        reset(served)
        listed = step(served, type="list_tools")["observation"]["tools"]
        assert [tool["name"] for tool in listed] == ["price"]
        called = step(served, type="call_tool", tool_name="price", arguments='{"of": "tea"}')
        assert called["observation"]["result"]["data"] == 3


def test_a_server_that_ends_waits_for_no_call_that_hangs() -> None:
    gate = World.gate = Gate()
    limits = Limits(drain_grace=0.2, close_grace=0.2)
    with ThreadPoolExecutor(2) as visitors:
        with serving(World, host_kind="thread", web=True, limits=limits) as served:
            reset(served)
            hanging = visitors.submit(served.post, "/web/step", {"action": {"what": "wait"}})
            gate.wait_until_entered()
            behind = visitors.submit(served.http, "GET", "/web/state")
        gate.opened.set()
        assert refused(hanging.result()) == (503, "SESSION_LOST")
        with suppress(OSError, HTTPException):  # it may have come too late
            assert refused(behind.result()) == (503, "SESSION_LOST")
