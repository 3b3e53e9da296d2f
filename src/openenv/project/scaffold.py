"""`openenv init`: the files of a new environment, made whole or not at all."""

from __future__ import annotations

import os
import re
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from openenv._version import __version__
from openenv.project import requirements
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.names import EnvName

_TEMPLATES = Path(__file__).with_name("templates")
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_EMOJI = ("🎯", "🧩", "🎲", "🧪", "🗺️", "🤖", "🪁", "🧭")
_COLORS = ("blue", "green", "indigo", "pink", "purple", "red", "yellow")


@dataclass(frozen=True)
class Story:
    """What a package's files say of its environment.

    Attributes:
        action: the name of its action's class.
        observation: of its observation's.
        state: of its state's.
        environment: of its own.
        client: of its client's.
        about: a line for people.
        steps: what the README's example does inside its `with` block.
        reward_range: the lowest and the highest reward of a step.
        own_state: the state's class is among the package's models.
        calls_tools: its actions are calls of its tools.
    """

    action: str
    observation: str
    state: str
    environment: str
    client: str
    about: str
    steps: str
    reward_range: tuple[float, float]
    own_state: bool = False
    calls_tools: bool = False

    def values(self) -> dict[str, str]:
        """What stands for each placeholder."""
        types = {self.action, self.observation, *([self.state] if self.own_state else [])}
        base = "MCPToolClient" if self.calls_tools else "EnvClient"
        needs = {base} if self.own_state else {base, self.state}
        return {
            "Action": self.action,
            "Observation": self.observation,
            "State": self.state,
            "Environment": self.environment,
            "Client": self.client,
            "Types": ", ".join(sorted(types)),
            "exports": ", ".join(f'"{name}"' for name in sorted({self.client, *types})),
            "ClientBase": base,
            "example_needs": self.client if self.calls_tools else f"{self.action}, {self.client}",
            "client_needs": ", ".join(sorted(needs)),
            "about": self.about,
            "steps": self.steps,
            "reward_range": str(list(self.reward_range)),
        }


def echo(name: EnvName) -> Story:
    """The environment that a new package begins with."""
    return Story(
        action=f"{name.prefix}Action",
        observation=f"{name.prefix}Observation",
        state="State",
        environment=f"{name.prefix}Environment",
        client=f"{name.prefix}Env",
        about="An environment that echoes what it is told.",
        steps="    result = env.reset()\n"
        "    print(result.observation.echoed_message)\n\n"
        f'    result = env.step({name.prefix}Action(message="Hello, World!"))\n'
        "    print(result.observation.echoed_message, result.reward)",
        reward_range=(0.0, 1.0),
    )


def create(name: EnvName, parent: Path, *, minimal: bool = False) -> Path:
    """Makes a new environment.

    Args:
        name: its name.
        parent: the folder that it is made in; made too if need be.
        minimal: one file instead of a package.

    Returns:
        The package's folder, or the file.

    Raises:
        UsageProblem: something of that name is there already.
        ProjectError: the files could not be written; nothing is left of them.
    """
    values = _spellings(name) | echo(name).values()
    if minimal:
        [(file, content)] = _rendered("minimal", values).items()
        return write_new(parent / file, content)
    files = package(name, echo(name)) | _rendered("echo", values)
    return write_new(parent / name.module, files)


def package(name: EnvName, story: Story, dependencies: Sequence[str] = ()) -> dict[str, str]:
    """What surrounds an environment and its models in a package, by the files' paths.

    Args:
        name: the environment's name.
        story: what the files say of it.
        dependencies: what it needs beside OpenEnv, as PEP 508 writes it.
    """
    needed = (own_requirement(), *dependencies)
    values = _spellings(name) | story.values()
    values["dependencies"] = ", ".join(f'"{dependency}"' for dependency in needed)
    return _rendered("package", values) | {requirements.PATH: requirements.text_of(needed)}


def ejected_test(name: EnvName, story: Story) -> dict[str, str]:
    """The test of an environment that nothing is known of but its types."""
    kind = "ejected_tools" if story.calls_tools else "ejected"
    return _rendered(kind, _spellings(name) | story.values())


def own_requirement() -> str:
    """This version of OpenEnv, or a later one, as PEP 508 writes it."""
    major, minor, *_ = __version__.split(".")
    return f"openenv-core>={major}.{minor}"


def _spellings(name: EnvName) -> dict[str, str]:
    dice = zlib.crc32(name.module.encode())  # the same card whenever it is made
    return {
        "name": name.module,
        "title": name.title,
        "distribution": name.distribution,
        "image": name.image,
        "emoji": _EMOJI[dice % len(_EMOJI)],
        "color_from": _COLORS[dice // 8 % len(_COLORS)],
        "color_to": _COLORS[dice // 64 % len(_COLORS)],
    }


def _rendered(kind: str, values: Mapping[str, str]) -> dict[str, str]:
    """A folder of templates by their paths, with values in the place of their placeholders.

    A hidden file's template has a name that begins with `dot-`, lest packers skip it.
    """
    files = {}
    for template in sorted((_TEMPLATES / kind).rglob("*.tmpl")):
        path = template.relative_to(_TEMPLATES / kind).as_posix().removesuffix(".tmpl")
        path = re.sub(r"(^|/)dot-", r"\1.", path).replace("NAME", values["name"])
        text = template.read_text(encoding="utf-8")
        files[path] = _PLACEHOLDER.sub(lambda found: values[found[1]], text)
    return files


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


def files_of(made: Path) -> list[str]:
    """The paths of all that was made, seen from where it was made."""
    within = (
        [made] if made.is_file() else sorted(path for path in made.rglob("*") if path.is_file())
    )
    return [path.relative_to(made.parent).as_posix() for path in within]


def write_new(target: Path, content: str | Mapping[str, str]) -> Path:
    """Writes a file, or a folder of files by their paths, that appears when it is complete.

    Raises:
        UsageProblem: there is something at that place, other than an empty folder.
        ProjectError: it could not be written.
    """
    if target.is_symlink() or target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise UsageProblem(
            f"{target} is there already and stays as it is; choose another name, or another place "
            "with --output-dir"
        )
    made = [place for place in (target.parent, *target.parent.parents) if not place.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _appear(target, content)
    except BaseException as error:
        for folder in made:
            with suppress(OSError):  # it holds what somebody else has put there meanwhile
                folder.rmdir()
        if isinstance(error, OSError):
            raise ProjectError(
                f"{target} cannot be written: {error.strerror}; choose another place with "
                "--output-dir"
            ) from error
        raise
    return target


def _appear(target: Path, content: str | Mapping[str, str]) -> None:
    """Writes beside the target first, so that a failure or Ctrl-C leaves nothing half-made."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as beside:
        draft = Path(beside) / target.name
        for path, text in ({"": content} if isinstance(content, str) else content).items():
            file = draft / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())  # bytes: no system turns its line ends into others
        if target.is_dir():
            target.rmdir()  # it is empty; not every system renames onto a folder
        os.rename(draft, target)
