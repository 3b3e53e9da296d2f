"""`openenv skills`: what a coding agent should know of this command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from openenv.cli.hub_options import AsJson
from openenv.cli.output import Exit, answer, next_steps

skills = typer.Typer(
    name="skills", help="Teach a coding agent to use openenv.", no_args_is_help=True
)

Claude = Annotated[bool, typer.Option("--claude", help="Also for Claude Code.")]
Codex = Annotated[bool, typer.Option("--codex", help="Also for Codex.")]
Cursor = Annotated[bool, typer.Option("--cursor", help="Also for Cursor.")]
Opencode = Annotated[bool, typer.Option("--opencode", help="Also for OpenCode.")]
AtHome = Annotated[
    bool, typer.Option("--global", "-g", help="In the home directory: for every project.")
]
Dest = Annotated[Path | None, typer.Option(help="Into this folder of skills, and nowhere else.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


@skills.command()
def preview(context: typer.Context) -> None:
    """Print the skill."""
    answer(None, False, [_text(context).rstrip("\n")])


@skills.command()
def add(
    context: typer.Context,
    claude: Claude = False,
    codex: Codex = False,
    cursor: Cursor = False,
    opencode: Opencode = False,
    at_home: AtHome = False,
    dest: Dest = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the skill to .agents/skills, and link the folders of the agents that are named."""
    from openenv.project.errors import UsageProblem
    from openenv.project.skills import AGENTS, install

    if dest is not None and at_home:
        raise UsageProblem("--dest and --global exclude each other; leave one out")
    chosen = dict(zip(AGENTS, (claude, codex, cursor, opencode), strict=True))
    installed = install(
        _text(context),
        agents=[agent for agent, wanted in chosen.items() if wanted],
        root=Path.home() if at_home else None,
        dest=dest,
        force=force,
    )
    places = [str(installed.path), *map(str, installed.links)]
    answer({"path": places[0], "links": places[1:]}, as_json, places)
    next_steps("start your agent here, and ask it for an environment")


def _text(context: typer.Context) -> str:
    """The skill, with the facts of the command line that runs."""
    from openenv.project.skills import render

    root = context.find_root().command
    commands = {
        name: command.get_short_help_str(200)
        for name, command in sorted(getattr(root, "commands", {}).items())
        if not command.hidden
    }
    return render(commands, {code.name.lower(): code.value for code in Exit})
