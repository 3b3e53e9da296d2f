"""Our clients against the peer's server, and the peer's clients against ours: the same calls.

Both ways have to come out as in `EXPECTED`, with every kind of client. `Refused` is an error: the
peer's clients raise a `RuntimeError` that names the code, ours raise the typed one.
"""

from typing import Any, NamedTuple

import pytest

from tests.interop.calls import KINDS, Outcome, converse

pytestmark = [pytest.mark.interop, pytest.mark.timeout(120)]


class Refused(NamedTuple):
    """An error: its code, words of its text, and its type and numbers where the client is ours."""

    code: str
    words: str
    type: str
    numbers: dict[str, int] = {}


def seen(echoed: str, n: int = 1, reward: float | None = 1.0, done: bool = False) -> Outcome:
    """What a step shows."""
    observation = {"echoed": echoed, "n": n, "metadata": {}}
    return {"observation": observation, "reward": reward, "done": done}


def ready(arguments: str = "[]", seed: int | None = 1) -> Outcome:
    """What a reset shows."""
    observation = {"echoed": f"ready seed={seed} {arguments}", "n": 0, "metadata": {"msg": "hello"}}
    return {"observation": observation, "reward": 0.0, "done": False}


def stands(steps: int, last: str | None, episode_id: str = "e1") -> Outcome:
    """A state."""
    return {"state": {"episode_id": episode_id, "step_count": steps, "last": last}}


CROWDED = Refused(
    "CAPACITY_REACHED", "4/4", "SessionCapacityError", {"active_sessions": 4, "max_sessions": 4}
)

EXPECTED: dict[str, list[Outcome | Refused | None]] = {
    "episode": [
        ready("['level', 'zz']"),
        stands(0, None),
        seen("hi", 2, 2.0),
        stands(1, "hi"),
        seen("quit", 5, 5.0, done=True),
    ],
    "again": [
        ready(),
        seen("quit", done=True),
        ready(),
        stands(0, None, "e2"),
        seen("hi"),
        stands(1, "hi", "e2"),
    ],
    "invalid": [
        ready(),
        Refused("VALIDATION_ERROR", "", "InvalidRequest"),
        seen("still here"),
    ],
    "exceptions": [
        ready(),
        Refused("EXECUTION_ERROR", "step exploded", "EnvironmentFailed"),
        seen("still here"),
        Refused("EXECUTION_ERROR", "reset exploded", "EnvironmentFailed"),
        ready(),
        stands(0, None),
    ],
    "big": [
        ready(),
        seen("3000000 x x", 3, 3.0),
        seen("5000000 x y"),
        seen("small"),
    ],
    "crowd": [*[ready(seed=None)] * 4, CROWDED, None, ready(seed=None)],
    "broken": [Refused("FACTORY_ERROR", "BrokenEnv", "EnvironmentFactoryError")],
}


def rewards(nan: Any) -> list[Outcome | Refused | None]:
    """The peer sends a reward that is NaN as null; we send text, as v1 has it."""
    return [ready(), seen("noreward", reward=None), seen("nan", reward=nan)]


def check_ours(outcomes: list[Any], expected: list[Outcome | Refused | None]) -> None:
    """Outcomes of our clients."""
    assert len(outcomes) == len(expected)
    for outcome, wanted in zip(outcomes, expected, strict=True):
        if not isinstance(wanted, Refused):
            assert outcome == wanted
            continue
        assert outcome["error"][0] == wanted.type
        assert "RuntimeError" in outcome["error"]
        assert outcome["code"] == wanted.code
        assert wanted.words in outcome["text"]
        assert {name: outcome[name] for name in wanted.numbers} == wanted.numbers


def check_peer(outcomes: list[Any], expected: list[Outcome | Refused | None]) -> None:
    """Outcomes of the peer's clients."""
    assert len(outcomes) == len(expected)
    for outcome, wanted in zip(outcomes, expected, strict=True):
        if not isinstance(wanted, Refused):
            assert outcome == wanted
            continue
        assert outcome["error"][0] == "RuntimeError"
        assert f"(code: {wanted.code})" in outcome["text"]
        assert wanted.words in outcome["text"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scenario", [name for name in EXPECTED if name != "broken"])
def test_our_clients_with_the_peers_server(peer_server: str, kind: str, scenario: str) -> None:
    check_ours(converse(kind, peer_server, scenario), EXPECTED[scenario])


@pytest.mark.parametrize("kind", KINDS)
def test_our_clients_read_the_peers_rewards(peer_server: str, kind: str) -> None:
    check_ours(converse(kind, peer_server, "rewards"), rewards(nan=None))


@pytest.mark.parametrize("kind", KINDS)
def test_our_clients_when_the_peer_cannot_build(peer_broken_server: str, kind: str) -> None:
    check_ours(converse(kind, peer_broken_server, "broken"), EXPECTED["broken"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scenario", [name for name in EXPECTED if name != "broken"])
class TestPeersClients:
    def test_with_our_application(
        self, peer_on_our_server: dict[str, Any], kind: str, scenario: str
    ) -> None:
        check_peer(peer_on_our_server[scenario][kind], EXPECTED[scenario])

    def test_with_our_command(
        self, peer_on_our_command: dict[str, Any], kind: str, scenario: str
    ) -> None:
        check_peer(peer_on_our_command[scenario][kind], EXPECTED[scenario])


@pytest.mark.parametrize("kind", KINDS)
def test_the_peers_clients_read_our_rewards(peer_on_our_server: dict[str, Any], kind: str) -> None:
    check_peer(peer_on_our_server["rewards"][kind], rewards(nan="NaN"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_peers_clients_when_we_cannot_build(
    peer_on_our_broken_server: dict[str, Any], kind: str
) -> None:
    check_peer(peer_on_our_broken_server["broken"][kind], EXPECTED["broken"])
