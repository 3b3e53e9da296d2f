"""The web page as people meet it: ``python -m benchmarks.web``.

Chromium loads it from a server on this machine, each time with nothing cached, until its form can
be filled in; it scrolls a history of 10,000 steps; and the server starts with and without the page,
turn by turn. Prints a table.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.measure import running
from tests.web.chromium import CHROMIUM, FLAGS

ROOT = Path(__file__).parents[1]
LOADS, STARTS, ENTRIES, SCROLL_S = 15, 5, 10_000, 3
SERVE = ["-m", "openenv.cli", "serve", str(ROOT / "envs/echo_env"), "--port", "PORT"]
INTERACTIVE = """
new MutationObserver((_, observer) => {
    const step = [...document.querySelectorAll("button")].find((it) => it.textContent === "Step");
    if (!step || step.disabled || step.ariaDisabled === "true") return;
    window.interactive = performance.now();
    observer.disconnect();
}).observe(document, { subtree: true, childList: true, attributes: true });
"""
SCROLL = """
(list, seconds) => new Promise((resolve) => {
    const frames = [];
    let before = performance.now();
    const end = before + seconds * 1000;
    let down = 1;
    list.scrollTop = 0;
    const frame = (now) => {
        frames.push(now - before);
        before = now;
        if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) down = -1;
        list.scrollTop += down * 400;
        if (now < end) requestAnimationFrame(frame); else resolve(frames.slice(1));
    };
    requestAnimationFrame(frame);
})
"""


@contextmanager
def page_of(browser: Browser) -> Iterator[Page]:
    """A page that has nothing in its cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def loads_ms(browser: Browser, address: str) -> list[float]:
    """From navigation to a form that can be filled in, in ms."""
    found = []
    for _ in range(LOADS):
        with page_of(browser) as page:
            page.add_init_script(INTERACTIVE)
            page.goto(address)
            page.get_by_role("button", name="Step", exact=True).wait_for()
            found.append(float(page.evaluate("window.interactive")))
    return found


def frames_ms(browser: Browser, address: str) -> list[float]:
    """How long each frame took while a long history was scrolled."""
    with page_of(browser) as page, tempfile.NamedTemporaryFile("w+", suffix=".jsonl") as kept:
        kept.write("\n".join(json.dumps(line) for line in history()))
        kept.flush()
        page.goto(address)
        page.locator("input[type=file]").set_input_files(kept.name)
        box = page.get_by_role("listbox", name="Entries of the history")
        box.get_by_role("option").first.wait_for()
        page.wait_for_timeout(1000)
        found: list[float] = box.evaluate(SCROLL, SCROLL_S)
        return found


def history() -> Iterator[dict[str, Any]]:
    """The lines of a saved history: a header, a reset and steps."""
    environment = {
        "address": "http://127.0.0.1/",
        "metadata": {"name": "Long", "description": ""},
        "schemas": {"action": {}, "observation": {}, "state": {}},
        "config": {"version": None, "python": None, "needs_token": False},
    }
    yield {
        "format": "openenv-history",
        "version": 1,
        "dropped": 0,
        "environment": environment,
    }
    for n in range(ENTRIES):
        yield {
            "kind": "step" if n else "reset",
            "index": n,
            "episode": 1,
            "step": n,
            "at": "2026-01-01T00:00:00Z",
            "action": {"move": n % 4, "text": f"what was done in step {n}"} if n else {},
            "observation": {"board": [n % 7] * 16, "text": f"what came of step {n}"},
            "reward": float(n % 5),
            "done": False,
            "total_reward": float(n),
            "latency_ms": 1.5,
        }


def start_cpu_s(*options: str) -> float:
    """CPU seconds that a server takes until it is healthy."""
    with running(sys.executable, [*SERVE, *options], dict(os.environ)) as server:
        return server.start_cpu_s


def main() -> None:
    """Measures and prints."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        with running(sys.executable, [*SERVE, "--web"], dict(os.environ)) as server:
            address = f"http://127.0.0.1:{server.port}/web/"
            loads = loads_ms(browser, address)
            frames = frames_ms(browser, address)
        browser.close()
    starts = [(start_cpu_s("--no-web"), start_cpu_s("--web")) for _ in range(STARTS)]
    without, with_page = (min(column) for column in zip(*starts, strict=True))
    slowest = statistics.quantiles(frames, n=100)[98]
    print(f"| what | figure | of |\n| --- | ---: | --- |\n{row('interactive', loads)}")
    print(
        f"| frames a second while scrolling | {1000 / statistics.mean(frames):.0f} | "
        f"{ENTRIES:,} entries, 99 % of the frames within {slowest:.0f} ms |"
    )
    print(f"| server start, CPU s, without the page | {without:.3f} | best of {STARTS} |")
    print(f"| with the page | {with_page:.3f} | {with_page - without:+.3f} |")


def row(what: str, ms: list[float]) -> str:
    """A line about times."""
    middle = statistics.median(ms)
    return f"| {what}, ms | {middle:.0f} | median of {len(ms)}, {min(ms):.0f} to {max(ms):.0f} |"


if __name__ == "__main__":
    main()
