"""Which attacks each kind of confinement stops, on this machine."""

import os
import sys
from pathlib import Path

import pytest

from openenv.runtime.confine import FEATURES
from tests.sandbox.attacks import ATTACKS
from tests.sandbox.escapes import COLUMNS, Result, try_all

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's"),
    pytest.mark.skipif(
        sys.platform == "linux" and os.getuid() != 0, reason="becoming other users takes root"
    ),
    pytest.mark.timeout(180),
]

ROOT = Path(__file__).parents[2]
CONTROL_GROUPS = frozenset({"cgroup_memory", "cgroup_pids", "cgroup_cpu"})

GETS_THROUGH = {
    "root": frozenset(),
    "root-without": frozenset({"fill the disk"}),
    "user": frozenset({"allocate too much in many processes"}),
    "user-without": frozenset({"allocate too much in many processes", "fill the disk"}),
}
"""What is not stopped. What the columns that are not here let through, depends on the machine."""


def tried(name: str) -> Result:
    """A column's result; skips the test where the machine has less than the column says."""
    result = try_all(name)
    column = COLUMNS[name]
    switched_off = set(FEATURES if column.missing is None else column.missing)
    only_roots = CONTROL_GROUPS if column.user != 0 else set()
    lacking = result.missing - switched_off - only_roots
    if lacking:
        message = f"not possible on this machine: {', '.join(sorted(lacking))}"
        if os.environ.get("OPENENV_REQUIRE_SANDBOX"):
            pytest.fail(message)
        pytest.skip(message)
    return result


@pytest.mark.parametrize("name", GETS_THROUGH)
def test_a_confined_session_does_no_more_than_the_table_says(name: str) -> None:
    assert tried(name).breaches == GETS_THROUGH[name]


def test_a_process_alone_ends_with_its_session_and_cannot_read_its_server() -> None:
    stopped = {
        "outlive the session (setsid, double fork)",
        "read the server's memory",
        "read the server's variables",
        "trace the server (ptrace)",
        "use a descriptor of the server",
    }
    assert not stopped & tried("user-process").breaches


def test_every_attack_is_one() -> None:
    """Each gets through somewhere: an attack that always fails would prove nothing."""
    assert tried("root-process").breaches | tried("none").breaches == set(ATTACKS)


def test_the_page_on_security_has_the_table() -> None:
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    table = rows[next(i for i, row in enumerate(rows) if row[0] == "attack") :]
    titles, attacks = table[0], table[1:]
    assert [row[0] for row in attacks if row[0] != "---"] == list(ATTACKS)
    for name, through in GETS_THROUGH.items():
        place = titles.index(COLUMNS[name].title)
        assert {row[0] for row in attacks if row[place] == "**through**"} == through
