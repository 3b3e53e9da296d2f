"""The `openenv` command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from openenv.cli.commands.build import build
from openenv.cli.commands.collect import collect
from openenv.cli.commands.deploy import deploy
from openenv.cli.commands.doctor import doctor
from openenv.cli.commands.eject import eject
from openenv.cli.commands.evaluate import evaluate
from openenv.cli.commands.export import export
from openenv.cli.commands.fork import fork
from openenv.cli.commands.info import info
from openenv.cli.commands.init import init
from openenv.cli.commands.list import list_environments
from openenv.cli.commands.push import push
from openenv.cli.commands.replay import replay
from openenv.cli.commands.requirements import requirements
from openenv.cli.commands.serve import serve
from openenv.cli.commands.skills import skills
from openenv.cli.commands.validate import validate
from openenv.cli.commands.web import web
from openenv.cli.output import Exit, say

# Without Rich's markup: loading it takes longer than all else that `openenv --help` does.
app = typer.Typer(
    name="openenv",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(build)
app.add_typer(deploy, name="deploy")
app.command()(init)
app.command()(eject)
app.command()(requirements)
app.command()(serve)
app.command()(web)
app.command()(validate)
app.command()(push)
app.command()(fork)
app.command()(collect)
app.command("eval")(evaluate)
app.command()(export)
app.command()(replay)
app.command("list")(list_environments)
app.command()(info)
app.command()(doctor)
app.add_typer(skills, name="skills")


def _print_version(asked: bool) -> None:
    if asked:
        from openenv import __version__

        typer.echo(f"openenv {__version__}")
        raise typer.Exit


@app.callback()
def openenv(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version."
        ),
    ] = False,
) -> None:
    """Environments for reinforcement learning: serve them, and step them from anywhere."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(Exit.USAGE)


def main() -> None:
    """Runs the command line; usage problems exit with 2, an interrupt with 130, errors with 1."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)
    except Exception as error:  # noqa: BLE001  # the last place to tell it in words
        say(f"Error: {str(error) or type(error).__name__}")
        sys.exit(getattr(error, "exit_code", Exit.FAILED))


if __name__ == "__main__":
    main()
