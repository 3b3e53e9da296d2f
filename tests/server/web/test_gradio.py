"""Gradio pages of an author's own, at `/web/custom/`."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from typing import Any

import httpx
import pytest
from playwright.sync_api import FrameLocator, expect, sync_playwright

from openenv.core.env_server.gradio_ui import get_gradio_display_title
from openenv.env.metadata import EnvironmentMetadata
from openenv.protocol.errors import ConfigurationError
from openenv.server.app import create_app
from tests.interop.serving import OURS, served
from tests.server.web.gradio_app import TOKEN
from tests.server.worlds import Do, Saw, World
from tests.web.chromium import CHROMIUM, FLAGS
from tests.web.conftest import REQUIRED

pytestmark = [pytest.mark.timeout(180), pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def address() -> Iterator[Any]:
    """Starts the server of an application when a test first wants it."""
    with ExitStack() as servers:
        known: dict[str, str] = {}

        def start(name: str) -> str:
            if name not in known:
                target = f"tests.server.web.gradio_app:{name}"
                options = ("--factory", "--port", "PORT", "--log-level", "warning")
                known[name] = servers.enter_context(served(OURS, "-m", "uvicorn", target, *options))
            return known[name]

        yield start


PATIENCE_MS = 60_000
HEARD_MS = 5_000
SHOWN = {"Authorization": f"Bearer {TOKEN}"}


def page(url: str) -> Any:
    """Gradio's own client, which has no types."""
    client: Any = import_module("gradio_client")
    return client.Client(f"{url}/web/custom/", verbose=False, headers=SHOWN)


def test_our_page_plays_the_shared_episode(address: Any) -> None:
    url = address("ours")
    client = page(url)
    said, seen, logs, state = client.predict('{"episode_id": "e1"}', api_name="/reset")
    assert (said, seen["text"], logs, state["episode_id"]) == ("Step 0", "ready", [], "e1")
    said, seen, logs, state = client.predict("say", "hi", 0, api_name="/step")
    assert (said, seen["text"]) == ("Step 1 · reward 1.0", "hi")
    assert [log["action"]["text"] for log in logs] == ["hi"]
    assert state == {"episode_id": "e1", "step_count": 1, "last": "hi"}
    assert httpx.get(f"{url}/web/state").json() == state
    assert httpx.get(f"{url}/health").json()["active_sessions"] == 1


def test_what_goes_wrong_is_shown(address: Any) -> None:
    client = page(address("ours"))
    client.predict("", api_name="/reset")
    assert "VALIDATION_ERROR" in client.predict("say", "", -1, api_name="/step")[0]
    assert "no such thing" in client.predict("raise", "", 0, api_name="/step")[0]
    assert "this is no JSON" in client.predict("{bad", api_name="/reset")[0]
    assert client.predict("say", "it lives", 0, api_name="/step")[1]["text"] == "it lives"


def test_a_page_has_the_environment_in_hand(address: Any) -> None:
    client = page(address("custom"))
    assert client.predict("hello", api_name="/play") == "hello 1"
    assert client.predict("hello", api_name="/play_blocking") == "1.0"


def test_what_the_builder_and_our_page_are_told(address: Any) -> None:
    url = address("custom")
    shown = httpx.get(f"{url}/web/custom/", headers=SHOWN).text
    assert "A world by hand" in shown
    assert "A world by hand World 3 False" in shown
    assert "GenericEnvClient" in shown
    assert httpx.get(f"{url}/web/config.json").json()["custom"] == {
        "name": "By hand",
        "path": "custom/",
        "primary": True,
        "only": True,
    }


def test_it_is_for_those_who_may_control_episodes(address: Any) -> None:
    assert httpx.get(f"{address('custom')}/web/custom/").status_code == 401


def test_it_may_take_files(address: Any) -> None:
    url = f"{address('ours')}/web/custom/gradio_api/upload"
    answer = httpx.post(url, files={"files": ("note.txt", b"hello")}, timeout=60)
    assert answer.status_code == 200
    assert answer.json()[0].endswith("note.txt")
    foreign = httpx.post(url, files={"files": b"x"}, headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403


def press_until_heard(page: FrameLocator, name: str, told: str) -> None:
    """Presses a button until it answers: Gradio shows its buttons before it listens to them."""
    for _ in range(PATIENCE_MS // HEARD_MS):
        page.get_by_role("button", name=name).click()
        try:
            return expect(page.get_by_text(told)).to_be_visible(timeout=HEARD_MS)
        except AssertionError:
            continue
    raise AssertionError(f"{name} was pressed again and again, and {told!r} is not to be seen")


@pytest.mark.skipif(
    not (CHROMIUM.exists() or REQUIRED), reason=f"NOT TESTED: there is no Chromium at {CHROMIUM}"
)
def test_in_a_browser_beside_the_built_in_page(address: Any) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        window = browser.new_page()
        window.set_default_timeout(PATIENCE_MS)
        window.goto(f"{address('ours')}/web/")
        window.get_by_role("tab", name="Custom").click()
        page = window.frame_locator("iframe[title=Custom]")
        press_until_heard(page, "Reset", "Step 0")
        page.get_by_label("text").fill("hello there")
        page.get_by_role("button", name="Step").click()
        expect(page.get_by_text("Step 1 · reward 1.0")).to_be_visible(timeout=PATIENCE_MS)
        browser.close()


def test_a_builder_must_give_a_page() -> None:
    with pytest.raises(TypeError, match=r"gradio.Blocks, got int.*return demo"):
        create_app(World, Do, Saw, gradio_builder=lambda *_: 3, web=True)


def test_without_gradio_a_builder_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gradio", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'openenv-core\[gradio\]'"):
        create_app(World, Do, Saw, gradio_builder=lambda *_: None, web=True)
    create_app(World, Do, Saw, web=True)
    create_app(World, Do, Saw, gradio_builder=lambda *_: None, web=False)


def test_titles() -> None:
    card = EnvironmentMetadata(name="world", description="")
    assert get_gradio_display_title(card) == "OpenEnv Agentic Environment: world"
    assert get_gradio_display_title(None, "fallback") == "fallback"
