"""A real browser, and people at the pages of real servers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.web.chromium import CHROMIUM, FLAGS
from tests.web.visitor import Visitor

REQUIRED = os.environ.get("OPENENV_REQUIRE_BROWSER") == "1"
"""Whether a machine without Chromium fails the tests instead of skipping them."""
Visit = Callable[..., Visitor]
TIME_S = 240
"""Of a test: a browser on a small machine is slow."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives the tests here more time than others."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.timeout(TIME_S))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium. It ends with the file: Playwright's event loop must not meet those of others."""
    if not CHROMIUM.exists() and not REQUIRED:
        pytest.skip(f"NOT TESTED: the page, as there is no Chromium at {CHROMIUM}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Lets somebody visit a page; whatever the browser complains of fails the test."""
    with ExitStack() as contexts:
        visitors: list[Visitor] = []

        def visit(address: str, *, arrive: bool = True, **options: Any) -> Visitor:
            context = browser.new_context(**options)
            contexts.callback(context.close)
            visitor = Visitor(context, address)
            visitors.append(visitor)
            return visitor.arrive() if arrive else visitor

        yield visit
        complaints = [visitor.complaints for visitor in visitors if visitor.complaints]
    assert not complaints
