"""The page of an evaluation, in a browser."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from tests.evals.test_report import page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_is_as_light_as_its_reader_likes_it(
    browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    (tmp_path / "report.html").write_text(page(), encoding="utf-8")
    shown = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    try:
        shown.goto((tmp_path / "report.html").as_uri())
        assert shown.evaluate("document.documentElement.scrollWidth") == 390
        colour = shown.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, colour[4:-1].split(","))) > 384) == (scheme == "light")
    finally:
        shown.close()
