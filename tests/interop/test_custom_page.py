"""A page of an author's own gets the same of both packages."""

import json
import subprocess
from typing import Any

import pytest

from tests.interop.serving import OURS, ROOT, environment, told_by_peer

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]
SCRIPT = "tests.interop.custom_page"


@pytest.fixture(scope="module")
def theirs(peer: None) -> dict[str, Any]:
    return told_by_peer(SCRIPT)


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    done = subprocess.run(
        [OURS, "-m", SCRIPT],
        cwd=ROOT,
        env=environment(OURS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize(
    "what", ["fields", "name", "chat", "titles", "start", "limit", "clients", "played"]
)
def test_what_a_builder_gets(what: str, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert ours[what] == theirs[what]
