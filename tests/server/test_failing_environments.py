"""What an environment does wrong is told to its client, in its session; the server goes on."""

from typing import Any

import pytest
from pydantic import ConfigDict

from openenv import Environment, State
from openenv.env.environment import HostKind
from tests.server.conftest import HOST_KINDS
from tests.server.worlds import (
    Awaited,
    Do,
    ExitsWhenBuilt,
    ExitsWhenClosed,
    PickyWorld,
    Saw,
    SumsWorld,
    Unbuildable,
    Unclosable,
    World,
)
from tests.serving import Served, Socket, eventually, serving

each_host = pytest.mark.parametrize("kind", HOST_KINDS)

FAILURES = {
    "raises": ("raise", "no such thing", {"exception": "ValueError"}),
    "raises StopIteration": ("stop", "StopIteration", {"exception": "StopIteration"}),
    "calls sys.exit()": ("exit", "sys.exit(3)", {"exception": "SystemExit"}),
    "gives no observation": (
        "wrong",
        "must give an Observation, got dict: return Saw(**fields)",
        {},
    ),
    "gives what has no wire form": (
        "unencodable",
        "Saw.value['inner'][1] cannot be sent: a value of type object has no wire form; use plain "
        "values, lists, dicts, numpy arrays or pydantic models",
        {"path": "Saw.value['inner'][1]"},
    ),
}


def goes_on(client: Socket) -> None:
    client.reset()
    assert client.step(text="still here")["observation"]["text"] == "still here"


@pytest.mark.parametrize(("what", "words", "details"), FAILURES.values(), ids=FAILURES)
def test_a_step_that_fails_is_told(
    hosted: Socket, what: str, words: str, details: dict[str, Any]
) -> None:
    hosted.reset()
    error = hosted.refused({"type": "step", "data": {"what": what}})
    assert error["code"] == "EXECUTION_ERROR"
    assert words in error["message"]
    assert error["message"].count("no wire form") <= 1
    assert "\n" not in error["message"]
    assert error.items() >= details.items()
    assert hosted.step(text="on")["observation"]["text"] == "on"
    goes_on(hosted)


@pytest.mark.parametrize(("what", "words", "details"), FAILURES.values(), ids=FAILURES)
def test_a_reset_that_fails_is_told(
    hosted: Socket, what: str, words: str, details: dict[str, Any]
) -> None:
    error = hosted.refused({"type": "reset", "data": {"what": what}})
    assert error["code"] == "EXECUTION_ERROR"
    assert words in error["message"]
    assert error.items() >= details.items()
    goes_on(hosted)


def test_a_state_that_fails_is_told(hosted: Socket) -> None:
    hosted.reset()
    hosted.step(text="no state")
    error = hosted.refused({"type": "state"})
    assert error["code"] == "EXECUTION_ERROR"
    assert error["message"] == "the state is gone"
    assert error["operation"] == "state"
    goes_on(hosted)


def test_words_that_are_no_unicode_are_told(hosted: Socket) -> None:
    """File names may hold such; Python keeps their bytes as lone surrogates."""
    hosted.reset()
    error = hosted.refused({"type": "reset", "data": {"what": "raise-surrogate"}})
    assert error["code"] == "EXECUTION_ERROR"
    assert error["message"] == "no file bad\\udcff"
    assert error["exception"] == "ValueError"
    goes_on(hosted)


@each_host
def test_a_constructor_that_fails_is_told(kind: HostKind) -> None:
    with serving(Unbuildable, host_kind=kind) as server:
        with server.socket() as client:
            message = client.receive()
            assert message["type"] == "error"
            assert message["data"]["code"] == "FACTORY_ERROR"
            assert "ValueError: no such level" in message["data"]["message"]
            assert client.closed() == 1000
        answer = server.post("/reset")
        assert answer.status == 500
        assert answer.json()["code"] == "FACTORY_ERROR"
        eventually(lambda: server.active() == 0)


@each_host
def test_a_constructor_that_exits_is_told(kind: HostKind) -> None:
    with serving(ExitsWhenBuilt, host_kind=kind) as server:
        with server.socket() as client:
            error = client.receive()["data"]
            assert error["code"] in ("FACTORY_ERROR", "HOST_CRASHED")
            assert client.closed() == 1000
        eventually(lambda: server.active() == 0)


@each_host
@pytest.mark.parametrize("env", [Unclosable, ExitsWhenClosed])
def test_a_close_that_fails_frees_the_slot(kind: HostKind, env: Any) -> None:
    with serving(env, host_kind=kind) as server:
        with server.socket() as client:
            client.reset()
            client.send({"type": "close"})
            assert client.closed() == 1000
        eventually(lambda: server.active() == 0)


@each_host
def test_an_action_whose_check_is_wrong_is_told(kind: HostKind) -> None:
    with serving(PickyWorld, host_kind=kind) as server, server.socket() as client:
        client.reset()
        error = client.refused({"type": "step", "data": {"text": "unknown"}})
        assert error["code"] in ("VALIDATION_ERROR", "EXECUTION_ERROR")
        assert "unknown" in error["message"]
        assert client.step(text="fine")["observation"]["text"] == "fine"


@each_host
def test_a_field_that_fails_to_be_computed_is_told(kind: HostKind) -> None:
    with serving(SumsWorld, host_kind=kind) as server, server.socket() as client:
        client.reset()
        error = client.refused({"type": "step", "data": {"text": ""}})
        assert error["code"] == "EXECUTION_ERROR"
        assert "division by zero" in error["message"]
        assert client.step(text="fine")["observation"]["ratio"] == 0.25


@each_host
def test_a_keyboard_interrupt_of_an_environment_ends_no_server(kind: HostKind) -> None:
    with serving(World, host_kind=kind) as server, server.socket() as other:
        other.reset()
        with server.socket() as client:
            client.reset()
            assert client.ask({"type": "step", "data": {"what": "interrupt"}})["type"] == "error"
        assert other.step(text="still here")["observation"]["text"] == "still here"


@each_host
@pytest.mark.parametrize("what", ["raise", "stop", "exit"])
def test_an_awaited_step_that_fails_is_told(kind: HostKind, what: str) -> None:
    with serving(Awaited, host_kind=kind) as server, server.socket() as client:
        for number in (0, 3):
            client.reset()
            message = client.ask({"type": "step", "data": {"what": what, "number": number}})
            assert message["type"] == "error"
        goes_on(client)


@each_host
def test_a_step_that_cancels_itself_is_told(kind: HostKind) -> None:
    with serving(Awaited, host_kind=kind) as server:
        with server.socket() as client:
            client.reset()
            client.refused({"type": "step", "data": {"what": "interrupt"}})
        eventually(lambda: server.active() == 0)
        with server.socket() as other:
            goes_on(other)


def test_two_clients_do_not_disturb_each_other(server: Served) -> None:
    with server.socket() as first, server.socket() as second:
        first.reset()
        second.reset()
        first.refused({"type": "step", "data": {"what": "raise"}})
        first.refused({"type": "step", "data": {"what": "exit"}})
        assert second.step(text="undisturbed")["observation"]["text"] == "undisturbed"
        assert first.state()["step_count"] == 2
        assert second.state()["step_count"] == 1


@pytest.mark.parametrize("name", ["self", "", "not a name", "class", "__init__"])
def test_any_keyword_of_a_reset_is_borne(client: Socket, name: str) -> None:
    message = client.ask({"type": "reset", "data": {name: 1}})
    assert message["type"] == "observation" or message["data"]["code"] == "EXECUTION_ERROR"
    goes_on(client)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_state_without_a_wire_form_is_told() -> None:
    class Loose(State):
        model_config = ConfigDict(validate_assignment=False)
        last: Any = None

    class Unsaid(Environment[Do, Saw, Loose]):
        def reset(self, **options: Any) -> Saw:
            self._state = Loose(last={"it": [object()]})
            return Saw()

        def step(self, action: Do) -> Saw:
            return Saw(text=action.text)

        @property
        def state(self) -> Loose:
            return self._state

    with serving(Unsaid) as server, server.socket() as client:
        client.reset()
        error = client.refused({"type": "state"})
        assert error["code"] == "EXECUTION_ERROR"
        assert "Loose.last['it'][0] cannot be sent" in error["message"]
        assert client.step(text="on")["observation"]["text"] == "on"
