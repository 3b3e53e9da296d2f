"""Each check of `openenv validate` that is none of an environment's promises fails where it should.

Those of the promises are in `test_promises.py`, those of files in `test_files.py`.
"""

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fastapi import FastAPI

from openenv.runtime.confine import probe
from openenv.server.app import create_app
from openenv.testing.finding import Finding
from openenv.testing.trajectory import Plan
from openenv.validation import Level, Subject, Target
from openenv.validation.checks import hostility, sessions
from openenv.validation.policy import Policy
from openenv.validation.registry import own_checks
from openenv.validation.web import Site
from tests.serving import serving
from tests.validation import broken, servers
from tests.validation.broken import Sound
from tests.validation.packages import APP, MANIFEST, package

BROKEN = Path(broken.__file__)
CHECKS = {check.id: check for check in own_checks()}
POLICY = Policy.chosen(None, Level.SEMANTIC)


def looked(check: str, url: str, **options: Any) -> Finding:
    """What a check finds at a server that is ours."""
    subject = Subject(Target("it", "source", "it"), POLICY, site=Site(url), **options)
    return CHECKS[check].look(subject)


@contextmanager
def started(environment: str) -> Iterator[Subject]:
    """An environment of `broken.py`, in a process of its own."""
    subject = Subject(Target.named(f"{BROKEN}:{environment}"), POLICY)
    try:
        subject.start()
        yield subject
    finally:
        subject.close()


@pytest.mark.parametrize("path", ["/health", "/metadata", "/schema", "/mcp", "/openapi.json"])
def test_a_missing_endpoint_is_told(path: str) -> None:
    with servers.serving_app(servers.without(path)) as url:
        finding = looked("runtime.endpoints", url)
    assert finding.status == "fail"
    assert path in finding.evidence[0]


def test_a_mode_that_is_neither_is_told() -> None:
    with servers.serving_app(servers.without("/state")) as url:
        finding = looked("runtime.endpoints", url)
    assert finding.measured["failed_criteria"] == ["mode_endpoint_consistency"]
    assert finding.measured["mode"] == "unknown"


def test_a_server_without_a_token_on_a_public_address_is_warned_of() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent; it only chooses an address
        except OSError:
            pytest.skip("this machine has no address but its own")
        host = probe.getsockname()[0]
    check = CHECKS["runtime.authentication"]
    for token, status in ((None, "warn"), ("secret", "pass")):
        app = create_app(Sound, token=token)
        with servers.serving_app(app, host) as url:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            subject = Subject(Target.at_url(url), POLICY, headers=headers)
            assert check.applies(subject) is None
            subject.start()
            assert check.look(subject).status == status
    private = Subject(Target.at_url("http://127.0.0.1:8000"), POLICY)
    assert check.applies(private) == "only this machine can reach it"


def test_a_step_that_blocks_the_event_loop_is_noticed() -> None:
    with serving(broken.BlocksTheLoop) as server:
        finding = looked("runtime.responsive", f"http://127.0.0.1:{server.port}")
    assert finding.status == "fail"
    assert "nobody was answered during a step of" in finding.evidence[0]


def test_a_long_step_in_a_thread_blocks_nobody() -> None:
    class Slow(Sound):
        def step(self, action: broken.Push) -> broken.Seen:
            if not self.steps:
                time.sleep(1.2)
            return super().step(action)

    with serving(Slow) as server:
        url = f"http://127.0.0.1:{server.port}"
        subject = Subject(Target("it", "source", "it"), POLICY, site=Site(url))
        subject.stage.plan = Plan([{"by": 1}])
        finding = CHECKS["runtime.responsive"].look(subject)
    assert finding.status == "pass"
    assert finding.measured["longest_step_s"] >= 1.2
    assert finding.measured["answers"] >= 1


def test_a_refusal_without_a_word_is_noticed() -> None:
    with servers.serving_app(servers.ShutsTheDoor(max_concurrent_envs=4)) as url:
        finding = looked("runtime.capacity", url)
    assert finding.status == "fail"
    assert "session 3 was refused with" in finding.evidence[0]
    assert "not with CAPACITY_REACHED" in finding.evidence[0]


def test_more_sessions_than_are_opened_leave_it_open() -> None:
    with serving(Sound, max_concurrent_envs=1000) as server:
        finding = looked("runtime.capacity", f"http://127.0.0.1:{server.port}")
    assert finding.status == "skip"


@pytest.mark.parametrize(
    ("environment", "left"),
    [
        ("LeavesAThread", r"\d\d threads more after 16 closed sessions"),
        ("LeavesAFile", r"\d\d files more after 16 closed sessions"),
        ("LeavesMemory", "MB more after 16 closed sessions"),
    ],
)
def test_what_is_left_of_closed_sessions_is_noticed(
    environment: str, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "SETTLE_S", 0.5)
    with started(environment) as subject:
        finding = CHECKS["runtime.resource_bounds"].look(subject)
    assert finding.status == "fail"
    assert re.search(left, finding.evidence[0])


@pytest.mark.parametrize(("kind", "status"), [("source", "fail"), ("url", "warn")])
def test_sessions_that_stay_open_are_noticed(
    kind: Any, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "SETTLE_S", 0.2)
    with serving(Sound) as server, ExitStack() as held:
        url = f"http://127.0.0.1:{server.port}"
        subject = Subject(Target(url, kind, url), POLICY, site=Site(url))
        rounds = iter([False, True, False])

        def open_and_keep(subject: Subject) -> int:
            if next(rounds):
                held.enter_context(subject.stage.session())
            return 1

        monkeypatch.setattr(sessions, "_open_and_close", open_and_keep)
        finding = CHECKS["runtime.resource_bounds"].look(subject)
    assert finding.status == status
    assert finding.evidence == ("1 sessions are open, 0 were before",)


def test_a_socket_that_hangs_up_is_noticed() -> None:
    with servers.serving_app(servers.HangsUp()) as url:
        finding = looked("runtime.hostile_frames", url)
    assert finding.status == "fail"
    assert "broken JSON: closed with 1011, without a word" in finding.evidence


def test_a_session_that_ends_with_a_bad_frame_is_warned_of() -> None:
    with servers.serving_app(servers.HangsUpPolitely()) as url:
        finding = looked("runtime.hostile_frames", url)
    assert finding.status == "warn"
    assert finding.evidence[0].startswith("the session ended with broken JSON, an array")


def test_a_frame_that_is_never_answered_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostility, "ANSWER_S", 2.0)
    monkeypatch.setattr(hostility, "FRAMES", {"a slow step": '{"type": "step", "data": {"by": 1}}'})

    class Slow(Sound):
        REQUIRES_RESET = False

        def step(self, action: broken.Push) -> broken.Seen:
            time.sleep(5)
            return super().step(action)

    with serving(Slow) as server:
        finding = looked("runtime.hostile_frames", f"http://127.0.0.1:{server.port}")
    assert finding.status == "fail"
    assert finding.evidence == ("a slow step: nothing",)


@pytest.mark.parametrize("check", ["runtime.hostile_frames", "runtime.oversize_message"])
def test_a_slot_that_is_given_back_late_is_waited_for(check: str) -> None:
    with serving(Sound, max_concurrent_envs=1) as server:
        url = f"http://127.0.0.1:{server.port}"
        subject = Subject(Target("it", "source", "it"), POLICY, site=Site(url))
        with ExitStack() as held:
            held.enter_context(subject.stage.session())
            leaving = threading.Timer(0.5, held.pop_all().close)
            leaving.start()
            finding = CHECKS[check].look(subject)
            leaving.join()
    assert finding.status == "pass", finding.evidence


def test_a_server_that_a_large_message_fells_is_noticed() -> None:
    with servers.serving_app(servers.DiesOfLargeMessages()) as url:
        finding = looked("runtime.oversize_message", url)
    assert finding.status == "fail"
    assert finding.evidence == ("the server no longer answers GET /health",)


def test_what_differs_from_one_start_to_the_next_is_noticed() -> None:
    with started("HasAProcess") as subject:
        finding = CHECKS["semantic.replayability"].look(subject)
    assert finding.status == "fail"
    assert "after a new start, reset: note was" in finding.evidence[0]


def test_a_target_that_does_not_start_shows_the_lines_of_its_own_traceback(tmp_path: Path) -> None:
    (tmp_path / "env.py").write_text("import openenv\n\nWORLD = {}['sea']\n")
    subject = Subject(Target.named(str(tmp_path / "env.py")), POLICY)
    finding = CHECKS["runtime.startup"].look(subject)
    assert finding.status == "fail"
    text = "\n".join(finding.evidence)
    assert "WORLD = {}['sea']" in text
    assert "KeyError: 'sea'" in text
    assert "openenv/project" not in text


@pytest.fixture
def outside_tmp() -> Iterator[Path]:
    """A folder that a sandbox's own /tmp does not hide."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


CALLS_HOME = """
import socket

class Caller(Counted):
    def step(self, action):
        with socket.create_connection(("127.0.0.1", PORT), 5):
            return super().step(action)

app = create_app(Caller)
"""


@pytest.mark.timeout(60)
def test_who_declares_no_network_and_uses_it_is_noticed(outside_tmp: Path) -> None:
    if "netns" not in probe():
        pytest.skip("this machine cannot take the network away")
    quiet = MANIFEST + "  network: {mode: no-network}\n"
    check = CHECKS["runtime.network_policy"]
    with socket.create_server(("127.0.0.1", 0)) as home:
        calls = APP + CALLS_HOME.replace("PORT", str(home.getsockname()[1]))
        for app, status in ((APP, "pass"), (calls, "fail")):
            root = package(outside_tmp / status, manifest=quiet, app=app)
            subject = Subject(Target.named(str(root)), POLICY)
            CHECKS["static.manifest"].look(subject)
            assert check.applies(subject) is None
            try:
                subject.start()
                finding = check.look(subject)
            finally:
                subject.close()
            assert finding.status == status, finding
    assert "without a network" in finding.evidence[0]


def test_an_allow_list_is_not_measured(tmp_path: Path) -> None:
    listed = MANIFEST + "  network: {mode: allowlist, allowed_hosts: [example.org]}\n"
    subject = Subject(Target.named(str(package(tmp_path, manifest=listed))), POLICY)
    CHECKS["static.manifest"].look(subject)
    finding = CHECKS["runtime.network_policy"].look(subject)
    assert finding.status == "skip"
    assert "which hosts are reached is not measured" in finding.evidence[0]


def test_tools_that_are_not_as_declared_are_told(tmp_path: Path) -> None:
    declared = MANIFEST.replace("reward_channel", "reward_channel\n    declared_tools: [fly, dig]")
    subject = Subject(Target.named(str(package(tmp_path, manifest=declared))), POLICY)
    CHECKS["static.manifest"].look(subject)
    check = CHECKS["runtime.tool_declaration_accuracy"]
    assert check.applies(subject) is None
    app = FastAPI()
    tools = [{"name": "dig"}, {"name": "swim"}]
    app.post("/mcp")(lambda: {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}})
    with servers.serving_app(app) as url:
        subject.site = Site(url)
        finding = check.look(subject)
        assert finding.status == "fail"
        assert finding.evidence == (
            "fly is declared, and not offered",
            "swim is offered, and not declared",
        )
        tools[1]["name"] = "fly"
        assert check.look(subject).status == "pass"


def test_a_server_that_is_not_there_is_told() -> None:
    subject = Subject(Target.at_url("http://127.0.0.1:9"), POLICY)
    finding = CHECKS["runtime.startup"].look(subject)
    assert finding.status == "fail"
    assert "http://127.0.0.1:9: no answer" in finding.evidence[0]
