"""What an environment may be called, and the names that follow from it."""

from __future__ import annotations

import keyword
import re
import sys
import unicodedata
from dataclasses import dataclass

from openenv.project.errors import UsageProblem

_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9_]*[A-Za-z0-9])?")
_OURS = frozenset({"envs", "openenv", "openenv_core"})
_NEEDED = frozenset(
    {
        *("annotated_types", "anyio", "async_timeout", "click", "fastapi", "gymnasium", "h11"),
        *("huggingface_hub", "jsonschema", "kubernetes", "msgspec", "numpy", "pip", "pydantic"),
        *("pydantic_core", "pytest", "rich", "setuptools", "starlette", "test", "tomli", "typer"),
        *("typing_extensions", "uv", "uvicorn", "uvloop", "websockets", "wheel", "yaml"),
    }
)
"""What OpenEnv imports, and what installs and tests a package; and `test`, which is Python's."""
_INNER = frozenset({"client", "models", "outputs", "server", "tests"})
"""Modules of the layout itself: beside them a package of that name could not be found."""
_LONGEST = 64


@dataclass(frozen=True)
class EnvName:
    """An environment's name, `my_game_env`, in all its spellings.

    Attributes:
        module: the package's name.
    """

    module: str

    @property
    def stem(self) -> str:
        """Without what every environment's name ends with: `my_game`."""
        return self.module.removesuffix("_env") or self.module

    @property
    def prefix(self) -> str:
        """What its classes' names begin with: `MyGame`."""
        return "".join(word[:1].upper() + word[1:] for word in self.stem.split("_"))

    @property
    def title(self) -> str:
        """For people: `My Game Env`."""
        return " ".join(word[:1].upper() + word[1:] for word in self.module.split("_") if word)

    @property
    def distribution(self) -> str:
        """What `pip` calls it: `openenv-my-game-env`."""
        return "openenv-" + re.sub(r"_+", "-", self.module).lower()

    @property
    def image(self) -> str:
        """What its container image is called: `openenv-my-game`."""
        return "openenv-" + re.sub(r"_+", "-", self.stem).strip("-").lower()


def named(text: str) -> EnvName:
    """The name that a user has chosen.

    Raises:
        UsageProblem: a package cannot be called that; the text suggests another name.
    """
    if problem := _problem(text):
        suggestion = _suggestion(text)
        raise UsageProblem(f"an environment cannot be called {text!r}: {problem}; try {suggestion}")
    return EnvName(text)


def _problem(text: str) -> str | None:
    """The first reason why a package cannot be called that."""
    reasons = {
        "that is a path; say where with --output-dir": "/" in text or "\\" in text,
        "the name of a Python package has letters from a to z, digits and _, a letter first and "
        "no _ at its end": not _NAME.fullmatch(text),
        f"it is longer than {_LONGEST} characters": len(text) > _LONGEST,
        "it is a word of Python's own": keyword.iskeyword(text),
        "it would hide the module of that name": text in sys.stdlib_module_names | _OURS | _NEEDED,
        "a module inside the package has that name": text in _INNER,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _suggestion(text: str) -> str:
    """The nearest name that would do."""
    plain = unicodedata.normalize(
        "NFKD", re.split(r"[/\\]", text.rstrip("/\\"))[-1].removesuffix(".py")
    )
    word = re.sub(r"[^A-Za-z0-9]+", "_", plain.encode("ascii", "ignore").decode()).strip("_")
    word = word[: _LONGEST - 8].rstrip("_")
    if not word[:1].isalpha():
        word = f"env_{word}".rstrip("_") if word else "my_env"
    return f"{word}_env" if _problem(word) else word
