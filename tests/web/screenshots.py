"""Takes the pictures of the page that README and docs show: ``python -m tests.web.screenshots``.

Real episodes on real servers, at three widths in both themes, as small files in docs/img.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.web.chromium import CHROMIUM, FLAGS
from tests.web.places import served_page
from tests.web.visitor import Visitor

IMAGES = Path(__file__).parents[2] / "docs/img"
WIDTHS = {1280: 860, 768: 1024, 360: 780}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
COLOURS = 128
Scene = Callable[[Visitor], None]


def blackjack(visitor: Visitor) -> None:
    """A few hands of BlackJack."""
    for seed in range(6):
        visitor.reset(Seed=seed)
        if seed % 2:
            visitor.press("hit")
        if visitor.may("stand"):
            visitor.press("stand")


def coding(visitor: Visitor) -> None:
    """A function with a fault."""
    visitor.reset(Seed=1)
    visitor.step(Code="def mean(xs):\n    return sum(xs) / len(xs)\n\nprint(mean([1, 2, 3]))")
    visitor.step(Code="print(mean([]))")
    visitor.sees("ZeroDivisionError")


def game_2048(visitor: Visitor) -> None:
    """A while of 2048: into a corner."""
    visitor.reset(Seed=1)
    for _ in range(40):
        visitor.press(next(move for move in ("left", "down", "right", "up") if visitor.may(move)))


def scenes() -> dict[str, tuple[Any, Scene]]:
    """What is shown: name, environment, what is played."""
    from blackjack_env.server import BlackJackEnvironment
    from coding_env.server.coding_environment import PythonCodeActEnv
    from game_2048_env.server.game_2048_environment import Game2048Environment

    return {
        "2048": (Game2048Environment, game_2048),
        "BlackJack": (BlackJackEnvironment, blackjack),
        "Coding": (PythonCodeActEnv, coding),
    }


def take(browser: Browser, name: str, environment: Any, play: Scene) -> None:
    """Plays an episode at each size, in each theme, and takes its picture."""
    with served_page(environment, env_name=name) as address:
        for width, height in WIDTHS.items():
            for theme in THEMES:
                context = browser.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme=theme,
                    reduced_motion="reduce",
                )
                visitor = Visitor(context, address).arrive()
                play(visitor)
                visitor.page.evaluate("scrollTo(0, 0)")
                visitor.page.wait_for_timeout(300)
                save(visitor.page.screenshot(), IMAGES / f"web-{name.lower()}-{width}-{theme}.png")
                context.close()


def save(picture: bytes, path: Path) -> None:
    """Writes a picture with few colours, as small as it gets."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Takes all pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, (environment, play) in scenes().items():
            take(browser, name, environment, play)
        browser.close()


if __name__ == "__main__":
    main()
