"""The command line inside the test's own process."""

from typer.testing import CliRunner

from openenv.cli.__main__ import app


def invoke(*arguments: str) -> tuple[int, str]:
    """The exit code of a command that asks nobody, and what it says."""
    result = CliRunner().invoke(app, arguments)
    error = result.exception
    if error is None or isinstance(error, SystemExit):
        return result.exit_code, result.output
    return getattr(error, "exit_code", 1), f"{result.output}{error}"
