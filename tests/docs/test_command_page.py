"""docs/cli.md names every command, every option and every exit code, and nothing else."""

import re

import pytest

from openenv.cli.output import Exit
from tests.docs.command_page import PAGE, commands, shown, table


def test_every_command_has_its_table() -> None:
    assert shown().keys() == commands().keys()


@pytest.mark.parametrize("name", commands())
def test_the_options_are_those_of_the_command(name: str) -> None:
    anew = "docs/cli.md is out of date; `python -m tests.docs.command_page` writes its tables anew"
    assert shown().get(name) == table(commands()[name]), anew


def test_every_exit_code_is_explained() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.M))
    assert {int(code) for code in rows} == {code.value for code in Exit}
