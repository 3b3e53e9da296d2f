"""What the pages say of checks and promises is what the code says."""

import re

from openenv.testing.contract import EPISODE, PROMISES
from openenv.validation.registry import own_checks
from tests.docs.blocks import ROOT


def test_every_check_is_explained_as_the_code_explains_it() -> None:
    page = (ROOT / "docs/validate.md").read_text(encoding="utf-8")
    table = page.partition("<!-- checks -->\n")[2].partition("<!-- end -->")[0]
    rows = [f"| `{check.id}` | {check.meaning} | {check.mend} |" for check in own_checks()]
    assert table.splitlines()[2:] == rows


def test_every_promise_is_named_where_check_environment_is_explained() -> None:
    page = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
    table = page.partition("| promise | what holds |")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row[:70])}
    assert {EPISODE.id, *(promise.id for promise in PROMISES)} <= named
