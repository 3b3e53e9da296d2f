"""Views over wire v2: with the key `view`, in both encodings, answered again as they were."""

from typing import Any

import pytest

from openenv.env.environment import HostKind
from tests.runtime.view_worlds import Shown
from tests.server.v2 import ENCODINGS, JSON, back, speaking
from tests.serving import serving

HOSTS: list[HostKind] = ["inline", "thread", "process", "sandbox"]
BUTTONS = [
    {"label": "up", "action": {"view": "well"}, "key": "ArrowUp"},
    {"label": "down", "action": {"view": "raises"}},
]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", HOSTS)
def test_a_reply_has_the_view_that_was_asked_for(kind: HostKind, encoding: str) -> None:
    with serving(Shown, host_kind=kind) as server, speaking(server, encoding) as client:
        assert client.done("reset", seq=1, view=True)["view"]["actions"] == BUTTONS
        told = client.done("step", seq=2, view=True, data={"view": "end"})
        assert "0.5 True</b>" in told["view"]["html"]
        assert "view" not in client.done("step", seq=3, view=False, data={})
        assert "view" not in client.done("step", seq=4, data={})
        assert "view" not in client.done("state", view=True)
        failed = client.done("step", seq=5, view=True, data={"view": "raises"})
        assert failed["reward"] == 0.5
        assert "board" in failed["view"].pop("error")
        assert failed["view"] == {"html": None, "actions": []}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_step_that_is_asked_again_is_answered_with_the_view_that_it_had(encoding: str) -> None:
    with serving(Shown, host_kind="thread") as server:
        with speaking(server, encoding) as client:
            opened = client.open()
            first = client.done("step", seq=1, view=True, data={})
            made = Shown.views
            assert client.done("step", seq=1, data={}) == first
        with speaking(server, encoding) as client:
            client.open(**back(opened, 1))
            assert client.done("step", seq=1, view=True, data={}) == first
        assert Shown.views == made


def test_a_batch_has_no_views() -> None:
    items = [{"op": "reset", "ch": 1, "seq": 1, "view": True}]
    with serving(Shown, host_kind="inline") as server, speaking(server, JSON) as client:
        batch = client.done("batch", view=True, data={"items": items})
        assert "view" not in batch["items"][0]["data"]


def test_the_key_is_true_or_false() -> None:
    with serving(Shown, host_kind="inline") as server, speaking(server, JSON) as client:
        assert client.refused("reset", seq=1, view="yes") == "VALIDATION_ERROR"
        assert client.done("reset", seq=1)


def test_version_1_has_none() -> None:
    with serving(Shown, host_kind="inline") as server, server.socket() as client:
        told = client.refused({"type": "reset", "view": True})
        assert told["code"] == "VALIDATION_ERROR"


def test_in_production_those_who_control_see_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENENV_CONTROL_TOKEN", "control-token-of-the-test")
    offer: Any = {"subprotocols": [JSON]}
    with serving(Shown, mode="production", host_kind="thread") as server:
        bearer = {"Authorization": "Bearer control-token-of-the-test"}
        with server.socket(additional_headers=bearer, **offer) as socket:
            assert socket.connection.subprotocol == JSON
            socket.connection.send('{"id":1,"op":"reset","seq":1,"view":true}')
            assert '"actions":[{"label":"up"' in str(socket.connection.recv(timeout=30))
            socket.connection.send(
                '{"id":2,"op":"step","seq":2,"view":true,"data":{"view":"raises"}}'
            )
            failed = str(socket.connection.recv(timeout=30))
            assert '"html":null' in failed
            assert "board" not in failed  # as with every failure in production
        with server.socket(**offer) as socket:
            assert socket.connection.subprotocol is None
