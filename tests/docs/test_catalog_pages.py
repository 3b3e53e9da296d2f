"""docs/environments has every environment, and the figures that were measured.

What its pages say of each is tested with that environment, where its engine is installed.
"""

import re

from tests.docs.blocks import ROOT
from tests.docs.catalog_pages import INDEX, PAGES, figures

ENVIRONMENTS = {path.parent.name for path in ROOT.glob("envs/*/openenv.yaml")}
ANEW = "docs/environments is out of date; `make catalog` writes it anew"


def test_every_environment_has_its_page_and_its_line() -> None:
    expected = {name.removesuffix("_env") for name in ENVIRONMENTS}
    listed = re.findall(r"^\| \[(\w+)\]\(\1\.md\) \|", INDEX.read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(expected), ANEW
    assert {page.stem for page in PAGES.glob("*.md")} == expected | {"README"}, ANEW


def test_the_figures_are_those_that_were_measured() -> None:
    assert figures() in INDEX.read_text("utf-8"), ANEW
