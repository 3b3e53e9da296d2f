"""Visitor: somebody at the page, who sees roles and labels, and what the browser complains of."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    FrameLocator,
    Locator,
    Page,
    WebSocketRoute,
    expect,
)
from playwright.sync_api import Error as PlaywrightError

PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)
SOCKET_FAILED = r"WebSocket connection to .* failed"
LOAD_FAILED = r"Failed to load resource"


class Visitor:
    """One browser window of its own: nothing is shared with other visitors.

    Args:
        context: the window's profile.
        address: the page's.

    Attributes:
        page: what Playwright knows of it.
        troubles: what the browser complained of: errors of scripts, violations of the policy.
    """

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.address = address
        self.troubles: list[str] = []
        self._tolerated: list[str] = []
        self._place: Page | FrameLocator
        context.set_default_timeout(PATIENCE_MS)
        self.page: Page = context.new_page()
        self._place = self.page
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.troubles.append(f"page error: {error}"))

    def arrive(self) -> Visitor:
        """Opens the page and waits until it can be used."""
        self.page.goto(self.address)
        expect(self.reset_button).to_be_enabled()
        return self

    def tolerates(self, *patterns: str) -> None:
        """What the browser may complain of in this test."""
        self._tolerated += patterns

    @property
    def complaints(self) -> list[str]:
        """What went wrong that nobody expected."""
        return [
            trouble
            for trouble in self.troubles
            if not any(re.search(pattern, trouble) for pattern in self._tolerated)
        ]

    @property
    def actions(self) -> Locator:
        """The left pane."""
        return self._place.get_by_role("region", name=re.compile("^(Actions|More actions)$"))

    @property
    def observation(self) -> Locator:
        """The right pane."""
        return self._place.get_by_role("region", name="Observation")

    @property
    def history(self) -> Locator:
        """The pane below."""
        return self._place.get_by_role("region", name="History")

    @property
    def status(self) -> Locator:
        """How it stands with the server."""
        return self._place.get_by_role("banner").get_by_role("status")

    @property
    def reset_button(self) -> Locator:
        """What begins an episode."""
        return self.actions.get_by_role("button", name="Reset", exact=True)

    @property
    def step_button(self) -> Locator:
        """What takes the action in the form."""
        return self.actions.get_by_role("button", name="Step", exact=True)

    @property
    def entries(self) -> Locator:
        """What the history shows."""
        return self.history.get_by_role("option").filter(has_text=" ms")

    def field(self, label: str) -> Locator:
        """A field of the form."""
        labelled = self.actions.get_by_label(re.compile(rf"^{label}\b", re.IGNORECASE))
        return labelled.filter(visible=True).first

    def press(self, name: str) -> None:
        """Presses one of the environment's own buttons."""
        self._act(self._button(name))

    def call(self, tool: str) -> None:
        """Calls the tool whose form is shown."""
        self._act(self.actions.get_by_role("button", name=f"Call {tool}", exact=True))

    def may(self, name: str) -> bool:
        """Whether the environment offers that button now."""
        button = self._button(name)
        return button.count() > 0 and button.is_enabled()

    def _button(self, name: str) -> Locator:
        buttons = self.actions.get_by_role("region", name="Quick actions")
        return buttons.get_by_role("button", name=re.compile(f"^({name})", re.IGNORECASE)).first

    def open_form(self) -> None:
        """Shows the form, where something else is shown first."""
        tab = self.actions.get_by_role("tab", name="Form", exact=True)
        other = self.actions.get_by_text("Any other action", exact=True)
        expect(self.step_button.or_(tab).or_(other).first).to_be_visible()
        if not self.step_button.is_visible() and other.is_visible():
            other.click()
        if not self.step_button.is_visible():
            tab.click()

    def choose_kind(self, label: str, kind: str) -> None:
        """Chooses what a field of several kinds holds."""
        group = self.actions.get_by_role("group", name=label, exact=True).first
        group.get_by_role("combobox").first.select_option(label=kind)

    def back_to_playing(self) -> None:
        """Looks at no older entry any more."""
        self.observation.get_by_role("button", name="Back to playing").click()

    def write_json(self, text: str) -> None:
        """Writes the action as JSON."""
        self.open_form()
        editor = self.actions.get_by_role("textbox", name=re.compile("JSON"))
        if not editor.is_visible():
            self.actions.get_by_role("button", name="JSON", exact=True).click()
        editor.fill(text)

    def within(self, frame: FrameLocator) -> None:
        """The page is in a frame of another."""
        self._place = frame

    def open_tab(self, name: str) -> None:
        """Turns to another part of the page."""
        self.page.get_by_role("tab", name=name, exact=True).click()

    def sees_action(self, text: str) -> None:
        """Waits until the left pane has a text."""
        expect(self.actions.filter(has_text=text).first).to_be_visible()

    def press_links(self) -> None:
        """Presses whatever an environment made look like a link, as people do."""
        for link in self.page.get_by_text("press me", exact=True).all():
            if link.is_visible():
                link.click(no_wait_after=True)

    def show_token(self, token: str) -> None:
        """Shows a token."""
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_role("button", name="Go on").click()

    def may_cut_sockets(self) -> Callable[[], None]:
        """Puts something between the page and its server that can break the newest socket."""
        routes: list[WebSocketRoute] = []

        def on_socket(route: WebSocketRoute) -> None:
            route.connect_to_server()
            routes.append(route)

        self.page.route_web_socket(re.compile("/ws$"), on_socket)
        return lambda: routes[-1].close(code=1006)

    def duplicate(self) -> Visitor:
        """A copy of the tab, which has the same storage."""
        storage = self.page.evaluate("JSON.stringify(sessionStorage)")
        copy = Visitor(self.page.context, self.address)
        copy.page.add_init_script(
            "if (!sessionStorage.length) for (const [name, value] of "
            f"Object.entries({storage})) sessionStorage.setItem(name, value)"
        )
        return copy.arrive()

    def reset(self, **options: Any) -> None:
        """Begins an episode."""
        for label, value in options.items():
            self.fill_option(label, value)
        self._act(self.reset_button)

    def fill_option(self, label: str, value: Any) -> None:
        """Fills in one of the reset's options, and folds them up again."""
        fold = self.actions.get_by_text(re.compile("^Options")).first
        fold.click()
        self.fill(label, value)
        fold.click()

    def press_key(self, key: str) -> None:
        """Presses a key that stands for an action."""
        self._change(lambda: self.page.keyboard.press(key))

    def step(self, **fields: Any) -> None:
        """Fills in the form, and takes the step."""
        for label, value in fields.items():
            self.fill(label, value)
        self._act(self.step_button)

    def fill(self, label: str, value: Any) -> None:
        """Writes into a field of the form, or chooses."""
        field = self.field(label)
        if isinstance(value, bool):
            field.set_checked(value)
        elif field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(label=str(value))
        else:
            field.fill(str(value))

    def sees(self, text: str | re.Pattern[str]) -> None:
        """Waits until the observation, the environment's view of it or the state has a text."""
        wanted = re.compile(re.escape(text)) if isinstance(text, str) else text
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not wanted.search(seen := self._seen()):
            assert time.monotonic() < deadline, f"{wanted.pattern!r} is not seen, but: {seen}"
            self.page.wait_for_timeout(50)

    def _seen(self) -> str:
        shown = self._place.get_by_role("region", name=re.compile("^(Observation|State)$"))
        texts = [region.text_content() or "" for region in shown.all()]
        for frame in self.page.frames[1:]:
            with suppress(PlaywrightError):  # it is just being replaced
                texts.append(frame.locator("body").text_content(timeout=1000) or "")
        return " ".join(texts)

    def is_told(self, text: str | re.Pattern[str]) -> None:
        """Waits until the page says something."""
        expect(self.page.locator("body")).to_contain_text(text)

    def _act(self, button: Locator) -> None:
        """Presses a button and waits until what it did is in the history."""
        self._change(button.click)

    def _change(self, act: Callable[[], None]) -> None:
        title = self.history.locator("p").first
        before = title.inner_text()
        act()
        expect(title).not_to_have_text(before or "no entry yet")
        expect(title).not_to_be_empty()

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.troubles.append(message.text)
