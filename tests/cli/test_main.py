"""The command line as a whole: its exit codes, and what it costs to ask it for help."""

import io
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openenv.cli import __main__ as command_line
from openenv.cli.output import answer, step

OPENENV = [sys.executable, "-m", "openenv.cli"]


def run_main(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int | str | None:
    """The exit code of `main` when its app raises."""

    def fail() -> None:
        raise error

    monkeypatch.setattr(command_line, "app", fail)
    with pytest.raises(SystemExit) as exit_:
        command_line.main()
    return exit_.value.code


def test_no_arguments_ask_for_help() -> None:
    result = CliRunner().invoke(command_line.app, [])
    assert result.exit_code == 2
    assert "serve" in result.output


def test_version() -> None:
    result = CliRunner().invoke(command_line.app, ["--version"])
    assert result.exit_code == 0
    assert result.output == f"openenv {version('openenv-core')}\n"


@pytest.mark.parametrize("command", [[], ["serve"], ["deploy", "k8s"]])
def test_h_is_short_for_help(command: list[str]) -> None:
    result = CliRunner().invoke(command_line.app, [*command, "-h"])
    assert (result.exit_code, "Usage: " in result.output) == (0, True)


def test_what_is_not_there_is_not_said_to_be_built(tmp_path: Path) -> None:
    result = CliRunner().invoke(command_line.app, ["build", str(tmp_path / "nothere")])
    assert "there is no such file" in str(result.exception)
    assert result.output == ""


@pytest.mark.parametrize(
    "arguments", [["fly"], ["--fly"], ["serve", "--port", "many"], ["serve", "--max-sessions", "0"]]
)
def test_usage_problems_exit_with_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(command_line.app, arguments).exit_code == 2


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_main(monkeypatch, KeyboardInterrupt()) == 130


def test_an_error_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(monkeypatch, ValueError("the port is taken")) == 1
    assert capsys.readouterr().err == "Error: the port is taken\n"


def test_an_error_without_words_is_told_by_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(monkeypatch, NotImplementedError()) == 1
    assert capsys.readouterr().err == "Error: NotImplementedError\n"


class Terminal(io.TextIOWrapper):
    """A terminal that knows few characters."""

    def __init__(self) -> None:
        self.shown = io.BytesIO()
        super().__init__(self.shown, encoding="ascii", write_through=True)

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("title", ["validating http://[fe80::1]:8000", "building [/x]"])
def test_a_terminal_shows_a_step_as_it_is_called(
    monkeypatch: pytest.MonkeyPatch, title: str
) -> None:
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    with step(title):
        pass
    shown = terminal.shown.getvalue().decode()
    assert shown.count(title) > 1, shown  # under way, and done
    assert "\\u" not in shown, shown


def test_a_stranger_s_words_do_not_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer(None, False, ["name\tworld", "\x1b[2J\x9b2J gone\r\x07"])
    assert capsys.readouterr().out == "name\tworld\n?[2J?2J gone??\n"


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs the CPU time of one child")
def test_help_is_cheap() -> None:
    assert min(_cpu_seconds([*OPENENV, "--help"]) for _ in range(3)) <= 0.4


def _cpu_seconds(command: list[str]) -> float:
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return usage.ru_utime + usage.ru_stime
